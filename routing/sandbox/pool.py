"""Keeps a few prepared sandbox processes between deliveries, each for one webhook's rules and no other's."""

import threading
import time
from collections import OrderedDict
from contextlib import suppress
from typing import NamedTuple

from routing.sandbox.process import SandboxProcess


class Key(NamedTuple):
    """Whose process it is, and the digest of everything it has prepared."""

    owner: str
    digest: str


class _Idle(NamedTuple):
    process: SandboxProcess
    since: float


class Pool:
    """Idle processes by key, the longest idle first; safe for threads.

    A process is either here or with one caller of `take`, who gives it back or closes it.
    """

    def __init__(self, *, capacity: int, idle_seconds: float) -> None:
        self._capacity = capacity
        self._idle_seconds = idle_seconds
        self._lock = threading.Lock()
        self._idle: OrderedDict[Key, _Idle] = OrderedDict()
        self._timer: threading.Timer | None = None

    def take(self, key: Key) -> SandboxProcess | None:
        """Return a process that has prepared exactly this, or None; processes of the owner's other rules end."""
        with self._lock:
            found = self._idle.pop(key, None)
            outdated = self._pop_outdated(key)
        _close(outdated)
        if found is not None and found.process.has_ended():
            _close([found])
            return None
        return found.process if found is not None else None

    def give_back(self, key: Key, process: SandboxProcess) -> None:
        """Keep the process for the owner's next delivery, at the cost of the longest idle ones."""
        with self._lock:
            surplus = self._pop_outdated(key)
            if key in self._idle:
                surplus.append(self._idle.pop(key))
            self._idle[key] = _Idle(process, time.monotonic())
            while len(self._idle) > self._capacity:
                surplus.append(self._idle.popitem(last=False)[1])
            self._start_timer()
        _close(surplus)

    def close_expired(self) -> None:
        """End the processes that nobody asked for in `idle_seconds`."""
        with self._lock:
            limit = time.monotonic() - self._idle_seconds
            expired = [self._idle.pop(key) for key, idle in list(self._idle.items()) if idle.since <= limit]
            self._timer = None
            if self._idle:
                self._start_timer()
        _close(expired)

    def close_all(self) -> None:
        """End every idle process."""
        with self._lock:
            idle = list(self._idle.values())
            self._idle.clear()
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
        _close(idle)

    def _pop_outdated(self, key: Key) -> list[_Idle]:
        outdated = [other for other in self._idle if other.owner == key.owner and other.digest != key.digest]
        return [self._idle.pop(other) for other in outdated]

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
