"""Read a URL strictly: which host and port to dial, and the exact bytes of path and query to ask for."""

import re
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv4Address, IPv6Address

import idna

from switchboard.outbound.messages import Refused

# Printable ASCII only behind the host, without `#` and `\`; no user, no zone, no control character anywhere.
URL = re.compile(
    r"(?P<scheme>https?)://"
    r"(?:\[(?P<literal>[0-9a-f:.]+)\]|(?P<host>[^\x00-\x20\x7f/?#@:%\\\[\]]+))"
    r"(?::(?P<port>[1-9][0-9]{0,4}))?"
    r"(?P<path>/[!\"$-\[\]-~]*)?",
    re.ASCII | re.IGNORECASE,
)
LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
NAME = re.compile(rf"{LABEL}(?:\.{LABEL})*")
ENDS_IN_A_NUMBER = re.compile(r"(?:.*\.)?(?:[0-9]+|0x[0-9a-f]*)")
DEFAULT_PORTS = {"http": 80, "https": 443}
HIGHEST_PORT = 65535
LONGEST_NAME = 253


@dataclass(frozen=True)
class Target:
    """Where a call goes: `host` is an ASCII name or an address without brackets, `path` starts with a slash."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def address(self) -> IPv4Address | IPv6Address | None:
        """The address when the host is a literal one, else None."""
        if ":" in self.host:
            return IPv6Address(self.host)
        return IPv4Address(self.host) if ENDS_IN_A_NUMBER.fullmatch(self.host) else None

    @property
    def authority(self) -> str:
        """The value of the Host header: the port only when it is not the scheme's own."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"


def read_target(url: str) -> Target:
    """Return the target of an absolute http or https URL.

    Raises Refused (`invalid_url`, `invalid_host`) for anything that two readers could understand differently.
    """
    found = URL.fullmatch(url)
    if found is None:
        raise Refused("invalid_url")
    scheme = found["scheme"].lower()
    port = int(found["port"] or DEFAULT_PORTS[scheme])
    if port > HIGHEST_PORT:
        raise Refused("invalid_url")
    host = _canonical_literal(found["literal"]) if found["literal"] else canonical_host(found["host"])
    return Target(scheme, host, port, found["path"] or "/")


def canonical_host(host: str) -> str:
    """Return the one spelling of a host name or IPv4 address: ASCII (IDNA 2008), lower case, no final dot.

    Raises Refused (`invalid_host`) for what is not a name, and for every way to write a number but four plain decimals.
    """
    name = (host if host.isascii() else _to_ascii(host)).lower().removesuffix(".")
    if len(name) > LONGEST_NAME or not NAME.fullmatch(name):
        raise Refused("invalid_host")
    if ENDS_IN_A_NUMBER.fullmatch(name) and not (host.isascii() and _is_dotted_quad(name)):
        raise Refused("invalid_host")
    return name


def _to_ascii(host: str) -> str:
    try:
        return idna.encode(host, uts46=True).decode()
    except UnicodeError:
        raise Refused("invalid_host") from None


def _is_dotted_quad(name: str) -> bool:
    try:
        return str(IPv4Address(name)) == name
    except AddressValueError:
        return False


def _canonical_literal(literal: str) -> str:
    try:
        return str(IPv6Address(literal))
    except AddressValueError:
        raise Refused("invalid_host") from None
