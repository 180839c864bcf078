"""Keeps a few prepared sandbox processes between deliveries, each for one webhook's rules and no other's."""

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from routing.sandbox.process import SandboxProcess


class Key(NamedTuple):
    """Whose process it is, and the digest of everything it has prepared."""

    owner: str
    digest: str


class _Idle(NamedTuple):
    key: Key
    process: SandboxProcess
    since: float


class Pool:
    """Idle processes, the longest idle first; several may have prepared the same. Safe for threads.

    A process is either here or with one caller of `take`, who gives it back or closes it.
    """

    def __init__(self, *, capacity: int, idle_seconds: float) -> None:
        self._capacity = capacity
        self._idle_seconds = idle_seconds
        self._lock = threading.Lock()
        self._idle: list[_Idle] = []
        self._timer: threading.Timer | None = None

    def take(self, key: Key) -> SandboxProcess | None:
        """Return a process that has prepared exactly this, or None; processes of the owner's other rules end."""
        with self._lock:
            outdated = self._remove(lambda idle: idle.key.owner == key.owner and idle.key.digest != key.digest)
            ended = self._remove(lambda idle: idle.key == key and idle.process.has_ended())
            found = next((idle for idle in reversed(self._idle) if idle.key == key), None)
            if found is not None:
                self._idle.remove(found)
        _close([*outdated, *ended])
        return found.process if found is not None else None

    def give_back(self, key: Key, process: SandboxProcess) -> None:
        """Keep the process for the owner's next delivery, at the cost of the longest idle one."""
        with self._lock:
            self._idle.append(_Idle(key, process, time.monotonic()))
            surplus = self._idle[: -self._capacity]
            del self._idle[: -self._capacity]
            self._start_timer()
        _close(surplus)

    def close_expired(self) -> None:
        """End the processes that nobody asked for in `idle_seconds`."""
        limit = time.monotonic() - self._idle_seconds
        with self._lock:
            expired = self._remove(lambda idle: idle.since <= limit)
            self._timer = None
            if self._idle:
                self._start_timer()
        _close(expired)

    def close_all(self) -> None:
        """End every idle process."""
        with self._lock:
            idle = self._remove(lambda _: True)
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
        _close(idle)

    def _remove(self, is_wanted: Callable[[_Idle], bool]) -> list[_Idle]:
        removed = [idle for idle in self._idle if is_wanted(idle)]
        self._idle = [idle for idle in self._idle if not is_wanted(idle)]
        return removed

    def _start_timer(self) -> None:
        if self._timer is None:
            timer = threading.Timer(self._idle_seconds, self.close_expired)
            timer.daemon = True
            # An interpreter on its way out starts no thread; the processes end with it.
            with suppress(RuntimeError):
                timer.start()
                self._timer = timer


def _close(idle: list[_Idle]) -> None:
    for each in idle:
        each.process.close()
