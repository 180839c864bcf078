"""SPEC-0020, Routing Envelope."""

from switchboard.accounts.models import Human
from tests.deliveries import altered, cairn_artifact
from tests.routing.scenarios.stage import open_door, rule, save, send, trace_of


def test_a_forged_header_does_not_change_a_verified_cairn_kind(owner: Human) -> None:
    door = open_door(owner, "cairn", queues=["inbox", "created"])
    save(
        door,
        rule("forged", '.kind == "artifact.deleted"', drop=True),
        rule("signed", '.kind == "artifact.created"', queue="created"),
    )
    forged = altered(cairn_artifact(), headers={"X-Cairn-Event": "artifact.deleted"})
    assert send(door, forged)["queue"] == "created"
    assert trace_of(door)["rule_id"] == "signed"
    assert door.events[0].kind == "artifact.created"
