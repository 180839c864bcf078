"""An operator sees every todo of the own endpoints and can retry, release, complete and fail it."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from switchboard.todos.models import Todo
from tests.api.caller import Caller
from tests.factories import make_endpoint, make_event, make_todo


def todo_of(owner: Caller, **fields: Any) -> Todo:
    return make_todo(make_endpoint(owner.human).endpoint, **fields)


def held(owner: Caller) -> Todo:
    end = timezone.now() + timedelta(hours=1)
    return todo_of(owner, state="claimed", attempt=1, lease_expires_at=end, lease_token_hash="0" * 64)


def test_one_todo_is_shown_with_its_payload_and_routing(owner: Caller) -> None:
    endpoint = make_endpoint(owner.human).endpoint
    event = make_event(endpoint, payload={"n": 9007199254740993}, routing_trace={"stage": "default"})
    shown = owner.get(f"/todos/{make_todo(endpoint, event=event).pk}")
    assert shown["payload"] == {"n": 9007199254740993}
    assert shown["routing"] == {"stage": "default"}
    assert shown["event_id"] == str(event.pk)


def test_lists_hold_compact_rows(owner: Caller) -> None:
    todo_of(owner)
    (row,) = owner.get("/todos")["todos"]
    assert "payload" not in row
    assert row["payload_size"] > 0


def test_a_failed_todo_is_retried(owner: Caller) -> None:
    todo = todo_of(owner, state="failed", dead_letter=True)
    assert owner.call("POST", f"/todos/{todo.pk}/retry").json()["state"] == "pending"


def test_a_claimed_todo_is_released_whatever_its_lease(owner: Caller) -> None:
    assert owner.call("POST", f"/todos/{held(owner).pk}/release", {}).json()["state"] == "pending"


@pytest.mark.parametrize(("verb", "state"), [("complete", "done"), ("fail", "failed")])
def test_a_claimed_todo_is_closed_with_a_result(owner: Caller, verb: str, state: str) -> None:
    todo = held(owner)
    assert owner.call("POST", f"/todos/{todo.pk}/{verb}", {"result": {"by": "hand"}}).json()["state"] == state
    assert owner.get(f"/todos/{todo.pk}")["result"] == {"by": "hand"}


@pytest.mark.parametrize("verb", ["retry", "release", "complete", "fail"])
def test_a_done_todo_stays_done(owner: Caller, verb: str) -> None:
    todo = todo_of(owner, state="done")
    response = owner.call("POST", f"/todos/{todo.pk}/{verb}")
    assert (response.status_code, response.json()["code"]) == (409, "conflict")


@pytest.mark.parametrize("query", ["state=done", "source=gitea", "kind=push", "queue=rest"])
def test_each_filter_leaves_out_what_differs(owner: Caller, query: str) -> None:
    todo_of(owner)
    assert owner.get(f"/todos?{query}")["todos"] == []


def test_todos_of_one_event_are_found(owner: Caller) -> None:
    todo = todo_of(owner)
    todo_of(owner)
    assert [row["id"] for row in owner.get(f"/todos?event_id={todo.event_id}")["todos"]] == [str(todo.pk)]
