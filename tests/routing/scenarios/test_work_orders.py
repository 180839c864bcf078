"""SPEC-0020, Work Orders."""

from routing.work_order import AUTHORITY
from switchboard.accounts.models import Human
from tests.deliveries import cairn_artifact
from tests.routing.scenarios.stage import LANE, add_worker, open_door, rule, save, send, todos_of


def test_a_worker_gets_a_handle_not_a_payload_to_interpret(owner: Human) -> None:
    door = open_door(owner, "cairn", webhook_queues=["inbox", "lane-m"])
    worker = add_worker(door, "lane-m")
    save(door, rule("cairn-lane-m", 'any(.artifact.tags[]; . == "lane:m")', queue="lane-m", **LANE))
    send(door, cairn_artifact(id="4kQ9zTbX", title="A brief", tags=["handoff", "lane:m", 7], on_behalf_of="x/1"))
    (todo,) = todos_of(worker)
    assert todo["work_order"] == {
        "version": 1,
        "lane": "lane-m",
        "source": "cairn",
        "webhook_id": door.webhook_id,
        "trust_mode": "signed",
        "verified": True,
        "authorized_by": {"stage": "rule", "rule_id": "cairn-lane-m"},
        "subject": {
            "id": "4kQ9zTbX",
            "handle": "mcp://cairn/4kQ9zTbX",
            "url": "https://cairn.example.com/4kQ9zTbX",
            "title": "A brief",
            "share_type": "markdown",
            "actor_id": "octavia@example.com",
            "on_behalf_of": "x/1",
            "tags": ["handoff", "lane:m"],
        },
        "authority": AUTHORITY,
    }
