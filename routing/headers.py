"""Keep credentials and the ingest token out of what is stored of a request."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from switchboard.text import storable

REDACTED: Final = "«redacted»"

_CREDENTIAL = re.compile(
    "authorization|cookie|signature|token|secret|api-?key|passw|credential|x-auth(?:-|$)|access-key|client-cert"
)
_HOP_BY_HOP = frozenset(
    {"connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"}
)


def sanitise_headers(headers: Mapping[str, str], *, secrets: Sequence[str]) -> dict[str, str]:
    """Return the headers to store: names lower-cased and sorted, credentials and signatures left out.

    Each of `secrets` (the ingest token) that stands in a value is replaced by «redacted», and every value can
    be stored as text. SPEC-0020, "Routing Envelope", `.headers`.
    """
    lowered = {name.lower(): value for name, value in headers.items()}
    return {name: _clean(lowered[name], secrets) for name in sorted(lowered) if _may_stay(name)}


def redact_token(body: bytes, token: str) -> bytes:
    """Return `body` with each occurrence of `token` made as many `*`; without one, the same object.

    GitHub's ping carries the hook's full URL.
    https://docs.github.com/webhooks/webhook-events-and-payloads#ping
    """
    needle = token.encode()
    return body.replace(needle, b"*" * len(needle)) if needle and needle in body else body


def _may_stay(name: str) -> bool:
    return name not in _HOP_BY_HOP and not _CREDENTIAL.search(name)


def _clean(value: str, secrets: Sequence[str]) -> str:
    for secret in filter(None, secrets):
        value = value.replace(secret, REDACTED)
    return str(storable(value))
