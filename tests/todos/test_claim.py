"""Claiming: the lease, the attempt, and the order in which work is handed out."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from switchboard.accounts.models import Endpoint, Human
from switchboard.errors import Conflict, Forbidden, InvalidArgument
from switchboard.todos.lifecycle import claim, claim_next, complete, fail
from switchboard.todos.models import Todo
from tests.factories import make_endpoint, make_todo

SECOND = timedelta(seconds=1)


def test_a_claim_leases_the_todo_and_counts_an_attempt(endpoint: Endpoint, now: datetime) -> None:
    todo = claim(endpoint=endpoint, todo_id=str(make_todo(endpoint).pk), now=now).todo
    assert (todo.state, todo.attempt, todo.claimed_at) == ("claimed", 1, now)
    assert todo.lease_expires_at == now + timedelta(seconds=300)


def test_the_endpoints_own_lease_is_the_default(owner: Human, now: datetime) -> None:
    endpoint = make_endpoint(owner, default_lease_seconds=60).endpoint
    todo = claim(endpoint=endpoint, todo_id=str(make_todo(endpoint).pk), now=now).todo
    assert todo.lease_expires_at == now + timedelta(seconds=60)


@pytest.mark.parametrize("seconds", [1, 86_400])
def test_a_lease_of_a_second_to_a_day_is_granted(endpoint: Endpoint, now: datetime, seconds: int) -> None:
    make_todo(endpoint)
    claimed = claim_next(endpoint=endpoint, lease_ttl_seconds=seconds, now=now)
    assert claimed
    assert claimed.todo.lease_expires_at == now + timedelta(seconds=seconds)


@pytest.mark.parametrize("seconds", [0, -1, 86_401, 10**30, True, 1.5, "60"])
def test_any_other_lease_is_refused_and_claims_nothing(endpoint: Endpoint, seconds: Any) -> None:
    todo = make_todo(endpoint)
    with pytest.raises(InvalidArgument) as refused:
        claim(endpoint=endpoint, todo_id=str(todo.pk), lease_ttl_seconds=seconds)
    with pytest.raises(InvalidArgument):
        claim_next(endpoint=endpoint, lease_ttl_seconds=seconds)
    todo.refresh_from_db()
    assert refused.value.extra == {"field": "lease_ttl_seconds"}
    assert todo.state == "pending"


def test_a_claimed_todo_is_not_claimed_again(endpoint: Endpoint, now: datetime) -> None:
    todo = make_todo(endpoint)
    claim(endpoint=endpoint, todo_id=str(todo.pk), now=now)
    with pytest.raises(Conflict, match="claim_next"):
        claim(endpoint=endpoint, todo_id=str(todo.pk), now=now + 299 * SECOND)


def test_a_lapsed_lease_may_be_claimed_and_counts_another_attempt(endpoint: Endpoint, now: datetime) -> None:
    todo = make_todo(endpoint)
    claim(endpoint=endpoint, todo_id=str(todo.pk), now=now)
    again = claim(endpoint=endpoint, todo_id=str(todo.pk), now=now + 300 * SECOND).todo
    assert (again.state, again.attempt) == ("claimed", 2)


def test_a_lapsed_lease_on_the_last_attempt_is_dead_lettered_instead(endpoint: Endpoint, now: datetime) -> None:
    todo = make_todo(endpoint, max_attempts=1)
    claim(endpoint=endpoint, todo_id=str(todo.pk), now=now)
    later = now + 300 * SECOND
    with pytest.raises(Conflict, match="failed for good"):
        claim(endpoint=endpoint, todo_id=str(todo.pk), now=later)
    todo.refresh_from_db()
    assert (todo.state, todo.dead_letter, todo.lease_expires_at, todo.finished_at) == ("failed", True, None, later)


def test_a_new_claim_forgets_how_the_last_one_ended(endpoint: Endpoint, now: datetime) -> None:
    todo = make_todo(endpoint)
    claim(endpoint=endpoint, todo_id=str(todo.pk), now=now)
    failed = fail(endpoint=endpoint, todo_id=str(todo.pk), now=now)
    assert (failed.finished_at, failed.finished_by) == (now, endpoint)
    again = claim(endpoint=endpoint, todo_id=str(todo.pk), now=now + 30 * SECOND).todo
    assert (again.finished_at, again.finished_by, again.next_retry_at) == (None, None, None)


def test_the_oldest_todo_of_all_the_queues_comes_first(endpoint: Endpoint, now: datetime) -> None:
    made = [make_todo(endpoint, queue=queue).pk for queue in ("more-work", "work", "more-work")]
    assert [next_claimed(endpoint, now) for _ in range(4)] == [*made, None]


def test_an_overdue_todo_keeps_its_place_before_younger_ones(endpoint: Endpoint, now: datetime) -> None:
    lapsed = make_todo(endpoint, state="claimed", attempt=1, lease_expires_at=now)
    due = make_todo(endpoint, state="failed", attempt=1, next_retry_at=now)
    pending = make_todo(endpoint)
    assert [next_claimed(endpoint, now) for _ in range(3)] == [lapsed.pk, due.pk, pending.pk]


def test_only_the_named_queue_is_drained(endpoint: Endpoint, now: datetime) -> None:
    make_todo(endpoint, queue="work")
    wanted = make_todo(endpoint, queue="more-work")
    assert next_claimed(endpoint, now, queue="more-work") == wanted.pk
    assert next_claimed(endpoint, now, queue="more-work") is None


def test_nothing_outside_the_scope_is_handed_out(endpoint: Endpoint, owner: Human, now: datetime) -> None:
    make_todo(endpoint, queue="elsewhere")
    make_todo(make_endpoint(owner).endpoint)
    assert next_claimed(endpoint, now) is None


def test_a_queue_outside_the_scope_is_forbidden(endpoint: Endpoint) -> None:
    with pytest.raises(Forbidden, match="work, more-work"):
        claim_next(endpoint=endpoint, queue="elsewhere")


@pytest.mark.parametrize("queue", ["", "-x", "a b", "work\n", "x" * 65, "w\0rk", 7, ["work"]])
def test_a_malformed_queue_is_an_invalid_argument(endpoint: Endpoint, queue: Any) -> None:
    with pytest.raises(InvalidArgument) as refused:
        claim_next(endpoint=endpoint, queue=queue)
    assert refused.value.extra == {"field": "queue"}


def test_waiting_dead_and_done_todos_are_not_handed_out(endpoint: Endpoint, now: datetime) -> None:
    make_todo(endpoint, state="failed", attempt=1, next_retry_at=now + SECOND)
    make_todo(endpoint, state="failed", attempt=5, dead_letter=True)
    done = claim_next(endpoint=make_todo(endpoint).endpoint, now=now)
    assert done
    complete(endpoint=endpoint, todo_id=str(done.todo.pk), now=now)
    assert next_claimed(endpoint, now) is None


def next_claimed(endpoint: Endpoint, now: datetime, queue: str | None = None) -> object:
    claimed = claim_next(endpoint=endpoint, queue=queue, now=now)
    return claimed.todo.pk if claimed else None


def test_the_claim_carries_its_event(endpoint: Endpoint, now: datetime) -> None:
    todo = make_todo(endpoint)
    claimed = claim_next(endpoint=endpoint, now=now)
    assert claimed
    assert claimed.todo.event == todo.event
    assert Todo.objects.count() == 1
