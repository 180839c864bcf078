"""What goes through the door and what comes back: a call, an answer, and the two ways to have none."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, repr=False)
class Call:
    """One request. `headers` may hold a credential and `body` a text: neither ever shows in the `repr`.

    Header names and values are printable ASCII. Host, Content-Length, Connection, Accept-Encoding and User-Agent are
    the door's own, and a call that brings one of them is refused.
    """

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""

    def __repr__(self) -> str:
        return f"Call({self.method} {self.url} headers={sorted(self.headers)} body={len(self.body)} bytes)"


@dataclass(frozen=True, repr=False)
class Answer:
    """What the other side said: header names in lower case, and at most the asked-for bytes of its body."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    truncated: bool = False

    def __repr__(self) -> str:
        return f"Answer({self.status} body={len(self.body)} bytes truncated={self.truncated})"


class OutboundError(Exception):
    """There is no answer; `reason` is a slug for logs and rows, never a part of the request or of the answer."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class NotSent(OutboundError):
    """Not one byte of the request left.

    Reasons: `dns_failed`, `dns_timeout`, `connect_failed`, `connect_timeout`, `certificate_refused`, `tls_failed`,
    `tls_timeout`, and those of Refused.
    """


class Refused(NotSent):
    """Our own policy forbids the call: nothing was dialled, and trying again changes nothing.

    Reasons: `invalid_url`, `invalid_host`, `invalid_request`, `plain_http`, `private_address`.
    """


class MaybeSent(OutboundError):
    """The request, or a part of it, may have arrived: what became of it is unknown.

    Reasons: `answer_timeout`, `connection_lost`, `malformed_answer`.
    """
