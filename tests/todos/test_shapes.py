"""What a todo looks like from outside, key by key."""

from datetime import UTC, datetime

from switchboard.accounts.models import Endpoint
from switchboard.todos.lifecycle import claim, complete
from switchboard.todos.shapes import compact_todo, full_todo
from tests.factories import make_event, make_todo

CREATED = datetime(2026, 3, 1, 11, 0, 0, 250_000, tzinfo=UTC)
ADDRESS = {"kind": "slack_thread", "channel": "C0123", "display": "slack #C0123"}


def test_a_pending_todo_is_compact(endpoint: Endpoint) -> None:
    todo = make_todo(endpoint, event=make_event(endpoint, kind=None), title="An issue", created_at=CREATED)
    assert compact_todo(todo) == {
        "id": str(todo.pk),
        "endpoint_id": str(endpoint.pk),
        "queue": "work",
        "source": "github",
        "kind": None,
        "label": "issues.opened",
        "title": "An issue",
        "state": "pending",
        "attempt": 0,
        "max_attempts": 5,
        "lease_expires_at": None,
        "next_retry_at": None,
        "dead_letter": False,
        "created_at": "2026-03-01T11:00:00.250000Z",
        "payload_size": todo.payload_size,
        "rings": 0,
        "replies": {"count": 0, "last_state": None, "last_permalink": None},
    }


def test_times_are_utc_and_end_in_z(endpoint: Endpoint, now: datetime) -> None:
    todo = claim(endpoint=endpoint, todo_id=str(make_todo(endpoint).pk), now=now).todo
    assert compact_todo(todo)["lease_expires_at"] == "2026-03-01T12:05:00Z"


def test_a_todo_with_an_address_shows_it(endpoint: Endpoint) -> None:
    assert compact_todo(make_todo(endpoint, reply_to=ADDRESS))["reply_to"] == ADDRESS


def test_the_full_todo_adds_payload_routing_and_event(endpoint: Endpoint) -> None:
    event = make_event(endpoint, payload={"number": 9007199254740993}, routing_trace={"cause": "rule"})
    todo = make_todo(endpoint, event=event)
    added = {key: value for key, value in full_todo(todo).items() if key not in compact_todo(todo)}
    assert added == {
        "event_id": str(event.pk),
        "payload": {"number": 9007199254740993},
        "routing": {"cause": "rule"},
    }


def test_the_full_todo_has_its_work_order_and_result_when_there_are_any(endpoint: Endpoint, now: datetime) -> None:
    todo_id = str(make_todo(endpoint, work_order={"version": 1}).pk)
    claim(endpoint=endpoint, todo_id=todo_id, now=now)
    done = full_todo(complete(endpoint=endpoint, todo_id=todo_id, result=0, now=now))
    assert (done["work_order"], done["result"], done["state"]) == ({"version": 1}, 0, "done")


def test_no_shape_tells_the_fence(endpoint: Endpoint, now: datetime) -> None:
    held = claim(endpoint=endpoint, todo_id=str(make_todo(endpoint).pk), require_fence=True, now=now)
    assert held.lease_token
    shown = str(full_todo(held.todo))
    assert held.lease_token not in shown
    assert held.todo.lease_token_hash not in shown
