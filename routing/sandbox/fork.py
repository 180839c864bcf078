"""Runs a piece of work in a fork that may die without harm, bounded in CPU time; standard library only."""

import os
import resource
import signal
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

_PIPE_CAPACITY = 65_536


@dataclass(frozen=True)
class Ended:
    """What became of a fork: what it wrote, how it ended, the CPU seconds it used."""

    written: bytes
    finished: bool
    out_of_cpu: bool
    cpu_seconds: float


def arm(seconds: float) -> None:
    """Let the calling process be killed once it has used this much more CPU time, user and system."""
    signal.setitimer(signal.ITIMER_PROF, seconds)


def run_in_fork(work: Callable[[int], None]) -> Ended:
    """Call `work(descriptor)` in a fork and wait for its end.

    The work may write up to a pipe's capacity (64 KiB) to the descriptor; nobody reads before the end.
    """
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        _work_and_exit(work, writer)
    os.close(writer)
    try:
        _, status, usage = os.wait4(pid, 0)
        written = os.read(reader, _PIPE_CAPACITY)
    finally:
        os.close(reader)
    out_of_cpu = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGPROF
    return Ended(written, status == 0, out_of_cpu, usage.ru_utime + usage.ru_stime)


def _work_and_exit(work: Callable[[int], None], writer: int) -> NoReturn:
    status = 1
    try:
        os.close(0)  # the server's channel belongs to the process that forked
        resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
        work(writer)
        status = 0
    finally:
        os._exit(status)
