"""Where a todo stands at a moment, and the one table of moves that are allowed from there."""

from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from functools import reduce
from operator import or_

from django.db.models import F, Q

from switchboard.todos.models import Todo, TodoState


class Standing(StrEnum):
    """A state, told apart by what the clock and the attempts make of it. Each todo has exactly one."""

    PENDING = "pending"
    HELD = "claimed"
    LAPSED = "claimed under a lease that has ended"
    SPENT = "claimed under a lease that has ended, on its last attempt"
    WAITING = "failed and waiting for its next attempt"
    DUE = "failed and due for its next attempt"
    DEAD = "failed for good"
    DONE = "done"


class Move(StrEnum):
    """A change of state; the value is its word in the log (`todo.claimed`) and in refusals."""

    CLAIM = "claimed"
    HEARTBEAT = "extended"
    COMPLETE = "completed"
    FAIL = "failed"
    RELEASE = "released"
    OPERATOR_RETRY = "retried"
    OPERATOR_RELEASE = "taken_back"
    OPERATOR_COMPLETE = "closed_as_done"
    OPERATOR_FAIL = "closed_as_failed"
    REAPER_REQUEUE = "requeued"
    REAPER_BURY = "dead_lettered"
    REAPER_RETRY = "made_due"


_OPEN = (Standing.PENDING, Standing.HELD, Standing.LAPSED, Standing.SPENT)
_LEASED = (Standing.HELD, Standing.LAPSED, Standing.SPENT)
_FAILED = (Standing.WAITING, Standing.DUE, Standing.DEAD)

# From where each move is allowed, and the state that it leads to.
MOVES: dict[Move, tuple[tuple[Standing, ...], TodoState]] = {
    Move.CLAIM: ((Standing.PENDING,), TodoState.CLAIMED),
    Move.HEARTBEAT: ((Standing.HELD,), TodoState.CLAIMED),
    Move.COMPLETE: ((Standing.HELD,), TodoState.DONE),
    Move.FAIL: ((Standing.HELD,), TodoState.FAILED),
    Move.RELEASE: ((Standing.HELD,), TodoState.PENDING),
    Move.OPERATOR_RETRY: (_FAILED, TodoState.PENDING),
    Move.OPERATOR_RELEASE: (_LEASED, TodoState.PENDING),
    Move.OPERATOR_COMPLETE: ((*_OPEN, *_FAILED), TodoState.DONE),
    Move.OPERATOR_FAIL: (_OPEN, TodoState.FAILED),
    Move.REAPER_REQUEUE: ((Standing.LAPSED,), TodoState.PENDING),
    Move.REAPER_BURY: ((Standing.SPENT,), TodoState.FAILED),
    Move.REAPER_RETRY: ((Standing.DUE,), TodoState.PENDING),
}


def standing_in(standings: Iterable[Standing], now: datetime) -> Q:
    """Return the condition that a todo stands in one of `standings` at `now`."""
    held = Q(state=TodoState.CLAIMED, lease_expires_at__gt=now)
    lapsed = Q(state=TodoState.CLAIMED, lease_expires_at__lte=now)
    retrying = Q(state=TodoState.FAILED, dead_letter=False)
    conditions = {
        Standing.PENDING: Q(state=TodoState.PENDING),
        Standing.HELD: held,
        Standing.LAPSED: lapsed & Q(attempt__lt=F("max_attempts")),
        Standing.SPENT: lapsed & Q(attempt__gte=F("max_attempts")),
        Standing.WAITING: retrying & Q(next_retry_at__gt=now),
        Standing.DUE: retrying & Q(next_retry_at__lte=now),
        Standing.DEAD: Q(state=TodoState.FAILED) & (Q(dead_letter=True) | Q(next_retry_at=None)),
        Standing.DONE: Q(state=TodoState.DONE),
    }
    return reduce(or_, (conditions[standing] for standing in standings))


def standing_of(todo: Todo, now: datetime) -> Standing:
    """Return where `todo`, as it was read, stands at `now`."""
    match TodoState(todo.state):
        case TodoState.PENDING:
            return Standing.PENDING
        case TodoState.CLAIMED:
            return _standing_of_claimed(todo, now)
        case TodoState.DONE:
            return Standing.DONE
        case TodoState.FAILED:
            return _standing_of_failed(todo, now)


def _standing_of_claimed(todo: Todo, now: datetime) -> Standing:
    if todo.lease_expires_at is not None and todo.lease_expires_at > now:
        return Standing.HELD
    return Standing.LAPSED if todo.attempt < todo.max_attempts else Standing.SPENT


def _standing_of_failed(todo: Todo, now: datetime) -> Standing:
    if todo.dead_letter or todo.next_retry_at is None:
        return Standing.DEAD
    return Standing.DUE if todo.next_retry_at <= now else Standing.WAITING
