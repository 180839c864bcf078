"""Which todos ring for whom: just now, on opening a stream, and again while nobody claims them.

`rung_at` is when a pending todo's bell was rung last, heard or not, so it alone tells every process what is new;
`ring_count` counts the rings that an open stream was there to hear since the todo became pending.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import reduce
from operator import or_
from uuid import UUID

from django.db.models import F, Q, QuerySet, Window
from django.db.models.functions import RowNumber

from switchboard.accounts.models import Endpoint, live_endpoint
from switchboard.todos.doorbell import ring
from switchboard.todos.models import Todo, TodoState

OPENING_RINGS = 3
# An endpoint's overdue bells come a few at a time, the oldest todo's first.
RINGS_AGAIN_AT_ONCE = 3
# Counted from the bell before: 5 minutes, 20 minutes, 1 hour and 6 hours after the first.
WAITS = (timedelta(minutes=5), timedelta(minutes=15), timedelta(minutes=40), timedelta(hours=5))
MOST_AT_ONCE = 1000
ENDPOINTS_A_QUERY = 200


def rung_since(since: datetime, *, endpoints: Collection[UUID], now: datetime) -> list[Todo]:
    """Return the endpoints' pending todos that were rung at `since` or later, the newest 1,000 of them."""
    rung = _pending(endpoints, now).filter(rung_at__gte=since).order_by("-rung_at", "-pk")
    return list(reversed(rung[:MOST_AT_ONCE]))


def still_pending(todo_ids: Collection[UUID], *, endpoints: Collection[UUID], now: datetime) -> list[Todo]:
    """Return those of the todos that are pending and one of the endpoints' own."""
    return list(_pending(endpoints, now).filter(pk__in=todo_ids).order_by("pk"))


def oldest_pending(endpoint: Endpoint, *, now: datetime) -> list[Todo]:
    """Return up to three of the endpoint's oldest pending todos in the queues of its scope."""
    pending = _pending([endpoint.pk], now).filter(queue__in=endpoint.scope_queues)
    return list(pending.order_by("pk")[:OPENING_RINGS])


def count_first_ring(todos: Collection[Todo]) -> None:
    """Note that the todos' bells have been heard, for those of which none was."""
    unheard = [todo.pk for todo in todos if todo.ring_count == 0]
    if unheard:
        Todo.objects.filter(pk__in=unheard, ring_count=0).update(ring_count=1)


def ring_again(
    scopes: Mapping[UUID, Sequence[str]], *, now: datetime, but_not: Collection[UUID] = frozenset()
) -> list[Todo]:
    """Ring what was rung long enough ago and is still pending; return the todos.

    `scopes` are the queues of each endpoint that has an open stream; `but_not` are todos that were rung otherwise.
    Any number of processes may call this at once: each bell is rung once.
    """
    rung = [todo for todo in _overdue(scopes, now) if todo.pk not in but_not and _take_turn(todo, now)]
    ring(rung)
    return rung


def _take_turn(todo: Todo, now: datetime) -> bool:
    """Count the ring; False when another process was faster or the todo is no longer pending."""
    unchanged = Todo.objects.filter(pk=todo.pk, state=TodoState.PENDING, rung_at=todo.rung_at)
    return bool(unchanged.update(ring_count=F("ring_count") + 1, rung_at=now))


def _overdue(scopes: Mapping[UUID, Sequence[str]], now: datetime) -> Iterator[Todo]:
    overdue = reduce(or_, (Q(ring_count=count, rung_at__lte=now - wait) for count, wait in _waits()))
    endpoints = sorted(scopes)
    for start in range(0, len(endpoints), ENDPOINTS_A_QUERY):
        some = endpoints[start : start + ENDPOINTS_A_QUERY]
        todos = _pending(some, now).filter(_in_scope(some, scopes), overdue)
        nth = Window(RowNumber(), partition_by=F("endpoint_id"), order_by="id")
        yield from todos.annotate(nth=nth).filter(nth__lte=RINGS_AGAIN_AT_ONCE).order_by("pk")


def _waits() -> Iterator[tuple[int, timedelta]]:
    """Yield how long after its last ring a todo is rung again, by its count; what nobody heard waits as after one."""
    yield 0, WAITS[0]
    yield from enumerate(WAITS, start=1)


def _in_scope(endpoints: Sequence[UUID], scopes: Mapping[UUID, Sequence[str]]) -> Q:
    alike: dict[tuple[str, ...], list[UUID]] = {}
    for endpoint_id in endpoints:
        alike.setdefault(tuple(sorted(scopes[endpoint_id])), []).append(endpoint_id)
    return reduce(or_, (Q(endpoint__in=ids, queue__in=queues) for queues, ids in alike.items()))


def _pending(endpoints: Collection[UUID], now: datetime) -> QuerySet[Todo]:
    """Return the pending todos of those endpoints that are live, with no more than a doorbell says."""
    return (
        Todo.objects.filter(live_endpoint(now, path="endpoint__"), state=TodoState.PENDING, endpoint__in=endpoints)
        .select_related("event")
        .only(*_OF_A_DOORBELL)
    )


_OF_A_DOORBELL = (
    "endpoint_id",
    "queue",
    "source",
    "kind",
    "label",
    "title",
    "reply_to",
    "ring_count",
    "rung_at",
    "event__verified",
)
