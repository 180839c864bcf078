"""Which todos ring: just now, when a stream opens, and again until somebody claims them."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from uuid import UUID

import pytest

from switchboard.accounts.models import Endpoint, Human
from switchboard.accounts.reach import Principal
from switchboard.todos import lifecycle, rings
from switchboard.todos.models import Todo
from tests.factories import make_endpoint, make_todo

MINUTE = timedelta(minutes=1)


def again(endpoint: Endpoint, now: datetime) -> list[UUID]:
    return [todo.pk for todo in rings.ring_again({endpoint.pk: endpoint.scope_queues}, now=now)]


def rung_by(endpoint: Endpoint, now: datetime) -> list[UUID]:
    return [todo.pk for todo in rings.rung_since(now, endpoints=[endpoint.pk], now=now)]


def test_an_unclaimed_todo_rings_after_5_minutes_20_minutes_1_hour_and_6_hours(
    endpoint: Endpoint, now: datetime
) -> None:
    todo = make_todo(endpoint, rung_at=now)
    rings.count_first_ring([todo])
    heard = [minute for minute in range(24 * 60) if again(endpoint, now + minute * MINUTE)]
    assert heard == [5, 20, 60, 360]
    todo.refresh_from_db()
    assert todo.ring_count == 5


def test_a_claimed_todo_does_not_ring_again(endpoint: Endpoint, now: datetime) -> None:
    todo = make_todo(endpoint, rung_at=now)
    lifecycle.claim(endpoint=endpoint, todo_id=str(todo.pk), lease_ttl_seconds=3600, now=now)
    assert again(endpoint, now + 30 * MINUTE) == []


def test_what_rang_on_opening_is_not_overdue(endpoint: Endpoint, now: datetime) -> None:
    todo = make_todo(endpoint, rung_at=now)
    scopes = {endpoint.pk: endpoint.scope_queues}
    assert rings.ring_again(scopes, now=now + 6 * MINUTE, but_not={todo.pk}) == []


def test_two_processes_ring_again_once(endpoint: Endpoint, now: datetime) -> None:
    make_todo(endpoint, rung_at=now)
    assert len(again(endpoint, now + 6 * MINUTE)) == 1
    assert again(endpoint, now + 6 * MINUTE) == []


def test_an_endpoints_backlog_rings_a_few_at_a_time_the_oldest_first(endpoint: Endpoint, now: datetime) -> None:
    backlog = [make_todo(endpoint, rung_at=now).pk for _ in range(5)]
    assert again(endpoint, now + 6 * MINUTE) == backlog[:3]
    assert again(endpoint, now + 7 * MINUTE) == backlog[3:]


def test_one_endpoints_backlog_does_not_hold_up_anothers(owner: Human, endpoint: Endpoint, now: datetime) -> None:
    other = make_endpoint(owner, name="other").endpoint
    for _ in range(4):
        make_todo(endpoint, rung_at=now)
    waiting = make_todo(other, rung_at=now)
    scopes: dict[UUID, Sequence[str]] = {each.pk: each.scope_queues for each in (endpoint, other)}
    rung = rings.ring_again(scopes, now=now + 6 * MINUTE)
    assert len(rung) == 4
    assert waiting.pk in {todo.pk for todo in rung}


def test_a_queue_outside_the_scope_and_a_revoked_endpoint_do_not_ring(endpoint: Endpoint, now: datetime) -> None:
    make_todo(endpoint, queue="elsewhere", rung_at=now)
    assert again(endpoint, now + 6 * MINUTE) == []
    assert rings.oldest_pending(endpoint, now=now) == []
    make_todo(endpoint, rung_at=now)
    Endpoint.objects.update(revoked_at=now)
    assert again(endpoint, now + 6 * MINUTE) == []
    assert rings.oldest_pending(endpoint, now=now) == []
    assert rung_by(endpoint, now) == []


def test_a_stream_that_opens_is_rung_for_the_three_oldest(endpoint: Endpoint, now: datetime) -> None:
    waiting = [make_todo(endpoint).pk for _ in range(5)]
    lifecycle.claim(endpoint=endpoint, todo_id=str(waiting[0]))
    assert [todo.pk for todo in rings.oldest_pending(endpoint, now=now)] == waiting[1:4]


def released(todo: Todo, endpoint: Endpoint, human: Human, now: datetime) -> None:
    lifecycle.release(endpoint=endpoint, todo_id=str(todo.pk), now=now)


def taken_back(todo: Todo, endpoint: Endpoint, human: Human, now: datetime) -> None:
    lifecycle.release_todo(principal=Principal.of_human(human), todo_id=str(todo.pk), now=now)


def retried(todo: Todo, endpoint: Endpoint, human: Human, now: datetime) -> None:
    lifecycle.fail(endpoint=endpoint, todo_id=str(todo.pk), now=now)
    lifecycle.retry_todo(principal=Principal.of_human(human), todo_id=str(todo.pk), now=now)


def made_due(todo: Todo, endpoint: Endpoint, human: Human, now: datetime) -> None:
    lifecycle.fail(endpoint=endpoint, todo_id=str(todo.pk), now=now - MINUTE)
    lifecycle.reap(now=now)


def lapsed(todo: Todo, endpoint: Endpoint, human: Human, now: datetime) -> None:
    Todo.objects.filter(pk=todo.pk).update(lease_expires_at=now - MINUTE)
    lifecycle.reap(now=now)


@pytest.mark.parametrize("come_back", [released, taken_back, retried, made_due, lapsed])
def test_a_todo_that_is_pending_again_rings_as_a_new_one(
    endpoint: Endpoint,
    owner: Human,
    now: datetime,
    come_back: Callable[[Todo, Endpoint, Human, datetime], None],
) -> None:
    todo = make_todo(endpoint, rung_at=now - 60 * MINUTE, ring_count=3)
    lifecycle.claim(endpoint=endpoint, todo_id=str(todo.pk), now=now - 2 * MINUTE)
    assert rung_by(endpoint, now) == []
    come_back(todo, endpoint, owner, now)
    assert rung_by(endpoint, now) == [todo.pk]
    todo.refresh_from_db()
    assert todo.ring_count == 0
