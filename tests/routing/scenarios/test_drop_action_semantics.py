"""SPEC-0020, Drop Action Semantics."""

from routing import configure
from routing.history import list_events
from switchboard.accounts.models import Human
from tests.deliveries import github_event
from tests.routing.scenarios.stage import open_door, rule, save, send

NOISE = rule("noise", '.kind == "star"', drop=True)
DROPPED = {"todos": [], "created": 0, "dropped": True, "verified": True, "trust_mode": "signed"}


def test_noise_is_auditable_but_silent(owner: Human) -> None:
    door = open_door(owner)
    save(door, NOISE)
    assert send(door, github_event({"action": "created"}, event="star")) == DROPPED
    events = list_events(principal=door.principal, filters={"webhook_id": door.webhook_id, "disposition": "dropped"})
    assert [event.routing_trace for event in events] == [
        {"stage": "rule", "rule_index": 0, "rule_id": "noise", "action": {"drop": True}}
    ]
    assert door.todos == []


def test_a_dropped_delivery_stays_dropped(owner: Human) -> None:
    door = open_door(owner)
    save(door, NOISE)
    delivery = github_event({"action": "created"}, event="star")
    send(door, delivery)
    configure.remove_rule(principal=door.principal, webhook_id=door.webhook_id, rule_id="noise")
    assert send(door, delivery) == DROPPED
    assert (len(door.events), door.todos) == (1, [])
    assert send(door, github_event({"action": "created"}, event="star"))["created"] == 1
