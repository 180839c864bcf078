"""SPEC-0020, Routing Dry-Run."""

import pytest

from routing import dry_run
from routing.models import Event
from switchboard.accounts.models import Human
from switchboard.errors import NotFound
from tests.deliveries import github_issue
from tests.routing.scenarios.stage import open_door, rule, save, saved, send


def test_candidate_rules_are_tried_not_saved(owner: Human) -> None:
    door = open_door(owner, queues=["inbox", "bugs"])
    before = save(door, rule("saved", "true", queue="inbox"))
    send(door, github_issue(labels=["bug"]))
    candidate = rule("candidate", ".issue.labels[0] == $params.label", queue="bugs")
    arguments = {"event_id": str(door.events[0].pk), "rules": [candidate], "params": {"label": "bug"}}
    result = dry_run.test_rules(principal=door.principal, webhook_id=door.webhook_id, arguments=arguments)
    assert result["decision"] == {"drop": False, "queue": "bugs", "endpoints": [str(door.endpoint.pk)]}
    assert result["trace"]["rule_id"] == "candidate"
    assert result["envelope"]["issue"]["labels"] == ["bug"]
    assert saved(door)["version"] == before["version"]
    assert [each["id"] for each in saved(door)["rules"]] == ["saved"]
    assert (len(door.events), len(door.todos)) == (1, 1)


def test_another_webhooks_delivery_is_unreachable(owner: Human, stranger: Human) -> None:
    door, foreign = open_door(owner), open_door(stranger)
    send(foreign, github_issue(title="The stranger's secret"))
    event = Event.objects.get(webhook=foreign.webhook)
    refusals = []
    for event_id in (str(event.pk), "00000000-0000-7000-8000-000000000000"):
        with pytest.raises(NotFound) as refused:
            dry_run.test_rules(principal=door.principal, webhook_id=door.webhook_id, arguments={"event_id": event_id})
        refusals.append((refused.value.message, refused.value.extra))
    assert refusals[0] == refusals[1]
