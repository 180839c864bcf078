"""A stand-in for a provider: a real local HTTP server, over TLS or plain, that answers or misbehaves as it is told.

```python
with stand_in() as provider:
    provider.on("/api/chat.postMessage", Respond(200, body=b'{"ok": true}'))
    provider.next(Respond(429, {"Retry-After": "3"}), Fault.RESET)
    ...  # calls to provider.url + "/api/chat.postMessage", verified with provider.trust
    assert [seen.path for seen in provider.requests] == [...]
```

For every request the queue of `next` comes first, whatever the path, then what `on` says of the path: its behaviours
in turn, the last one again and again. Everything else is answered 404. The code under test needs the certificate
authority: pass `provider.trust` to `perform`, or give a process SSL_CERT_FILE after `write_authority(path)`. Loopback
is private, so set SWITCHBOARD_PRIVATE_HOSTS to "127.0.0.0/8" as well (and SWITCHBOARD_ALLOW_HTTP for `tls=False`).
"""

import enum
import socket
import ssl
import struct
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from http import HTTPStatus
from pathlib import Path
from typing import Any

import trustme

NAMES = ("localhost", "127.0.0.1", "::1", "git.example.net", "xn--bcher-kva.example")
LONGEST_SILENCE_SECONDS = 60.0
DRIP_SECONDS = 0.1
HUGE_BYTES = 50_000_000
MAX_HEAD_BYTES = 64 * 1024


@dataclass(frozen=True)
class Respond:
    """A good answer; Content-Length is added unless the headers bring one or a Transfer-Encoding."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    delay_seconds: float = 0.0


def redirect(location: str, status: int = 302) -> Respond:
    """Return the answer that sends the caller elsewhere."""
    return Respond(status, {"Location": location})


@dataclass(frozen=True)
class Raw:
    """Exactly these bytes after the request was read, then the end of the connection."""

    content: bytes


class Fault(enum.Enum):
    """What can go wrong. The first two happen before a request is read, so only `next` and path None can name them."""

    SILENT_HANDSHAKE = "accepts the connection, never answers the TLS handshake (or, without TLS, anything)"
    HANG_UNREAD = "finishes the handshake, reads nothing"
    HANG = "reads the request, never answers"
    CLOSE = "reads the request, closes the connection"
    RESET = "reads the request, resets the connection"
    HALF_HEADER = "closes the connection in the middle of a header line"
    DRIP_HEADERS = "sends a header line a byte at a time"
    DRIP_BODY = "sends a promised body a byte at a time"
    SHORT_BODY = "promises 100 bytes and sends 3"
    RUBBISH = "answers something that is not HTTP"
    HUGE = "sends 50 MB of body"


Behaviour = Respond | Raw | Fault
BEFORE_THE_REQUEST = (Fault.SILENT_HANDSHAKE, Fault.HANG_UNREAD)
CONTENTS: Mapping[Fault, bytes] = {
    Fault.CLOSE: b"",
    Fault.HALF_HEADER: b"HTTP/1.1 200 OK\r\nX-Half: va",
    Fault.SHORT_BODY: b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc",
    Fault.RUBBISH: b"\x00\xffthis is not HTTP\r\n\r\n",
}


class Certificate(enum.Enum):
    """Which certificate the server shows."""

    GOOD = "good"
    WRONG_NAME = "wrong name"
    EXPIRED = "expired"


@dataclass(frozen=True)
class SeenRequest:
    """A request that arrived whole; header names in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


@cache
def authority() -> trustme.CA:
    """Return the one certificate authority of this process."""
    return trustme.CA()


class StandIn:
    """A running stand-in. `requests`, `connections`, `server_names` and `bytes_sent` say what it saw and did."""

    def __init__(self, listener: socket.socket, context: ssl.SSLContext | None) -> None:
        self._listener = listener
        self._context = context
        self._queue: deque[Behaviour] = deque()
        self._paths: dict[str | None, deque[Behaviour]] = {}
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self.requests: list[SeenRequest] = []
        self.connections = 0
        self.server_names: list[str | None] = []
        self.bytes_sent = 0
        if context:
            context.sni_callback = lambda _socket, name, _context: self.server_names.append(name)

    @property
    def port(self) -> int:
        """The port that the server listens on."""
        return int(self._listener.getsockname()[1])

    @property
    def url(self) -> str:
        """The base URL without a final slash."""
        return self.url_for(self._listener.getsockname()[0])

    def url_for(self, host: str) -> str:
        """Return the base URL under another name that resolves to this server."""
        shown = f"[{host}]" if ":" in host else host
        return f"{'https' if self._context else 'http'}://{shown}:{self.port}"

    @property
    def trust(self) -> ssl.SSLContext:
        """A client's context that trusts the stand-in's certificate authority and no other."""
        return ssl.create_default_context(cadata=authority().cert_pem.bytes().decode())

    def next(self, *behaviours: Behaviour) -> None:
        """Add behaviours for the next requests, whatever their path."""
        with self._lock:
            self._queue.extend(behaviours)

    def on(self, path: str | None, *behaviours: Behaviour) -> None:
        """Set the behaviours of a path (with its query), or with None of every other path."""
        with self._lock:
            self._paths[path] = deque(behaviours)

    def serve(self) -> None:
        """Accept connections until `close`, each in a thread of its own."""
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._serve_one, args=(connection,), daemon=True).start()

    def close(self) -> None:
        """Stop accepting, and end every silence."""
        self._closing.set()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _serve_one(self, connection: socket.socket) -> None:
        with suppress(OSError, _Gone):
            connection.settimeout(LONGEST_SILENCE_SECONDS)
            before = self._before_the_request()
            if before is not Fault.SILENT_HANDSHAKE and self._context:
                connection = self._context.wrap_socket(connection, server_side=True)
            if before:
                self._closing.wait(LONGEST_SILENCE_SECONDS)
            else:
                seen = _read_request(connection)
                self.requests.append(seen)
                self._act(connection, self._behaviour(seen.path))
        connection.close()

    def _before_the_request(self) -> Behaviour | None:
        with self._lock:
            for waiting in (self._queue, self._paths.get(None, deque())):
                if waiting:
                    return _take(waiting, keep_last=waiting is not self._queue, among=BEFORE_THE_REQUEST)
        return None

    def _behaviour(self, path: str) -> Behaviour:
        with self._lock:
            if self._queue:
                return self._queue.popleft()
            waiting = self._paths.get(path) or self._paths.get(None)
            return (waiting and _take(waiting, keep_last=True)) or Respond(404)

    def _act(self, connection: socket.socket, behaviour: Behaviour) -> None:
        if isinstance(behaviour, Respond):
            self._closing.wait(behaviour.delay_seconds)
            self._send(connection, _answer_bytes(behaviour))
        elif isinstance(behaviour, Raw):
            self._send(connection, behaviour.content)
        elif behaviour in CONTENTS:
            self._send(connection, CONTENTS[behaviour])
        else:
            actions: dict[Fault, Callable[[socket.socket], None]] = {
                Fault.HANG: lambda _connection: self._wait(LONGEST_SILENCE_SECONDS),
                Fault.RESET: _reset,
                Fault.DRIP_HEADERS: lambda it: self._drip(it, b"HTTP/1.1 200 OK\r\nX-Slow: "),
                Fault.DRIP_BODY: lambda it: self._drip(it, b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n"),
                Fault.HUGE: self._send_huge,
            }
            actions[behaviour](connection)

    def _wait(self, seconds: float) -> None:
        self._closing.wait(seconds)

    def _drip(self, connection: socket.socket, start: bytes) -> None:
        self._send(connection, start)
        for _ in range(int(LONGEST_SILENCE_SECONDS / DRIP_SECONDS)):
            if self._closing.wait(DRIP_SECONDS):
                return
            self._send(connection, b"a")

    def _send_huge(self, connection: socket.socket) -> None:
        self._send(connection, b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % HUGE_BYTES)
        for _ in range(HUGE_BYTES // 50_000):
            self._send(connection, b"a" * 50_000)

    def _send(self, connection: socket.socket, content: bytes) -> None:
        connection.sendall(content)
        self.bytes_sent += len(content)


class _Gone(Exception):
    """The caller went away before its request was whole."""


@contextmanager
def stand_in(
    *, tls: bool = True, certificate: Certificate = Certificate.GOOD, address: str = "127.0.0.1"
) -> Iterator[StandIn]:
    """Yield a running stand-in on a free port of the loopback address."""
    listener = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
    listener.bind((address, 0))
    listener.listen(64)
    server = StandIn(listener, _server_context(certificate) if tls else None)
    threading.Thread(target=server.serve, name="stand-in", daemon=True).start()
    try:
        yield server
    finally:
        server.close()


def write_authority(path: Path) -> Path:
    """Write the certificate authority as PEM, for the SSL_CERT_FILE of another process; returns the path."""
    path.write_bytes(authority().cert_pem.bytes())
    return path


def _server_context(certificate: Certificate) -> ssl.SSLContext:
    names = ("other.example.net",) if certificate is Certificate.WRONG_NAME else NAMES
    until = datetime.now(UTC) - timedelta(days=1) if certificate is Certificate.EXPIRED else None
    since = until - timedelta(days=30) if until else None
    dates: dict[str, Any] = {"not_after": until, "not_before": since} if until else {}
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority().issue_cert(*names, **dates).configure_cert(context)
    return context


def _take(
    waiting: deque[Behaviour], *, keep_last: bool, among: tuple[Behaviour, ...] | None = None
) -> Behaviour | None:
    """Return the first behaviour when it is `among` those asked for, and remove it unless it is a kept last one."""
    if not waiting or (among is not None and waiting[0] not in among):
        return None
    return waiting[0] if keep_last and len(waiting) == 1 else waiting.popleft()


def _read_request(connection: socket.socket) -> SeenRequest:
    received = b""
    while b"\r\n\r\n" not in received:
        received += _receive(connection)
        if len(received) > MAX_HEAD_BYTES:
            raise _Gone
    head, _, body = received.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    while len(body) < int(headers.get("content-length", "0")):
        body += _receive(connection)
    method, path, _ = first.split(" ")
    return SeenRequest(method, path, headers, body)


def _receive(connection: socket.socket) -> bytes:
    content = connection.recv(64 * 1024)
    if not content:
        raise _Gone
    return content


def _answer_bytes(answer: Respond) -> bytes:
    headers = dict(answer.headers)
    if not {"content-length", "transfer-encoding"} & {name.lower() for name in headers}:
        headers["Content-Length"] = str(len(answer.body))
    reason = HTTPStatus(answer.status).phrase
    lines = [f"HTTP/1.1 {answer.status} {reason}", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + answer.body


def _reset(connection: socket.socket) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    socket.socket.close(connection)
