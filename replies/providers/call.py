"""What the providers build and read: a call, its answer, and what the answer means; none of them shows a secret."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal, TypeAlias
from urllib.parse import quote, urlsplit

from switchboard.sealing import Secret

_HEADER_SAFE = re.compile(r"[\x21-\x7e]+")


class ErrorClass(StrEnum):
    """Why a call did not succeed, in words that every provider shares (SPEC-0028 REQ-6)."""

    AUTH = "auth"
    NOT_FOUND = "not_found"
    FORBIDDEN = "forbidden"
    RATE_LIMITED = "rate_limited"
    INVALID = "invalid"
    SERVER = "server"
    NETWORK = "network"


class UnusableSecret(ValueError):
    """The secret cannot stand in a header; the message does not quote it."""


@dataclass(frozen=True, repr=False)
class ProviderCall:
    """One request, ready to be sent: `url` absolute, `headers` without those that belong to the dialler."""

    method: Literal["GET", "POST"]
    url: str
    headers: Mapping[str, str]
    body: bytes = b""

    def __repr__(self) -> str:
        """Name no header's value, no text, and no path: an artifact's id gives access to it."""
        return f"ProviderCall({self.method} to {urlsplit(self.url).netloc}, headers {sorted(self.headers)})"


@dataclass(frozen=True)
class ProviderAnswer:
    """What the provider answered; header names are lower case, `body` is at most what the dialler read."""

    status: int
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)

    @property
    def succeeded(self) -> bool:
        """Whether the status is a 2xx."""
        return 200 <= self.status < 300


@dataclass(frozen=True)
class Identity:
    """Who the credential is, as far as the answer says.

    `login`: the forge's login, Slack's user id, Cairn's actor id; `bot_id`: Slack's; `account`: Slack's team.
    """

    login: str | None = None
    bot_id: str | None = None
    account: str | None = None


@dataclass(frozen=True)
class Posted:
    """The reply stands: its id, spelt as webhooks spell it, its page if the provider named one, and its author."""

    object_id: str
    permalink: str | None
    identity: Identity = Identity()


@dataclass(frozen=True)
class Failed:
    """The provider refused; `code` is its own word or `http_<status>`, `retry_after` seconds if it named any."""

    error_class: ErrorClass
    code: str
    retry_after: int | None = None


@dataclass(frozen=True)
class Unclear:
    """The reply may stand or not: recorded as unknown, and never sent again by itself (REQ-8)."""

    error_class: ErrorClass
    code: str


Outcome: TypeAlias = Posted | Failed | Unclear


@dataclass(frozen=True)
class TextLimit:
    """The longest text that a provider documents to take."""

    amount: int
    unit: Literal["bytes", "characters"]

    def admits(self, text: str) -> bool:
        """Tell whether `text` is within the limit."""
        return (len(text.encode()) if self.unit == "bytes" else len(text)) <= self.amount


def authorization(scheme: str, secret: Secret) -> str:
    """Return the Authorization header; raise UnusableSecret unless the secret is printable ASCII without spaces."""
    plain = secret.reveal()
    if not _HEADER_SAFE.fullmatch(plain):
        raise UnusableSecret("The secret holds characters that no token has, or is empty; enter it again.")
    return f"{scheme} {plain}"


def json_body(value: Mapping[str, str]) -> bytes:
    """Return compact UTF-8 JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def joined_url(base: str, *parts: str | int) -> str:
    """Return `base` followed by the parts, each escaped as one path component."""
    return "/".join((base, *(quote(str(part), safe="") for part in parts)))
