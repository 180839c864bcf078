"""Bounds how many sandbox evaluations run at a time on this host, over all server processes of its user."""

import fcntl
import os
import stat
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

_POLL_SECONDS: Final = 0.005


class SlotsBusyError(Exception):
    """No slot became free in time."""


@contextmanager
def host_slot(*, count: int, wait_seconds: float) -> Iterator[None]:
    """Hold one of the host's `count` slots, waiting up to `wait_seconds` for it.

    Raises SlotsBusyError when none becomes free, OSError when the runtime directory cannot be trusted.
    """
    deadline = time.monotonic() + wait_seconds
    # Threads of one process queue here for nothing; only the first `count` of them look at the files.
    semaphore = _local.semaphore(count)
    if not semaphore.acquire(timeout=wait_seconds):
        raise SlotsBusyError
    try:
        descriptor = _lock_one(count, deadline)
        try:
            yield
        finally:
            # Unlocked explicitly: a process forked meanwhile would hold the lock with its copy of the descriptor.
            fcntl.flock(descriptor, fcntl.LOCK_UN)
            os.close(descriptor)
    finally:
        semaphore.release()


def forget() -> None:
    """Start anew in a forked process, whose copies of the semaphores nobody will release."""
    _local.clear()


def runtime_directory() -> Path:
    """Return the private directory of the slot files, made when missing. Raises OSError when it is not private."""
    path = Path(tempfile.gettempdir()) / f"switchboard-sandbox-{os.geteuid()}"
    path.mkdir(mode=0o700, exist_ok=True)
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o077:
        raise PermissionError(f"{path} is not a private directory of this user")
    return path


class _Semaphores:
    """One semaphore a slot count, for the threads of this process."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self._lock = threading.Lock()
        self._by_count: dict[int, threading.Semaphore] = {}

    def semaphore(self, count: int) -> threading.Semaphore:
        with self._lock:
            return self._by_count.setdefault(count, threading.Semaphore(count))


_local = _Semaphores()


def _lock_one(count: int, deadline: float) -> int:
    """Return the descriptor of a slot file that this process has locked."""
    directory = runtime_directory()
    while True:
        for number in range(count):
            descriptor = _try_lock(directory / f"slot-{number}")
            if descriptor is not None:
                return descriptor
        if time.monotonic() >= deadline:
            raise SlotsBusyError
        time.sleep(_POLL_SECONDS)


def _try_lock(path: Path) -> int | None:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    except OSError:
        os.close(descriptor)
        raise
    return descriptor
