"""Many workers at once: no todo goes to two of them, and none is left over."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

import pytest
from django.db import connection

from switchboard.accounts.models import Endpoint
from switchboard.errors import Conflict
from switchboard.todos.lifecycle import claim, claim_next
from switchboard.todos.models import Todo
from tests.factories import make_endpoint, make_human, make_todo

pytestmark = pytest.mark.django_db(transaction=True)
WORKERS = 16


def in_many_threads(work: Callable[[], UUID | None], times: int) -> list[UUID | None]:
    """Run `work` so many times in threads with database connections of their own; return what each returned."""

    def once(_: int) -> UUID | None:
        try:
            return work()
        finally:
            connection.close()

    with ThreadPoolExecutor(WORKERS) as pool:
        return list(pool.map(once, range(times)))


def make_queue(count: int) -> Endpoint:
    endpoint = make_endpoint(make_human()).endpoint
    for _ in range(count):
        make_todo(endpoint)
    return endpoint


def test_two_hundred_concurrent_calls_claim_each_of_a_hundred_todos_once() -> None:
    endpoint = make_queue(100)

    def work() -> UUID | None:
        claimed = claim_next(endpoint=endpoint, require_fence=True)
        return claimed.todo.pk if claimed else None

    answers = in_many_threads(work, 200)
    claimed = [answer for answer in answers if answer]
    assert (len(claimed), len(set(claimed))) == (100, 100)
    assert Todo.objects.filter(state="claimed", attempt=1).count() == 100


def test_of_many_claims_of_one_todo_exactly_one_wins() -> None:
    endpoint = make_queue(1)
    todo = Todo.objects.get()

    def work() -> UUID | None:
        try:
            return claim(endpoint=endpoint, todo_id=str(todo.pk)).todo.pk
        except Conflict:
            return None

    answers = in_many_threads(work, 40)
    todo.refresh_from_db()
    assert answers.count(todo.pk) == 1
    assert todo.attempt == 1


def test_a_hundred_lapsed_leases_are_each_requeued_and_claimed_once() -> None:
    endpoint = make_queue(100)
    Todo.objects.update(state="claimed", attempt=1, lease_expires_at="2020-01-01T00:00:00Z")

    def work() -> UUID | None:
        claimed = claim_next(endpoint=endpoint)
        return claimed.todo.pk if claimed else None

    claimed = [answer for answer in in_many_threads(work, 200) if answer]
    assert len(set(claimed)) == len(claimed) == 100
    assert Todo.objects.filter(state="claimed", attempt=2).count() == 100
