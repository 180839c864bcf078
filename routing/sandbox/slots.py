"""Bounds how many sandbox evaluations run at a time on this host, over all server processes of its user."""

import fcntl
import hashlib
import os
import stat
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

_POLL_SECONDS: Final = 0.005
_TENANT_FILES: Final = 1024


class SlotsBusyError(Exception):
    """No slot became free in time."""


@contextmanager
def tenants_slot(tenant: str, *, count: int, wait_seconds: float) -> Iterator[None]:
    """Hold one of the host's `count` slots, and the tenant's only turn, waiting up to `wait_seconds` for both.

    However many costly deliveries a tenant gets, they wait for each other and leave the other slots to the others.
    Raises SlotsBusyError when there is none in time, OSError when the runtime directory cannot be trusted.
    """
    deadline = time.monotonic() + wait_seconds
    bucket = f"tenant-{int.from_bytes(hashlib.sha256(tenant.encode()).digest()[:2], 'big') % _TENANT_FILES}"
    turn = _local.turn(bucket)
    if not turn.acquire(timeout=wait_seconds):
        raise SlotsBusyError
    try:
        with _locked([bucket], deadline), host_slot(count=count, wait_seconds=max(0.0, deadline - time.monotonic())):
            yield
    finally:
        turn.release()


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
        with _locked([f"slot-{number}" for number in range(count)], deadline):
            yield
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
    """One semaphore a slot count, and one turn a tenant, for the threads of this process."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self._lock = threading.Lock()
        self._by_count: dict[int, threading.Semaphore] = {}
        self._turns: dict[str, threading.Lock] = {}

    def semaphore(self, count: int) -> threading.Semaphore:
        with self._lock:
            return self._by_count.setdefault(count, threading.Semaphore(count))

    def turn(self, bucket: str) -> threading.Lock:
        with self._lock:
            return self._turns.setdefault(bucket, threading.Lock())


_local = _Semaphores()


@contextmanager
def _locked(names: Sequence[str], deadline: float) -> Iterator[None]:
    """Hold the lock of one of these files."""
    descriptor = _lock_one(names, deadline)
    try:
        yield
    finally:
        # Unlocked explicitly: a process forked meanwhile would hold the lock with its copy of the descriptor.
        fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)


def _lock_one(names: Sequence[str], deadline: float) -> int:
    """Return the descriptor of the file that this process has locked."""
    directory = runtime_directory()
    while True:
        for name in names:
            descriptor = _try_lock(directory / name)
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
