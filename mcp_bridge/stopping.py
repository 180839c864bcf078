"""Tell whoever waits in this process that it was asked to stop, whichever server runs it.

On SIGTERM a server lets open requests finish for as long as half a minute; an endless stream has to hear of it.
"""

import asyncio
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from types import FrameType

_waiting: set[Callable[[], object]] = set()
_asked_to_stop = threading.Event()


@contextmanager
def when_stopped(act: Callable[[], object]) -> Iterator[None]:
    """Within the block, call `act` in the running loop when the process gets SIGTERM, or has got it before.

    Signals belong to the main thread: in the loop of another one `act` is never called.
    """
    if threading.current_thread() is threading.main_thread():
        _listen_for_signal()
    if _asked_to_stop.is_set():
        act()
    ring = partial(asyncio.get_running_loop().call_soon_threadsafe, act)
    _waiting.add(ring)
    try:
        yield
    finally:
        _waiting.discard(ring)


@cache
def _listen_for_signal() -> None:
    """Stand before the handler that the server has installed; it still does what it did."""
    former = signal.getsignal(signal.SIGTERM)

    def ring_all(number: int, frame: FrameType | None) -> None:
        _asked_to_stop.set()
        for ring in tuple(_waiting):
            ring()
        if callable(former):
            former(number, frame)
        elif former is signal.SIG_DFL:
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)

    signal.signal(signal.SIGTERM, ring_all)
