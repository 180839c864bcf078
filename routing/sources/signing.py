"""What the HMAC-SHA256 schemes share: read the header, compare in constant time, judge the time."""

import hashlib
import hmac
import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from routing.sources.request import InvalidSignature, SignedRequest

_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
# `int()` and `\d` would also take spaces, underscores and digits of other scripts.
_UNIX_SECONDS: Final = re.compile(r"[0-9]{1,12}")


def signature_header(request: SignedRequest, name: str) -> str:
    """Return the header `name`; raise InvalidSignature when it is absent or empty."""
    value = request.headers.get(name)
    if not value:
        raise InvalidSignature("missing_signature")
    return value


def digest_after(prefix: str, value: str) -> str:
    """Return the 64 hex digits of exactly `<prefix><digits>`; raise InvalidSignature for any other text."""
    digest = value.removeprefix(prefix)
    if not value.startswith(prefix) or not is_digest(digest):
        raise InvalidSignature("malformed_signature")
    return digest


def is_digest(text: str) -> bool:
    """Tell whether `text` is exactly 64 lower-case hex digits."""
    return _DIGEST.fullmatch(text) is not None


def require_match(message: bytes, *, secrets: Sequence[str], digests: Iterable[str]) -> None:
    """Raise InvalidSignature unless one of `digests` is the HMAC-SHA256 of `message` under a live secret.

    A blank secret never verifies: anybody can compute its signatures.
    """
    keys = [secret.encode("utf-8", "surrogatepass") for secret in secrets if secret.strip()]
    if not keys:
        raise InvalidSignature("no_secret")
    expected = [hmac.new(key, message, hashlib.sha256).hexdigest().encode() for key in keys]
    given = [digest.encode() for digest in digests]
    if not any(hmac.compare_digest(one, other) for one in expected for other in given):
        raise InvalidSignature("signature_mismatch")


def unix_seconds(text: str) -> datetime:
    """Return the time that 1 to 12 ASCII digits name; raise InvalidSignature for any other text."""
    if not _UNIX_SECONDS.fullmatch(text):
        raise InvalidSignature("malformed_timestamp")
    try:
        return datetime.fromtimestamp(int(text), tz=UTC)
    except (OverflowError, ValueError, OSError):
        raise InvalidSignature("stale_timestamp") from None


def require_fresh(signed_at: datetime, *, received_at: datetime, tolerance: timedelta) -> None:
    """Raise InvalidSignature if two aware times are more than `tolerance` apart, by their whole seconds."""
    distance = received_at.replace(microsecond=0) - signed_at.replace(microsecond=0)
    if abs(distance) > tolerance:
        raise InvalidSignature("stale_timestamp")
