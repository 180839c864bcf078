"""What one process does for its open streams, turn by turn: find what was rung, hand it out, ring again."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from uuid import UUID

from mcp_bridge.listener import Bell, Listener
from switchboard.broadcast import Message
from switchboard.ids import parse_id
from switchboard.todos import rings
from switchboard.todos.models import Todo

Listeners = Mapping[UUID, Sequence[Listener]]
POLL = timedelta(seconds=1.4)
# Where news arrive by themselves, polling finds what was lost on the way.
SAFETY_POLL = timedelta(seconds=15)
# A todo shows once its transaction has committed, which may be long after the moment that it was rung at.
OVERLAP = timedelta(seconds=15)
RING_AGAIN_EVERY = timedelta(seconds=30)


class Watch:
    """Finds and hands out bells, and remembers which; used by one thread."""

    def __init__(self, *, now: datetime) -> None:
        self._handed_out: set[tuple[UUID, datetime]] = set()
        self._polled_at = now
        self._rang_again_at = now
        self._news_arrived = False

    def take_turn(
        self,
        listeners: Listeners,
        messages: Sequence[Message],
        *,
        now: datetime,
        news_arrive: bool,
        rung_on_opening: Collection[UUID] = frozenset(),
    ) -> None:
        """Hand out what the messages name, and what polling finds when it is time; ring again what is overdue.

        `listeners` are the open streams by endpoint; `rung_on_opening` are todos that are not overdue, because a
        stream that opened has rung them.
        """
        _end_revoked(listeners, messages)
        if named := set(_named_todos(listeners, messages)):
            self._hand_out(rings.still_pending(named, endpoints=listeners.keys(), now=now), listeners)
        if self._is_time_to_poll(now, news_arrive):
            self._poll(listeners, now)
        if _is_over(self._rang_again_at, RING_AGAIN_EVERY, now):
            self._rang_again_at = now
            scopes = {endpoint_id: listening[0].queues for endpoint_id, listening in listeners.items()}
            rings.ring_again(scopes, now=now, but_not=rung_on_opening)

    def _is_time_to_poll(self, now: datetime, news_arrive: bool) -> bool:
        """Tell whether to poll: every so often, and once more when news begin to arrive."""
        begins, self._news_arrived = news_arrive and not self._news_arrived, news_arrive
        return begins or _is_over(self._polled_at, SAFETY_POLL if news_arrive else POLL, now)

    def _poll(self, listeners: Listeners, now: datetime) -> None:
        since = self._polled_at - OVERLAP
        self._hand_out(rings.rung_since(since, endpoints=listeners.keys(), now=now), listeners)
        self._polled_at = now
        self._handed_out = {key for key in self._handed_out if key[1] >= since}

    def _hand_out(self, todos: Iterable[Todo], listeners: Listeners) -> None:
        heard = []
        for todo in todos:
            bell = Bell.of(todo)
            if bell.key in self._handed_out:
                continue
            hearing = [listener for listener in listeners[todo.endpoint_id] if listener.hears(todo.queue)]
            for listener in hearing:
                listener.ring(bell)
            if hearing:
                self._handed_out.add(bell.key)
                heard.append(todo)
        rings.count_first_ring(heard)


def _end_revoked(listeners: Listeners, messages: Iterable[Message]) -> None:
    for message in messages:
        revoked = parse_id(message.get("revoked"))
        for listener in listeners.get(revoked, ()) if revoked else ():
            listener.end()


def _named_todos(listeners: Listeners, messages: Iterable[Message]) -> Iterator[UUID]:
    """Yield the todos in the messages that ring for one of the listeners."""
    for rung in (rung for message in messages for rung in message.get("rung", ())):
        todo_id, endpoint_id = parse_id(rung.get("todo_id")), parse_id(rung.get("endpoint_id"))
        listening = listeners.get(endpoint_id, ()) if endpoint_id else ()
        if todo_id and any(listener.hears(rung.get("queue")) for listener in listening):
            yield todo_id


def _is_over(last: datetime, interval: timedelta, now: datetime) -> bool:
    """Tell whether the interval is over; a clock that was set back does not stop anything."""
    return not timedelta(0) <= now - last < interval
