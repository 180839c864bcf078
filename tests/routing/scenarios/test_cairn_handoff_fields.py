"""SPEC-0020, Cairn Handoff Fields."""

from routing import dry_run
from switchboard.accounts.models import Human
from tests.deliveries import cairn_artifact
from tests.routing.scenarios.stage import open_door, rule, save, send, trace_of

FIRST_LANE = '[.artifact.tags[]? | select(startswith("lane:"))][0] == "lane:m"'


def test_a_handoffs_lane_is_readable_its_authority_is_not(owner: Human) -> None:
    door = open_door(owner, "cairn", queues=["inbox", "lane-m"])
    save(door, rule("lane", FIRST_LANE, queue="lane-m"))
    tags = ["handoff", "lane:m", "verified:false", "actor_id:root@example.com"]
    assert send(door, cairn_artifact(actor="octavia@example.com", tags=tags))["queue"] == "lane-m"
    assert trace_of(door)["rule_id"] == "lane"
    arguments = {"event_id": str(door.events[0].pk)}
    result = dry_run.test_rules(principal=door.principal, webhook_id=door.webhook_id, arguments=arguments)
    envelope = result["envelope"]
    assert envelope["artifact"]["tags"] == tags
    assert (envelope["verified"], envelope["artifact"]["actor_id"]) == (True, "octavia@example.com")
