"""Stripe's webhooks: verify body and time, name the event."""

import re
from collections.abc import Sequence
from datetime import timedelta

from routing.fields import Json, integer_at, mapping_at, text_at
from routing.sources.description import Description, describe_as, joined, phrase_at
from routing.sources.request import InvalidSignature, SignedRequest, usable_id
from routing.sources.signing import (
    is_digest,
    require_fresh,
    require_match,
    signature_header,
    unix_seconds,
)

# https://docs.stripe.com/webhooks/signature
# One `v1` for each live secret while one is rolled; the other schemes prove nothing.
SIGNATURE_HEADER = "stripe-signature"
SCHEME = "v1"
_AMOUNTS = ("amount_paid", "amount_total", "amount_received", "amount_due", "amount")
_CURRENCY = re.compile(r"[A-Za-z]{3}", re.ASCII)
_LARGEST_AMOUNT = 10**15
# https://docs.stripe.com/currencies#zero-decimal and #three-decimal
_WITHOUT_DECIMALS = frozenset({"BIF", "CLP", "DJF", "GNF", "JPY", "KMF", "KRW", "MGA", "PYG"}) | {
    "RWF",
    "VND",
    "VUV",
    "XAF",
    "XOF",
    "XPF",
}
_THREE_DECIMALS = frozenset({"BHD", "JOD", "KWD", "OMR", "TND"})


def verify(request: SignedRequest, *, secrets: Sequence[str], tolerance: timedelta) -> None:
    """Raise InvalidSignature unless any `v1` signs `<t>.<raw body>`, within `tolerance` of now."""
    items = [item.partition("=") for item in signature_header(request, SIGNATURE_HEADER).split(",")]
    timestamps = [value for name, _, value in items if name == "t"]
    digests = [value for name, _, value in items if name == SCHEME and is_digest(value)]
    if len(timestamps) != 1 or not digests:
        raise InvalidSignature("malformed_signature")
    signed_at = unix_seconds(timestamps[0])
    require_match(b"%b.%b" % (timestamps[0].encode(), request.body), secrets=secrets, digests=digests)
    require_fresh(signed_at, received_at=request.received_at, tolerance=tolerance)


def delivery_id(request: SignedRequest) -> str | None:
    """Return the signed event's `id` (`evt_…`), the same on Stripe's retries."""
    return usable_id(text_at(request.document.value, "id"))


def describe(kind: str | None, request: SignedRequest) -> Description:  # noqa: ARG001 (Stripe names no kind outside its body)
    """Describe the event: `invoice.paid`, `invoice.paid in_1Qz0 42.00 EUR`."""
    label = phrase_at(request.document.value, "type")
    subject = mapping_at(request.document.value, "data", "object")
    about = joined(phrase_at(subject, "id"), _amount(subject))
    return describe_as("stripe", label=label, headline=joined(label, about) if label and about else None)


def _amount(subject: Json) -> str | None:
    currency = text_at(subject, "currency") or ""
    minor = next((amount for name in _AMOUNTS if (amount := integer_at(subject, name)) is not None), None)
    if minor is None or abs(minor) >= _LARGEST_AMOUNT or not _CURRENCY.fullmatch(currency):
        return None
    return f"{_in_major_units(minor, _decimals(currency.upper()))} {currency.upper()}"


def _decimals(currency: str) -> int:
    if currency in _WITHOUT_DECIMALS:
        return 0
    return 3 if currency in _THREE_DECIMALS else 2


def _in_major_units(minor: int, decimals: int) -> str:
    whole, rest = divmod(abs(minor), 10**decimals)
    sign = "-" if minor < 0 else ""
    return f"{sign}{whole}.{rest:0{decimals}}" if decimals else f"{sign}{whole}"
