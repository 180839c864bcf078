"""The only place where a todo's state changes: what agents, operators and the reaper do with it.

Every change is one conditional update that repeats what it relies on, so losing a race is an ordinary Conflict.
The allowed moves stand in `standing.MOVES`.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import structlog
from django.db import IntegrityError, connection, transaction
from django.db.models import DateTimeField, F, QuerySet, Value
from django.db.models.functions import Greatest
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from switchboard.accounts.models import MAX_LEASE_SECONDS, Endpoint
from switchboard.accounts.reach import Principal
from switchboard.errors import Conflict, InvalidArgument
from switchboard.sealing import hash_token, mint_token
from switchboard.todos.doorbell import ring
from switchboard.todos.models import Todo, TodoState
from switchboard.todos.reading import agent_todos, find_agents_todo, find_todo, queues_to_drain
from switchboard.todos.results import read_result
from switchboard.todos.standing import MOVES, Move, Standing, standing_in, standing_of

log = structlog.get_logger(__name__)
FIRST_RETRY = timedelta(seconds=30)
LONGEST_RETRY = timedelta(minutes=15)
REAP_BATCH = 500
NO_LEASE: dict[str, Any] = {"lease_expires_at": None, "lease_token_hash": ""}
OVERDUE = (Standing.LAPSED, Standing.SPENT, Standing.DUE)
WHAT_AN_AGENT_DOES_NEXT = {
    Standing.PENDING: "Claim it first.",
    Standing.HELD: "Leave it to whoever holds it and take another with claim_next.",
    Standing.LAPSED: "Its lease has ended: claim it again before you go on.",
    Standing.SPENT: "Its lease has ended: leave it and take another with claim_next.",
    Standing.WAITING: "Claim it once its next_retry_at has passed.",
    Standing.DUE: "Claim it again first.",
    Standing.DEAD: "Leave it to an operator and take another with claim_next.",
    Standing.DONE: "Nothing is left to do; take another with claim_next.",
}
WHAT_AN_OPERATOR_MAY_MOVE = {
    Move.OPERATOR_RETRY: "Only a todo that has failed can be retried.",
    Move.OPERATOR_RELEASE: "Only a claimed todo can be taken back from its agent.",
    Move.OPERATOR_COMPLETE: "Nothing is left to do.",
    Move.OPERATOR_FAIL: "Only a pending or claimed todo can; retry it, or close it as done, if it has failed.",
}


@dataclass(frozen=True)
class Claim:
    """A todo just claimed; `lease_token` (`lt_…`) is the fence that was asked for, shown this once."""

    todo: Todo
    lease_token: str | None


@dataclass(frozen=True)
class Reaped:
    """How many todos the reaper moved: lapsed to pending, lapsed on the last attempt, due for a retry."""

    requeued: int
    dead_lettered: int
    retried: int


def claim(
    *,
    endpoint: Endpoint,
    todo_id: str,
    lease_ttl_seconds: int | None = None,
    require_fence: bool = False,
    now: datetime | None = None,
) -> Claim:
    """Claim the endpoint's todo: it is leased for `lease_ttl_seconds` (1 to 86,400) and counts an attempt.

    Pending todos, failed ones due again and claimed ones whose lease has lapsed can be claimed. With
    `require_fence` every further call on this claim must present the returned lease token. Raises NotFound,
    InvalidArgument, and Conflict when the todo cannot be claimed.
    """
    moment = now or timezone.now()
    seconds = _lease_seconds(endpoint, lease_ttl_seconds)
    todo = find_agents_todo(endpoint=endpoint, todo_id=todo_id)
    only_this = Todo.objects.filter(pk=todo.pk)
    _settle(only_this, moment)
    claimed = _take(only_this, moment, seconds, require_fence)
    if claimed is None:
        todo.refresh_from_db()
        raise _agents_refusal(todo, Move.CLAIM, moment)
    return claimed


def claim_next(
    *,
    endpoint: Endpoint,
    queue: str | None = None,
    lease_ttl_seconds: int | None = None,
    require_fence: bool = False,
    now: datetime | None = None,
) -> Claim | None:
    """Claim the oldest claimable todo of `queue`, or of all the endpoint's queues; return None when there is none.

    Any number of workers may call this at once: no todo goes to two of them. Arguments as for `claim`; raises
    InvalidArgument for a malformed argument and Forbidden for a queue outside the endpoint's scope.
    """
    moment = now or timezone.now()
    seconds = _lease_seconds(endpoint, lease_ttl_seconds)
    todos = agent_todos(endpoint).filter(queue__in=queues_to_drain(endpoint, queue))
    _settle(todos, moment)
    while True:
        with transaction.atomic():
            oldest = _oldest_pending(todos)
            if oldest is None:
                return None
            claimed = _take(todos.filter(pk=oldest), moment, seconds, require_fence)
        if claimed is not None:
            return claimed


def heartbeat(
    *,
    endpoint: Endpoint,
    todo_id: str,
    lease_ttl_seconds: int | None = None,
    lease_token: str | None = None,
    now: datetime | None = None,
) -> Todo:
    """Let the lease end `lease_ttl_seconds` from now, or later if it already does; return the todo.

    Raises NotFound, InvalidArgument, and Conflict when the lease is not live or not this session's.
    """
    moment = now or timezone.now()
    seconds = _lease_seconds(endpoint, lease_ttl_seconds)
    todo = find_agents_todo(endpoint=endpoint, todo_id=todo_id)
    until = Value(moment + timedelta(seconds=seconds), output_field=DateTimeField())
    return _move_held(
        todo, Move.HEARTBEAT, moment, lease_token, lease_expires_at=Greatest(F("lease_expires_at"), until)
    )


def complete(
    *,
    endpoint: Endpoint,
    todo_id: str,
    result: object = None,
    lease_token: str | None = None,
    now: datetime | None = None,
) -> Todo:
    """End the claim as done with `result`, any JSON value of at most 64 KiB; return the todo.

    Raises NotFound, InvalidArgument, and Conflict when the lease is not live or not this session's.
    """
    moment = now or timezone.now()
    outcome = _outcome(result, moment, endpoint)
    todo = find_agents_todo(endpoint=endpoint, todo_id=todo_id)
    return _move_held(todo, Move.COMPLETE, moment, lease_token, **outcome)


def fail(
    *,
    endpoint: Endpoint,
    todo_id: str,
    result: object = None,
    lease_token: str | None = None,
    now: datetime | None = None,
) -> Todo:
    """End the claim as failed with `result`; return the todo.

    It is due again after 30 seconds, doubling with each attempt to at most 15 minutes, or dead-lettered when its
    attempts are spent. Raises NotFound, InvalidArgument, and Conflict when the lease is not live or not this
    session's.
    """
    moment = now or timezone.now()
    outcome = _outcome(result, moment, endpoint)
    todo = find_agents_todo(endpoint=endpoint, todo_id=todo_id)
    spent = todo.attempt >= todo.max_attempts
    due = None if spent else moment + retry_delay(todo.attempt)
    return _move_held(todo, Move.FAIL, moment, lease_token, **outcome, dead_letter=spent, next_retry_at=due)


def release(*, endpoint: Endpoint, todo_id: str, lease_token: str | None = None, now: datetime | None = None) -> Todo:
    """Give the claim back: the todo is pending again and the attempt does not count; return the todo.

    Raises NotFound, and Conflict when the lease is not live or not this session's.
    """
    moment = now or timezone.now()
    todo = find_agents_todo(endpoint=endpoint, todo_id=todo_id)
    return _move_held(todo, Move.RELEASE, moment, lease_token, **NO_LEASE, attempt=F("attempt") - 1)


def retry_todo(*, principal: Principal, todo_id: str, now: datetime | None = None) -> Todo:
    """Make a failed or dead-lettered todo pending with all its attempts; return it.

    Raises NotFound, and Conflict when it has not failed or when a later copy of its delivery is at work.
    """
    again = {"attempt": 0, "dead_letter": False, "next_retry_at": None}
    try:
        with transaction.atomic():
            return _move_as_operator(principal, todo_id, Move.OPERATOR_RETRY, now, **again)
    except IntegrityError:
        raise Conflict("Another todo of the same delivery is at work; finish that one instead.") from None


def release_todo(*, principal: Principal, todo_id: str, now: datetime | None = None) -> Todo:
    """Take a claimed todo from its agent, whatever its lease and fence: pending, the attempt does not count.

    Raises NotFound, and Conflict when it is not claimed.
    """
    returned = {**NO_LEASE, "attempt": F("attempt") - 1}
    return _move_as_operator(principal, todo_id, Move.OPERATOR_RELEASE, now, **returned)


def complete_todo(*, principal: Principal, todo_id: str, result: object = None, now: datetime | None = None) -> Todo:
    """Close a pending, claimed or failed todo as done with `result`; return it.

    Raises NotFound, InvalidArgument, and Conflict when it is done already.
    """
    closed = {**_outcome(result, now or timezone.now(), None), "dead_letter": False, "next_retry_at": None}
    return _move_as_operator(principal, todo_id, Move.OPERATOR_COMPLETE, now, **closed)


def fail_todo(*, principal: Principal, todo_id: str, result: object = None, now: datetime | None = None) -> Todo:
    """Close a pending or claimed todo as failed for good (`dead_letter`) with `result`; return it.

    An operator's failure is final, whatever attempts are left: only `retry_todo` brings the todo back. Raises
    NotFound, InvalidArgument, and Conflict when it is done or has failed already.
    """
    closed = {**_outcome(result, now or timezone.now(), None), "dead_letter": True, "next_retry_at": None}
    return _move_as_operator(principal, todo_id, Move.OPERATOR_FAIL, now, **closed)


def reap(*, now: datetime | None = None, batch: int = REAP_BATCH) -> Reaped:
    """Return every lapsed lease's todo to pending, or dead-letter it on its last attempt, and make retries due.

    Works in batches of at most `batch` rows, each kind by itself and the longest overdue first, until none is left.
    """
    return _settle(Todo.objects.all(), now or timezone.now(), batch)


def retry_delay(attempt: int) -> timedelta:
    """Return how long a todo waits after its failed attempt number `attempt`: 30 s, doubling to 15 min."""
    doublings = min(max(attempt - 1, 0), 10)
    return min(FIRST_RETRY * (1 << doublings), LONGEST_RETRY)


def _settle(todos: QuerySet[Todo], now: datetime, batch: int = REAP_BATCH) -> Reaped:
    """Do the reaper's work on those of `todos` that are overdue."""
    if not todos.filter(standing_in(OVERDUE, now)).exists():
        return Reaped(0, 0, 0)
    lapsed, due = todos.order_by("lease_expires_at", "pk"), todos.order_by("next_retry_at", "pk")
    buried = {**NO_LEASE, "dead_letter": True, "finished_at": now, "finished_by": None}
    return Reaped(
        requeued=_sweep(lapsed, Move.REAPER_REQUEUE, now, batch, **NO_LEASE),
        dead_lettered=_sweep(lapsed, Move.REAPER_BURY, now, batch, **buried),
        retried=_sweep(due, Move.REAPER_RETRY, now, batch, next_retry_at=None),
    )


def _sweep(todos: QuerySet[Todo], move: Move, now: datetime, batch: int, **changes: Any) -> int:
    """Make the move on all of `todos` that it is for, in their order, a batch a transaction; return how many."""
    total = 0
    while True:
        with transaction.atomic():
            overdue = _not_locked(todos.filter(standing_in(MOVES[move][0], now)))
            found = list(overdue.only("endpoint_id", "queue")[:batch])
            if not found:
                return total
            moved = _move(todos.filter(pk__in=[todo.pk for todo in found]), move, now, **changes)
            _ring_if_pending(found, move)
        swept = f"todo.{move}"
        log.info(swept, count=moved, todo_ids=[str(todo.pk) for todo in found])
        total += moved


def _oldest_pending(todos: QuerySet[Todo]) -> UUID | None:
    pending = _not_locked(todos.filter(state=TodoState.PENDING)).order_by("pk")
    return pending.values_list("pk", flat=True).first()


def _take(todos: QuerySet[Todo], now: datetime, seconds: int, require_fence: bool) -> Claim | None:
    """Claim the one todo of `todos` if it is still pending; return None when somebody else was first."""
    token = mint_token("lt_") if require_fence else None
    claimed = _move(
        todos,
        Move.CLAIM,
        now,
        attempt=F("attempt") + 1,
        claimed_at=now,
        lease_expires_at=now + timedelta(seconds=seconds),
        lease_token_hash=_token_hash(token),
        finished_at=None,
        finished_by=None,
    )
    if not claimed:
        return None
    todo = todos.select_related("event", "endpoint").get()
    _log_move(Move.CLAIM, todo)
    return Claim(todo, token)


def _move_held(todo: Todo, move: Move, now: datetime, lease_token: str | None, **changes: Any) -> Todo:
    """Make the move on the very claim that `todo` was read with, if its lease is live and the token fits."""
    if standing_of(todo, now) is not Standing.HELD:
        raise _agents_refusal(todo, move, now)
    _check_fence(todo, lease_token)
    same_claim = Todo.objects.filter(
        pk=todo.pk,
        attempt=todo.attempt,
        claimed_at=todo.claimed_at,
        lease_token_hash=todo.lease_token_hash,
    )
    moved = _move(same_claim, move, now, **changes)
    todo.refresh_from_db()
    if not moved:
        raise _agents_refusal(todo, move, now)
    _ring_if_pending([todo], move)
    _log_move(move, todo)
    return todo


def _move_as_operator(principal: Principal, todo_id: str, move: Move, now: datetime | None, **changes: Any) -> Todo:
    moment = now or timezone.now()
    todo = find_todo(principal=principal, todo_id=todo_id)
    moved = _move(Todo.objects.filter(pk=todo.pk), move, moment, **changes)
    todo.refresh_from_db()
    if not moved:
        raise Conflict(f"{_refusal(todo, move, moment)} {WHAT_AN_OPERATOR_MAY_MOVE[move]}")
    _ring_if_pending([todo], move)
    _log_move(move, todo, human_id=str(principal.human_id))
    return todo


def _move(todos: QuerySet[Todo], move: Move, now: datetime, **changes: Any) -> int:
    """Change the state of those of `todos` from which the move is allowed at this moment; return how many."""
    sources, target = MOVES[move]
    bell = {"ring_count": 0, "rung_at": now} if target is TodoState.PENDING else {}
    return todos.filter(standing_in(sources, now)).update(state=target, **bell, **changes)


def _ring_if_pending(todos: list[Todo], move: Move) -> None:
    if MOVES[move][1] is TodoState.PENDING:
        ring(todos)


def _check_fence(todo: Todo, lease_token: str | None) -> None:
    """Raise Conflict unless the token is the claim's own, or both are absent.

    A token for a claim without one is stale by itself: it was given out for an earlier claim.
    """
    if not constant_time_compare(_token_hash(lease_token), todo.lease_token_hash):
        raise Conflict(
            "The lease is not this session's: present the lease_token of the present claim, or leave the todo "
            "to whoever holds it and take another with claim_next."
        )


def _token_hash(lease_token: str | None) -> str:
    if not lease_token:
        return ""
    return hash_token(lease_token) if lease_token.isascii() else "of no token that was ever given out"


def _outcome(result: object, now: datetime, endpoint: Endpoint | None) -> dict[str, Any]:
    return {**NO_LEASE, "result": read_result(result), "finished_at": now, "finished_by": endpoint}


def _lease_seconds(endpoint: Endpoint, wanted: int | None) -> int:
    seconds = endpoint.default_lease_seconds if wanted is None else wanted
    if isinstance(seconds, bool) or not isinstance(seconds, int) or not 1 <= seconds <= MAX_LEASE_SECONDS:
        raise InvalidArgument(
            f"lease_ttl_seconds must be a whole number from 1 to {MAX_LEASE_SECONDS}.", field="lease_ttl_seconds"
        )
    return seconds


def _not_locked(todos: QuerySet[Todo]) -> QuerySet[Todo]:
    """Lock `todos` and leave out what another transaction has locked, where the database can do that."""
    if connection.features.has_select_for_update_skip_locked:
        return todos.select_for_update(skip_locked=True)
    return todos


def _agents_refusal(todo: Todo, move: Move, now: datetime) -> Conflict:
    return Conflict(f"{_refusal(todo, move, now)} {WHAT_AN_AGENT_DOES_NEXT[standing_of(todo, now)]}")


def _refusal(todo: Todo, move: Move, now: datetime) -> str:
    return f"A todo that is {standing_of(todo, now)} cannot be {move.replace('_', ' ')}."


def _log_move(move: Move, todo: Todo, **by: str) -> None:
    moved = f"todo.{move}"
    log.info(
        moved,
        todo_id=str(todo.pk),
        endpoint_id=str(todo.endpoint_id),
        event_id=str(todo.event_id),
        queue=todo.queue,
        attempt=todo.attempt,
        dead_letter=todo.dead_letter,
        **by,
    )
