"""Eight producers that post as fast as they are answered, over kept connections, from two processes."""

import multiprocessing
import socket
import statistics
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO
from uuid import uuid4


@dataclass(frozen=True)
class Load:
    """Where and what to post: `headers` are the request's own, the delivery id is added to each request."""

    host: str
    port: int
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True)
class Figures:
    """Deliveries per second, the median and 99th percentile of an answer's time, and CPU time by program, in ms."""

    rate: float
    p50: float
    p99: float
    cpu: Mapping[str, float] = field(default_factory=dict)


def measure(load: Load, *, seconds: float, senders: int = 8, processes: int = 2) -> Figures:
    """Post for `seconds` and return the figures; an answer other than 202 raises RuntimeError."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(processes) as pool:
        shares = [senders // processes + (number < senders % processes) for number in range(processes)]
        runs = pool.starmap(_send_from_threads, [(load, seconds, share) for share in shares if share])
    times = sorted(taken for run in runs for taken in run)
    return Figures(len(times) / seconds, statistics.median(times) * 1000, times[int(len(times) * 0.99)] * 1000)


def _send_from_threads(load: Load, seconds: float, count: int) -> list[float]:
    times: list[list[float]] = [[] for _ in range(count)]
    errors: list[Exception] = []

    def run(mine: list[float]) -> None:
        try:
            _send(load, seconds, mine)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(mine,)) for mine in times]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise RuntimeError(f"a sender failed: {errors[0]!r}")
    return [taken for mine in times for taken in mine]


def _send(load: Load, seconds: float, times: list[float]) -> None:
    head = _head(load)
    connection = socket.create_connection((load.host, load.port))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    reader = connection.makefile("rb")
    end = time.perf_counter() + seconds
    while (started := time.perf_counter()) < end:
        connection.sendall(head + f"X-GitHub-Delivery: {uuid4()}\r\n\r\n".encode() + load.body)
        status, answer = _read(reader)
        if status != 202:
            raise RuntimeError(f"answered {status}: {answer[:200]!r}")
        times.append(time.perf_counter() - started)
    connection.close()


def _head(load: Load) -> bytes:
    names = {"Host": f"{load.host}:{load.port}", "Content-Length": str(len(load.body)), **load.headers}
    lines: Sequence[str] = [f"POST {load.path} HTTP/1.1", *(f"{name}: {value}" for name, value in names.items()), ""]
    return "\r\n".join(lines).encode()


def _read(reader: IO[bytes]) -> tuple[int, bytes]:
    status = int(reader.readline().split()[1])
    length = 0
    while (line := reader.readline().strip()) != b"":
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    return status, reader.read(length)
