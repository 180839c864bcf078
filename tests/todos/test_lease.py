"""Holding a claim: heartbeats, fences, completing, failing, releasing."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from switchboard.accounts.models import Endpoint
from switchboard.errors import Conflict, InvalidArgument
from switchboard.sealing import hash_token
from switchboard.todos.lifecycle import (
    Claim,
    claim,
    claim_next,
    complete,
    fail,
    heartbeat,
    release,
    retry_delay,
)
from switchboard.todos.models import Todo
from tests.factories import make_todo

SECOND = timedelta(seconds=1)
AFTER_LEASE = 301 * SECOND
HOLDERS_VERBS = [heartbeat, complete, fail, release]


def claimed(endpoint: Endpoint, now: datetime, *, fence: bool = False, ttl: int | None = None) -> Claim:
    todo = make_todo(endpoint)
    return claim(endpoint=endpoint, todo_id=str(todo.pk), require_fence=fence, lease_ttl_seconds=ttl, now=now)


def row(todo: Todo) -> dict[str, Any]:
    return dict(Todo.objects.filter(pk=todo.pk).values().get())


def test_a_heartbeat_lets_the_lease_end_later(endpoint: Endpoint, now: datetime) -> None:
    todo = claimed(endpoint, now).todo
    later = now + 200 * SECOND
    alive = heartbeat(endpoint=endpoint, todo_id=str(todo.pk), lease_ttl_seconds=400, now=later)
    assert alive.lease_expires_at == later + 400 * SECOND


@pytest.mark.parametrize("ttl", [None, 1])
def test_a_heartbeat_never_shortens_a_long_lease(endpoint: Endpoint, now: datetime, ttl: int | None) -> None:
    todo = claimed(endpoint, now, ttl=86_400).todo
    alive = heartbeat(endpoint=endpoint, todo_id=str(todo.pk), lease_ttl_seconds=ttl, now=now + SECOND)
    assert alive.lease_expires_at == now + 86_400 * SECOND


def test_a_heartbeat_with_a_bad_lease_is_refused(endpoint: Endpoint, now: datetime) -> None:
    todo = claimed(endpoint, now).todo
    with pytest.raises(InvalidArgument):
        heartbeat(endpoint=endpoint, todo_id=str(todo.pk), lease_ttl_seconds=86_401, now=now)


@pytest.mark.parametrize("verb", HOLDERS_VERBS, ids=lambda verb: verb.__name__)
def test_a_lapsed_lease_can_do_nothing_more(endpoint: Endpoint, now: datetime, verb: Callable[..., Todo]) -> None:
    todo = claimed(endpoint, now).todo
    before = row(todo)
    with pytest.raises(Conflict, match="claim it again"):
        verb(endpoint=endpoint, todo_id=str(todo.pk), now=now + 300 * SECOND)
    assert row(todo) == before


@pytest.mark.parametrize("new_claim_is_fenced", [True, False])
@pytest.mark.parametrize("verb", HOLDERS_VERBS, ids=lambda verb: verb.__name__)
def test_a_stalled_worker_cannot_touch_the_claim_that_followed_its_own(
    endpoint: Endpoint, now: datetime, verb: Callable[..., Todo], new_claim_is_fenced: bool
) -> None:
    stalled = claimed(endpoint, now, fence=True)
    later = now + AFTER_LEASE
    new = claim_next(endpoint=endpoint, require_fence=new_claim_is_fenced, now=later)
    assert new
    assert new.todo == stalled.todo
    before = row(new.todo)
    with pytest.raises(Conflict, match="not this session's"):
        verb(endpoint=endpoint, todo_id=str(new.todo.pk), lease_token=stalled.lease_token, now=later)
    assert row(new.todo) == before


@pytest.mark.parametrize("verb", HOLDERS_VERBS, ids=lambda verb: verb.__name__)
@pytest.mark.parametrize("token", [None, "", "lt_wrong", "lt_\N{SNOWMAN}", "\ud800", "lt_" + "x" * 10_000])
def test_a_fenced_claim_refuses_a_missing_or_wrong_token(
    endpoint: Endpoint, now: datetime, verb: Callable[..., Todo], token: str | None
) -> None:
    todo = claimed(endpoint, now, fence=True).todo
    before = row(todo)
    with pytest.raises(Conflict, match="lease_token"):
        verb(endpoint=endpoint, todo_id=str(todo.pk), lease_token=token, now=now)
    assert row(todo) == before


@pytest.mark.parametrize("verb", HOLDERS_VERBS, ids=lambda verb: verb.__name__)
def test_the_hash_of_a_token_is_not_a_token(endpoint: Endpoint, now: datetime, verb: Callable[..., Todo]) -> None:
    todo = claimed(endpoint, now, fence=True).todo
    with pytest.raises(Conflict):
        verb(endpoint=endpoint, todo_id=str(todo.pk), lease_token=row(todo)["lease_token_hash"], now=now)


@pytest.mark.parametrize("verb", HOLDERS_VERBS, ids=lambda verb: verb.__name__)
def test_the_token_of_the_claim_opens_it(endpoint: Endpoint, now: datetime, verb: Callable[..., Todo]) -> None:
    held = claimed(endpoint, now, fence=True)
    verb(endpoint=endpoint, todo_id=str(held.todo.pk), lease_token=held.lease_token, now=now)


def test_only_the_hash_of_a_token_is_stored(endpoint: Endpoint, now: datetime) -> None:
    held = claimed(endpoint, now, fence=True)
    assert held.lease_token
    assert held.lease_token.startswith("lt_")
    assert row(held.todo)["lease_token_hash"] == hash_token(held.lease_token)


def test_an_unfenced_claim_has_no_token_and_needs_none(endpoint: Endpoint, now: datetime) -> None:
    held = claimed(endpoint, now)
    assert held.lease_token is None
    assert heartbeat(endpoint=endpoint, todo_id=str(held.todo.pk), lease_token="", now=now).state == "claimed"


def test_completing_keeps_the_result_and_who_finished(endpoint: Endpoint, now: datetime) -> None:
    todo = claimed(endpoint, now).todo
    done = complete(endpoint=endpoint, todo_id=str(todo.pk), result={"pull": 7}, now=now + SECOND)
    assert (done.state, done.result) == ("done", {"pull": 7})
    assert (done.finished_at, done.finished_by, done.lease_expires_at) == (now + SECOND, endpoint, None)


@pytest.mark.parametrize(
    ("attempt", "seconds"),
    [(1, 30), (2, 60), (3, 120), (4, 240), (5, 480), (6, 900), (7, 900), (40, 900), (10_000, 900)],
)
def test_the_wait_doubles_with_each_attempt_up_to_a_quarter_of_an_hour(attempt: int, seconds: int) -> None:
    assert retry_delay(attempt) == timedelta(seconds=seconds)


def test_a_failing_todo_comes_back_until_its_attempts_are_spent(endpoint: Endpoint, now: datetime) -> None:
    todo_id = str(make_todo(endpoint).pk)
    waits, moment = [], now
    while True:
        claim(endpoint=endpoint, todo_id=todo_id, now=moment)
        failed = fail(endpoint=endpoint, todo_id=todo_id, result="no luck", now=moment)
        if failed.next_retry_at is None:
            break
        waits.append((failed.next_retry_at - moment).total_seconds())
        moment = failed.next_retry_at
    assert waits == [30, 60, 120, 240]
    assert (failed.state, failed.dead_letter, failed.attempt, failed.result) == ("failed", True, 5, "no luck")


def test_releasing_gives_the_attempt_back(endpoint: Endpoint, now: datetime) -> None:
    todo = claimed(endpoint, now, fence=False).todo
    free = release(endpoint=endpoint, todo_id=str(todo.pk), now=now)
    assert (free.state, free.attempt, free.lease_expires_at, free.finished_at) == ("pending", 0, None, None)


def test_a_claim_made_between_reading_and_writing_is_untouched(
    endpoint: Endpoint, now: datetime, before_update: Callable[[Callable[[], object]], Any]
) -> None:
    """The worker reads its live claim; before it writes, the claim is released and made anew."""
    todo = claimed(endpoint, now).todo

    def claim_anew() -> None:
        release(endpoint=endpoint, todo_id=str(todo.pk), now=now + SECOND)
        claim(endpoint=endpoint, todo_id=str(todo.pk), now=now + 2 * SECOND)

    with before_update(claim_anew), pytest.raises(Conflict):
        complete(endpoint=endpoint, todo_id=str(todo.pk), now=now + SECOND)
    assert (row(todo)["state"], row(todo)["claimed_at"]) == ("claimed", now + 2 * SECOND)
