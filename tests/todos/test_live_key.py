"""An endpoint has at most one live todo of a delivery; one that is done or dead makes room for another."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from routing.models import Event
from switchboard.accounts.models import Endpoint, Human
from switchboard.accounts.reach import Principal
from switchboard.errors import Conflict
from switchboard.todos import lifecycle
from switchboard.todos.models import Todo
from tests.factories import make_endpoint, make_event, make_todo

NOON = datetime.fromisoformat("2026-03-01T12:00:00Z")
LIVE: dict[str, dict[str, Any]] = {
    "pending": {"state": "pending"},
    "claimed": {"state": "claimed", "attempt": 1, "lease_expires_at": NOON},
    "waiting to retry": {"state": "failed", "attempt": 1, "next_retry_at": NOON + timedelta(minutes=1)},
}
OVER: dict[str, dict[str, Any]] = {
    "done": {"state": "done", "finished_at": NOON},
    "dead-lettered": {"state": "failed", "attempt": 5, "dead_letter": True},
}
live = pytest.mark.parametrize("standing", LIVE.values(), ids=LIVE.keys())
over = pytest.mark.parametrize("standing", OVER.values(), ids=OVER.keys())


@pytest.fixture
def event(endpoint: Endpoint) -> Event:
    return make_event(endpoint)


@live
@pytest.mark.parametrize("second", LIVE.values(), ids=LIVE.keys())
def test_two_live_todos_of_one_delivery_are_refused(
    endpoint: Endpoint, event: Event, standing: dict[str, Any], second: dict[str, Any]
) -> None:
    first = make_todo(endpoint, event=event, **standing)
    with pytest.raises(IntegrityError), transaction.atomic():
        make_todo(endpoint, event=event, queue="more-work", **second)
    assert Todo.objects.get() == first


@over
def test_a_todo_that_is_over_makes_room(endpoint: Endpoint, event: Event, standing: dict[str, Any]) -> None:
    make_todo(endpoint, event=event, **standing)
    make_todo(endpoint, event=event, **standing)
    make_todo(endpoint, event=event)
    assert Todo.objects.count() == 3


@over
@pytest.mark.parametrize("alive", LIVE.values(), ids=LIVE.keys())
def test_a_todo_does_not_come_back_beside_a_live_one(
    endpoint: Endpoint, event: Event, standing: dict[str, Any], alive: dict[str, Any]
) -> None:
    former = make_todo(endpoint, event=event, **standing)
    make_todo(endpoint, event=event, **alive)
    with pytest.raises(IntegrityError), transaction.atomic():
        Todo.objects.filter(pk=former.pk).update(state="pending", dead_letter=False)


def test_a_retry_beside_a_live_copy_is_a_conflict_and_changes_nothing(
    endpoint: Endpoint, owner: Human, event: Event
) -> None:
    dead = make_todo(endpoint, event=event, **OVER["dead-lettered"])
    copy = make_todo(endpoint, event=event)
    principal = Principal.of_human(owner)
    with pytest.raises(Conflict, match="same delivery"):
        lifecycle.retry_todo(principal=principal, todo_id=str(dead.pk), now=NOON)
    dead.refresh_from_db()
    assert (dead.state, dead.dead_letter, dead.attempt) == ("failed", True, 5)
    lifecycle.complete_todo(principal=principal, todo_id=str(copy.pk), now=NOON)
    assert lifecycle.retry_todo(principal=principal, todo_id=str(dead.pk), now=NOON).state == "pending"


def test_the_key_counts_for_each_endpoint_alone(endpoint: Endpoint, owner: Human, event: Event) -> None:
    make_todo(endpoint, event=event)
    make_todo(make_endpoint(owner, name="second").endpoint, event=event)
    assert Todo.objects.filter(event=event, state="pending").count() == 2


def test_todos_of_different_deliveries_do_not_meet(endpoint: Endpoint) -> None:
    make_todo(endpoint, idempotency_key="github:one:1")
    make_todo(endpoint, idempotency_key="github:one:2")
    make_todo(endpoint, idempotency_key="GITHUB:one:2")
    assert Todo.objects.count() == 3
