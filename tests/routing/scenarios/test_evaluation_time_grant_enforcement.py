"""SPEC-0020, Evaluation-Time Grant Enforcement."""

from routing.routes import remove_route
from switchboard.accounts.models import Human
from tests.deliveries import github_issue
from tests.routing.scenarios.stage import add_worker, open_door, rule, save, send, todos_of, trace_of


def test_a_revoked_route_beats_a_saved_rule(owner: Human) -> None:
    door = open_door(owner)
    routed, remaining = add_worker(door, "inbox", name="b"), add_worker(door, "inbox", name="c")
    save(
        door,
        rule("only-b", "true", queue="inbox", endpoints=[str(routed.pk)]),
        rule("later", "true", drop=True),
    )
    remove_route(principal=door.principal, webhook_id=door.webhook_id, endpoint_id=str(routed.pk))
    answer = send(door, github_issue())
    assert {todo["endpoint_id"] for todo in answer["todos"]} == {str(door.endpoint.pk), str(remaining.pk)}
    assert todos_of(routed) == []
    assert trace_of(door) == {
        "stage": "default",
        "cause": "rule_not_granted",
        "rule_index": 0,
        "rule_id": "only-b",
        "action": {"queue": "inbox"},
    }
