"""The reaper: lapsed leases and due retries come back, spent ones are dead-lettered, and no race undoes work."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from switchboard.accounts.models import Endpoint
from switchboard.todos.lifecycle import Reaped, reap
from switchboard.todos.models import Todo
from switchboard.todos.tasks import reap as reap_task
from tests.factories import make_todo

SECOND = timedelta(seconds=1)


def lapsed(endpoint: Endpoint, at: datetime, **fields: Any) -> Todo:
    columns = {"state": "claimed", "attempt": 1, "claimed_at": at, "lease_expires_at": at, **fields}
    return make_todo(endpoint, **columns)


def test_a_lapsed_lease_returns_the_todo_with_its_attempts(endpoint: Endpoint, now: datetime) -> None:
    todo = lapsed(endpoint, now, attempt=4, lease_token_hash="ab")
    assert reap(now=now) == Reaped(requeued=1, dead_lettered=0, retried=0)
    todo.refresh_from_db()
    assert (todo.state, todo.attempt, todo.lease_expires_at, todo.lease_token_hash) == ("pending", 4, None, "")


def test_a_lapsed_last_attempt_is_dead_lettered(endpoint: Endpoint, now: datetime) -> None:
    todo = lapsed(endpoint, now, attempt=5)
    assert reap(now=now) == Reaped(requeued=0, dead_lettered=1, retried=0)
    todo.refresh_from_db()
    assert (todo.state, todo.dead_letter, todo.next_retry_at) == ("failed", True, None)
    assert (todo.finished_at, todo.finished_by) == (now, None)


def test_a_due_retry_is_pending_again(endpoint: Endpoint, now: datetime) -> None:
    todo = make_todo(endpoint, state="failed", attempt=1, next_retry_at=now)
    assert reap(now=now) == Reaped(requeued=0, dead_lettered=0, retried=1)
    todo.refresh_from_db()
    assert (todo.state, todo.attempt, todo.next_retry_at) == ("pending", 1, None)


def test_what_is_not_due_is_left_alone(endpoint: Endpoint, now: datetime) -> None:
    lapsed(endpoint, now + SECOND)
    make_todo(endpoint, state="failed", attempt=1, next_retry_at=now + SECOND)
    before = list(Todo.objects.values())
    assert reap(now=now) == Reaped(0, 0, 0)
    assert list(Todo.objects.values()) == before


@pytest.mark.parametrize("batch", [1, 2, 500])
def test_full_batches_of_dead_rows_do_not_hide_the_one_to_requeue(
    endpoint: Endpoint, now: datetime, batch: int
) -> None:
    for seconds in range(5):
        lapsed(endpoint, now - (10 - seconds) * SECOND, attempt=5)
    hidden = lapsed(endpoint, now)
    assert reap(now=now, batch=batch) == Reaped(requeued=1, dead_lettered=5, retried=0)
    hidden.refresh_from_db()
    assert hidden.state == "pending"


@pytest.mark.parametrize("attempt", [1, 5])
def test_a_todo_completed_between_the_reapers_select_and_its_update_stays_done(
    endpoint: Endpoint,
    now: datetime,
    attempt: int,
    before_update: Callable[[Callable[[], object]], Any],
) -> None:
    todo = lapsed(endpoint, now, attempt=attempt)
    others = Todo.objects.filter(pk=todo.pk)
    with before_update(lambda: others.update(state="done", lease_expires_at=None, result="kept")):
        assert reap(now=now) == Reaped(0, 0, 0)
    todo.refresh_from_db()
    assert (todo.state, todo.dead_letter, todo.result) == ("done", False, "kept")


def test_a_lease_extended_between_the_reapers_select_and_its_update_lives(
    endpoint: Endpoint, now: datetime, before_update: Callable[[Callable[[], object]], Any]
) -> None:
    todo = lapsed(endpoint, now)
    others = Todo.objects.filter(pk=todo.pk)
    with before_update(lambda: others.update(lease_expires_at=now + SECOND)):
        assert reap(now=now) == Reaped(0, 0, 0)
    todo.refresh_from_db()
    assert todo.state == "claimed"


def test_the_periodic_task_reaps(endpoint: Endpoint, now: datetime) -> None:
    todo = lapsed(endpoint, now)
    reap_task.apply()
    todo.refresh_from_db()
    assert todo.state == "pending"
