"""Perform one call: resolve, check, dial the checked address, write the request once, read a bounded answer."""

import http.client
import io
import os
import re
import socket
import ssl
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, cast

from django.conf import settings
from django.views.decorators.debug import sensitive_variables

from switchboard.outbound.addresses import IPAddress, read_private_hosts
from switchboard.outbound.deadline import Deadline
from switchboard.outbound.messages import Answer, Call, MaybeSent, NotSent, Refused
from switchboard.outbound.resolve import checked_addresses
from switchboard.outbound.target import Target, read_target

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

DEADLINE_SECONDS = 10.0
BODY_BYTES = 64 * 1024
ADDRESSES_TRIED = 4
# What an answer may take on the wire beside its body: headers, chunk sizes, trailers.
OVERHEAD_BYTES = 256 * 1024

METHOD = re.compile(r"[A-Z]+")
HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
HEADER_VALUE = re.compile(r"[!-~](?:[ -~]*[!-~])?")
OWN_HEADERS = {
    "host",
    "content-length",
    "connection",
    "accept-encoding",
    "user-agent",
    "transfer-encoding",
    "expect",
    "upgrade",
    "te",
    "trailer",
}


@dataclass(frozen=True, repr=False)
class _Request:
    """The bytes of a request: a credential among them shows in no `repr`, so in no report of a failure."""

    wire: bytes


@sensitive_variables()
def perform(
    call: Call,
    *,
    deadline_seconds: float = DEADLINE_SECONDS,
    max_body_bytes: int = BODY_BYTES,
    trust: ssl.SSLContext | None = None,
) -> Answer:
    """Send the call once and return its answer, whatever its status: a redirect is an answer like any other.

    `deadline_seconds` covers resolving, connecting, the TLS handshake, writing and reading together. A body longer than
    `max_body_bytes` is cut and the answer marked `truncated`. `trust` replaces the system's certificate authorities
    (which are OpenSSL's: SSL_CERT_FILE and SSL_CERT_DIR name others). Private addresses and plain http are as
    SWITCHBOARD_PRIVATE_HOSTS and SWITCHBOARD_ALLOW_HTTP say. Proxy variables have no meaning here.

    Raises NotSent (Refused, when policy forbids the call) or MaybeSent. SPEC-0028 REQ-7, REQ-8.
    """
    target = read_target(call.url)
    if target.scheme != "https" and not settings.SWITCHBOARD_ALLOW_HTTP:
        raise Refused("plain_http")
    request = _written_out(call, target)
    deadline = Deadline.after(deadline_seconds)
    addresses = checked_addresses(target, read_private_hosts(settings.SWITCHBOARD_PRIVATE_HOSTS), deadline)
    with closing(_connect(addresses, target, deadline, trust)) as connected:
        return _exchange(_Channel(connected, deadline, max_body_bytes + OVERHEAD_BYTES), request, call, max_body_bytes)


@sensitive_variables()
def _written_out(call: Call, target: Target) -> _Request:
    headers = {
        "Host": target.authority,
        "User-Agent": "Switchboard",
        "Accept-Encoding": "identity",
        "Connection": "close",
        **_checked_headers(call),
    }
    if call.body or call.method not in {"GET", "HEAD"}:
        headers["Content-Length"] = str(len(call.body))
    lines = [f"{call.method} {target.path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    return _Request("\r\n".join([*lines, "", ""]).encode("ascii") + call.body)


@sensitive_variables()
def _checked_headers(call: Call) -> dict[str, str]:
    """Return the call's headers; the refusal names none of them, since a bad one may be a credential with a newline."""
    well_formed = METHOD.fullmatch(call.method) and all(
        HEADER_NAME.fullmatch(name) and HEADER_VALUE.fullmatch(value) and name.lower() not in OWN_HEADERS
        for name, value in call.headers.items()
    )
    if not well_formed:
        raise Refused("invalid_request")
    return dict(call.headers)


def _connect(
    addresses: Sequence[IPAddress], target: Target, deadline: Deadline, trust: ssl.SSLContext | None
) -> socket.socket:
    """Return a socket that speaks to one of the addresses, over TLS as the target's name when that is asked for."""
    connected = _dial(addresses[:ADDRESSES_TRIED], target.port, deadline)
    if target.scheme == "http":
        return connected
    try:
        context = trust or _system_trust(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))
        connected.settimeout(deadline.left())
        # The handshake as a whole ends with this timeout; the socket is closed when it fails.
        return context.wrap_socket(connected, server_hostname=target.host)
    except TimeoutError:
        reason = "tls_timeout"
    except ssl.SSLCertVerificationError:
        reason = "certificate_refused"
    except OSError:
        reason = "tls_failed"
    connected.close()
    raise NotSent(reason)


@cache
def _system_trust(cert_file: str | None, cert_dir: str | None) -> ssl.SSLContext:  # noqa: ARG001 - OpenSSL reads both
    """Return the system's certificate authorities, read once (some 40 ms) for each setting of the two variables."""
    return ssl.create_default_context()


def _dial(addresses: Sequence[IPAddress], port: int, deadline: Deadline) -> socket.socket:
    """Connect to the first address that answers; each gets its share of the time left."""
    reason = "connect_failed"
    for position, address in enumerate(addresses):
        try:
            return _connected(address, port, deadline.left() / (len(addresses) - position))
        except TimeoutError:
            reason = "connect_timeout"
        except OSError:
            reason = "connect_failed"
    raise NotSent(reason)


def _connected(address: IPAddress, port: int, seconds: float) -> socket.socket:
    """Return a connected socket; raise OSError, also where there are no more sockets or none of the family."""
    dialled = socket.socket(socket.AF_INET if address.version == 4 else socket.AF_INET6, socket.SOCK_STREAM)
    try:
        dialled.settimeout(seconds)
        dialled.connect((str(address), port))
    except OSError:
        dialled.close()
        raise
    return dialled


@sensitive_variables()
def _exchange(channel: "_Channel", request: _Request, call: Call, max_body_bytes: int) -> Answer:
    """Write and read. From here on the request may have left; the causes are dropped: they may quote the answer."""
    try:
        channel.write_all(request)
        return _read_answer(channel, call.method, max_body_bytes)
    except TimeoutError:
        reason = "answer_timeout"
    except OSError:
        reason = "connection_lost"
    except (http.client.HTTPException, ValueError):
        reason = "malformed_answer"
    raise MaybeSent(reason)


def _read_answer(channel: "_Channel", method: str, max_body_bytes: int) -> Answer:
    response = http.client.HTTPResponse(cast("socket.socket", channel), method=method)
    response.begin()
    # A connection that ends among the headers looks like their end to the parser.
    if channel.ended or response.msg.defects or response.status < 200:
        raise MaybeSent("malformed_answer")
    body = response.read(max_body_bytes + 1)
    truncated = len(body) > max_body_bytes
    if response.length and not truncated:
        raise MaybeSent("connection_lost")
    headers = {name.lower(): ", ".join(response.msg.get_all(name, [])) for name in response.msg}
    return Answer(response.status, headers, body[:max_body_bytes], truncated)


class _Channel(io.RawIOBase):
    """A connected socket as the answer's parser wants one, where every read and write ends at the deadline."""

    def __init__(self, connected: socket.socket, deadline: Deadline, max_bytes: int) -> None:
        self._connected = connected
        self._deadline = deadline
        self._bytes_left = max_bytes
        self.ended = False

    @sensitive_variables()
    def write_all(self, request: _Request) -> None:
        rest = memoryview(request.wire)
        while rest:
            self._connected.settimeout(self._deadline.left())
            rest = rest[self._connected.send(rest) :]

    def makefile(self, _mode: str) -> io.BufferedReader:
        return io.BufferedReader(self)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        self._connected.settimeout(self._deadline.left())
        count = self._connected.recv_into(buffer)
        self._bytes_left -= count
        self.ended = count == 0
        if self._bytes_left < 0:
            raise ValueError("the answer takes too many bytes")
        return count
