"""SPEC-0020, Isolation and Tenant Safety."""

import pytest

from routing.models import Webhook
from switchboard.accounts.models import Human
from switchboard.errors import NotGranted
from tests.deliveries import github_issue
from tests.factories import make_endpoint
from tests.routing.scenarios.stage import open_door, rule, save, send, todos_of, trace_of


def test_cross_tenant_routing_is_impossible(owner: Human, stranger: Human) -> None:
    door = open_door(owner)
    foreign = make_endpoint(stranger, queues=["inbox"]).endpoint
    reaching = {"queue": "inbox", "endpoints": [str(foreign.pk)]}
    with pytest.raises(NotGranted):
        save(door, rule("foreign", "true", **reaching))
    with pytest.raises(NotGranted):
        save(door, default=reaching)
    stored = Webhook.objects.filter(pk=door.webhook.pk)
    stored.update(routing_rules=[rule("foreign", "true", **reaching)])
    send(door, github_issue(number=17))
    assert (trace_of(door)["cause"], trace_of(door)["rule_id"]) == ("rule_not_granted", "foreign")
    stored.update(routing_rules=[], default_action=reaching)
    send(door, github_issue(number=18))
    assert trace_of(door)["cause"] == "default_not_granted"
    assert todos_of(foreign) == []
    assert [todo["queue"] for todo in todos_of(door.endpoint)] == ["inbox", "inbox"]
