"""SPEC-0020, Rule Validation at Save Time."""

import pytest

from routing.routes import add_route
from switchboard.accounts.models import Human
from switchboard.errors import InvalidExpression, NotGranted
from tests.deliveries import github_issue
from tests.factories import make_endpoint
from tests.routing.scenarios.stage import open_door, rule, save, saved, send, todos_of


def test_typo_in_a_rule_is_rejected_not_silently_inert(owner: Human) -> None:
    door = open_door(owner)
    before = save(door, rule("good", ".verified", queue="inbox"))
    with pytest.raises(InvalidExpression) as refused:
        save(door, rule("good", ".verified", queue="inbox"), rule("typo", ".issue.labels | idnex(1)", drop=True))
    assert refused.value.code == "invalid_expression"
    assert refused.value.extra["rule"] == {"index": 1, "id": "typo", "name": None}
    assert saved(door) == before


def test_a_rule_cannot_add_a_delivery_target(owner: Human, stranger: Human) -> None:
    door = open_door(owner)
    unrouted, foreign = make_endpoint(owner).endpoint, make_endpoint(stranger).endpoint
    for endpoint in (unrouted, foreign):
        with pytest.raises(NotGranted) as refused:
            save(door, rule("reach", "true", queue="inbox", endpoints=[str(endpoint.pk)]))
        assert refused.value.extra["rule"]["id"] == "reach"
    assert saved(door)["rules"] == []
    add_route(
        principal=door.principal, webhook_id=door.webhook_id, endpoint_id=str(unrouted.pk), acting_human=door.human
    )
    save(door, rule("reach", "true", queue="inbox", endpoints=[str(unrouted.pk)]))
    send(door, github_issue())
    assert (len(todos_of(unrouted)), len(todos_of(door.endpoint))) == (1, 0)
