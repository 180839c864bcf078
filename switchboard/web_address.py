"""Read a web address strictly, and give every host one canonical spelling."""

import re
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv6Address
from typing import Final

import idna

MAX_CHARACTERS: Final = 2048
_DEFAULT_PORTS: Final = {"https": 443, "http": 80}

_ADDRESS = re.compile(r"(?P<scheme>https?)://(?P<host>[^/?#]+)(?P<path>[^?#]*)(?P<rest>.*)", re.IGNORECASE)
_AUTHORITY = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]+\]|[^][:@/?#%]+)(?::(?P<port>[0-9]{1,5}))?")
_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_NAME = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")


@dataclass(frozen=True)
class WebAddress:
    """An http(s) URL in parts.

    `scheme` is lower case, `host` canonical (see `canonical_host`), `path` as it was sent, `rest` the query and
    the fragment with their marks.
    """

    scheme: str
    host: str
    path: str
    rest: str

    @property
    def origin(self) -> str:
        """The scheme and the host: `https://git.example.net:8443`."""
        return f"{self.scheme}://{self.host}"


def read_web_address(text: object) -> WebAddress | None:
    """Return the parts of an http(s) URL; None for anything that two readers could understand differently.

    That is: no text, white space, control characters, a backslash, user information, an escaped or malformed
    host, another scheme, more than 2,048 characters.
    """
    if not isinstance(text, str) or len(text) > MAX_CHARACTERS or not _is_plain(text):
        return None
    parts = _ADDRESS.fullmatch(text)
    if not parts:
        return None
    scheme = parts["scheme"].lower()
    host = canonical_host(parts["host"], default_port=_DEFAULT_PORTS[scheme])
    return WebAddress(scheme, host, parts["path"], parts["rest"]) if host else None


def canonical_host(text: str, *, default_port: int = 443) -> str | None:
    """Return a `host` or `host:port` in its one canonical spelling, None when it is malformed.

    Lower case, IDNA (`bücher.example` is `xn--bcher-kva.example`), without a trailing dot and without
    `default_port`. Whether a host may be called is for the one who dials to say.
    """
    parts = _AUTHORITY.fullmatch(text)
    if not parts:
        return None
    name = _canonical_ipv6(parts["name"]) if parts["name"].startswith("[") else _canonical_name(parts["name"])
    port = int(parts["port"] or default_port)
    if name is None or not 1 <= port <= 65535:
        return None
    return name if port == default_port else f"{name}:{port}"


def _is_plain(text: str) -> bool:
    return text.isprintable() and " " not in text and "\\" not in text


def _canonical_ipv6(name: str) -> str | None:
    try:
        return f"[{IPv6Address(name[1:-1]).compressed}]"
    except AddressValueError:
        return None


def _canonical_name(name: str) -> str | None:
    if len(name) > 254:
        return None
    try:
        ascii_name = name if name.isascii() else idna.encode(name, uts46=True).decode()
    except UnicodeError:
        return None
    lowered = ascii_name.lower().removesuffix(".")
    return lowered if len(lowered) <= 253 and _NAME.fullmatch(lowered) else None
