"""One open stream as the rest of its process sees it: the queues that it hears, and a short queue of bells for it."""

import asyncio
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Self
from uuid import UUID

from switchboard.accounts.models import Endpoint
from switchboard.todos.doorbell import Doorbell, doorbell_of
from switchboard.todos.models import Todo

# A client that does not read loses the oldest bells first: they are hints, and claim_next finds every todo.
MOST_WAITING_BELLS = 100


@dataclass(frozen=True)
class Bell:
    """One ring of one todo; `key` tells it from every other ring."""

    key: tuple[UUID, datetime]
    doorbell: Doorbell

    @classmethod
    def of(cls, todo: Todo) -> Self:
        """Return the present bell of a todo read with its event."""
        return cls((todo.pk, todo.rung_at), doorbell_of(todo))


class Listener:
    """Takes bells from any thread, whatever its client does, and hands them to the stream in the running loop."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.queues: tuple[str, ...] = tuple(endpoint.scope_queues)
        self.ended = False
        self._bells: deque[Bell] = deque(maxlen=MOST_WAITING_BELLS)
        self._changed = asyncio.Event()
        self._loop = asyncio.get_running_loop()

    def hears(self, queue: str) -> bool:
        """Return whether the endpoint's todos in that queue ring here."""
        return queue in self.queues

    def ring(self, bell: Bell) -> None:
        """Leave a bell for the stream."""
        self._bells.append(bell)
        self._wake()

    def end(self) -> None:
        """Let the stream end."""
        self.ended = True
        self._wake()

    async def next_bell(self, *, within: float) -> Bell | None:
        """Return the next bell; None when there is none within so many seconds, or when the stream is to end."""
        self._changed.clear()
        if not self._bells and not self.ended:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), max(within, 0.0))
        return self._bells.popleft() if self._bells and not self.ended else None

    def _wake(self) -> None:
        with suppress(RuntimeError):  # the loop has ended, and the stream with it
            self._loop.call_soon_threadsafe(self._changed.set)
