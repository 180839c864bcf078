"""The open streams of this process, and the one thread that listens and polls for all of them while there are any."""

import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from uuid import UUID

import structlog
from django.db import close_old_connections
from django.utils import timezone

from mcp_bridge.listener import Listener
from mcp_bridge.watch import POLL, Listeners, Watch
from switchboard.accounts.models import Endpoint
from switchboard.broadcast import subscribe
from switchboard.todos.rings import WAITS

log = structlog.get_logger(__name__)
TURN_SECONDS = POLL.total_seconds() / 4
AFTER_A_FAILURE_SECONDS = 1.0


class Hub:
    """Whom to ring in this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._listeners: dict[UUID, list[Listener]] = {}
        self._rung_on_opening: dict[UUID, float] = {}
        self._thread: threading.Thread | None = None

    @contextmanager
    def listening(self, endpoint: Endpoint) -> Iterator[Listener]:
        """Yield a listener of the running loop that hears the endpoint's bells within the block."""
        listener = Listener(endpoint)
        self._join(endpoint.pk, listener)
        try:
            yield listener
        finally:
            self._leave(endpoint.pk, listener)

    def note_opening(self, todo_ids: Iterable[UUID]) -> None:
        """Remember that a stream which opened has rung these todos: they are not overdue."""
        with self._lock:
            self._rung_on_opening.update(dict.fromkeys(todo_ids, time.monotonic()))

    def _join(self, endpoint_id: UUID, listener: Listener) -> None:
        with self._lock:
            self._listeners.setdefault(endpoint_id, []).append(listener)
            if self._thread is None:
                self._thread = threading.Thread(target=self._watch, name="doorbells", daemon=True)
                self._thread.start()

    def _leave(self, endpoint_id: UUID, listener: Listener) -> None:
        with self._lock:
            self._listeners[endpoint_id].remove(listener)
            if not self._listeners[endpoint_id]:
                del self._listeners[endpoint_id]

    def _watch(self) -> None:
        """Take turns until nobody listens any more; no database connection is held between two turns."""
        watch = Watch(now=timezone.now())
        with closing(subscribe()) as subscription:
            while True:
                messages = subscription.read(seconds=TURN_SECONDS)
                listeners, rung_on_opening = self._present()
                if not listeners:
                    return
                try:
                    watch.take_turn(
                        listeners,
                        messages,
                        now=timezone.now(),
                        news_arrive=subscription.hears_every_process,
                        rung_on_opening=rung_on_opening,
                    )
                except Exception:
                    log.exception("doorbell.turn_failed")
                    time.sleep(AFTER_A_FAILURE_SECONDS)
                finally:
                    close_old_connections()

    def _present(self) -> tuple[Listeners, set[UUID]]:
        """Return who listens now and what was rung on opening lately; when nobody does, the thread has ended."""
        forgotten = time.monotonic() - WAITS[0].total_seconds()
        with self._lock:
            if not self._listeners:
                self._thread = None
            self._rung_on_opening = {pk: at for pk, at in self._rung_on_opening.items() if at > forgotten}
            listeners = {endpoint_id: tuple(listening) for endpoint_id, listening in self._listeners.items()}
            return listeners, set(self._rung_on_opening)


HUB = Hub()
