"""Each change of state leaves one line with ids, and never a payload, result or token."""

from datetime import datetime
from typing import Any

import structlog

from switchboard.accounts.models import Endpoint, Human
from switchboard.accounts.reach import Principal
from switchboard.todos import lifecycle
from tests.factories import make_todo


def test_each_move_logs_one_line_with_ids(endpoint: Endpoint, owner: Human, now: datetime) -> None:
    todo_id = str(make_todo(endpoint).pk)
    agent: dict[str, Any] = {"endpoint": endpoint, "todo_id": todo_id, "now": now}
    operator: dict[str, Any] = {"principal": Principal.of_human(owner), "todo_id": todo_id, "now": now}
    with structlog.testing.capture_logs() as lines:
        lifecycle.claim(**agent)
        lifecycle.heartbeat(**agent)
        lifecycle.fail(**agent)
        lifecycle.retry_todo(**operator)
        lifecycle.claim(**agent)
        lifecycle.release(**agent)
        lifecycle.claim(**agent)
        lifecycle.complete(**agent)
    assert [line["event"].removeprefix("todo.") for line in lines] == [
        "claimed",
        "extended",
        "failed",
        "retried",
        "claimed",
        "released",
        "claimed",
        "completed",
    ]
    assert {line["todo_id"] for line in lines} == {todo_id}
    assert [line["human_id"] for line in lines if "human_id" in line] == [str(owner.pk)]


def test_no_line_tells_a_title_a_result_or_a_token(endpoint: Endpoint, now: datetime) -> None:
    todo_id = str(make_todo(endpoint, title="private title").pk)
    with structlog.testing.capture_logs() as lines:
        held = lifecycle.claim(endpoint=endpoint, todo_id=todo_id, require_fence=True, now=now)
        lifecycle.complete(
            endpoint=endpoint, todo_id=todo_id, result="private result", lease_token=held.lease_token, now=now
        )
    assert len(lines) == 2
    assert "private" not in str(lines)
    assert str(held.lease_token) not in str(lines)
