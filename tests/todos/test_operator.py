"""What an operator may do with the todos of own endpoints, whatever lease or fence an agent has."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from switchboard.accounts.models import Endpoint, Human
from switchboard.accounts.reach import Principal
from switchboard.errors import Conflict
from switchboard.todos.lifecycle import (
    claim,
    complete,
    complete_todo,
    fail,
    fail_todo,
    release_todo,
    retry_todo,
)
from switchboard.todos.models import Todo
from tests.factories import make_todo


@pytest.fixture
def operator(owner: Human) -> Principal:
    return Principal.of_human(owner)


def fenced(endpoint: Endpoint, now: datetime, **fields: Any) -> Todo:
    todo_id = str(make_todo(endpoint, **fields).pk)
    return claim(endpoint=endpoint, todo_id=todo_id, require_fence=True, now=now).todo


def test_a_retried_todo_has_all_its_attempts_again(endpoint: Endpoint, operator: Principal, now: datetime) -> None:
    dead = make_todo(endpoint, state="failed", attempt=5, dead_letter=True)
    todo = retry_todo(principal=operator, todo_id=str(dead.pk), now=now)
    assert (todo.state, todo.attempt, todo.dead_letter, todo.next_retry_at) == ("pending", 0, False, None)


def test_a_todo_with_a_live_twin_is_not_retried(endpoint: Endpoint, operator: Principal, now: datetime) -> None:
    dead = make_todo(endpoint, state="failed", attempt=5, dead_letter=True, idempotency_key="one-delivery")
    make_todo(endpoint, idempotency_key="one-delivery")
    with pytest.raises(Conflict, match="same delivery"):
        retry_todo(principal=operator, todo_id=str(dead.pk), now=now)
    dead.refresh_from_db()
    assert (dead.state, dead.dead_letter) == ("failed", True)


def test_a_todo_taken_back_keeps_its_attempt_and_the_agents_token_is_worth_nothing(
    endpoint: Endpoint, operator: Principal, now: datetime
) -> None:
    held = fenced(endpoint, now)
    todo = release_todo(principal=operator, todo_id=str(held.pk), now=now)
    assert (todo.state, todo.attempt, todo.lease_expires_at, todo.lease_token_hash) == ("pending", 0, None, "")


@pytest.mark.parametrize("close", [complete_todo, fail_todo], ids=lambda verb: verb.__name__)
def test_closing_a_todo_ends_the_agents_claim(
    endpoint: Endpoint, operator: Principal, now: datetime, close: Callable[..., Todo]
) -> None:
    held = fenced(endpoint, now)
    todo = close(principal=operator, todo_id=str(held.pk), result="by hand", now=now)
    assert (todo.finished_at, todo.finished_by, todo.result) == (now, None, "by hand")
    with pytest.raises(Conflict):
        complete(endpoint=endpoint, todo_id=str(held.pk), now=now)


def test_an_operators_failure_is_final_whatever_attempts_are_left(
    endpoint: Endpoint, operator: Principal, now: datetime
) -> None:
    held = fenced(endpoint, now, max_attempts=5)
    todo = fail_todo(principal=operator, todo_id=str(held.pk), now=now)
    assert (todo.state, todo.attempt, todo.dead_letter, todo.next_retry_at) == ("failed", 1, True, None)


def test_closing_a_failed_todo_takes_it_from_the_agent_that_failed_it(
    endpoint: Endpoint, operator: Principal, now: datetime
) -> None:
    todo = claim(endpoint=endpoint, todo_id=str(make_todo(endpoint).pk), now=now).todo
    fail(endpoint=endpoint, todo_id=str(todo.pk), now=now)
    closed = complete_todo(principal=operator, todo_id=str(todo.pk), now=now + timedelta(seconds=1))
    assert (closed.state, closed.finished_by, closed.next_retry_at) == ("done", None, None)


def test_a_refusal_says_what_would_be_possible(endpoint: Endpoint, operator: Principal, now: datetime) -> None:
    with pytest.raises(Conflict, match="Only a todo that has failed can be retried"):
        retry_todo(principal=operator, todo_id=str(make_todo(endpoint).pk), now=now)
