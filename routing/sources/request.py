"""What a source is given of a delivery, and how it says that the delivery is not what it claims to be."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from routing.document import Document
from switchboard.text import REPLACEMENT

MAX_DELIVERY_ID_BYTES: Final = 256


@dataclass(frozen=True)
class SignedRequest:
    """One delivery as it arrived.

    `headers` have lower-case names and raw values, `body` is the bytes as received, `document` those bytes
    parsed once, `received_at` an aware time.
    """

    headers: Mapping[str, str]
    body: bytes
    content_type: str | None
    document: Document
    received_at: datetime


class InvalidSignature(Exception):
    """The delivery does not verify; `reason` is a slug for the log and the owner, never for the producer."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def usable_id(text: str | None) -> str | None:
    """Return a producer's delivery id if it can name one: 1 to 256 bytes of printable text, else None."""
    if not text or text.isspace() or not text.isprintable() or REPLACEMENT in text:
        return None
    return text if len(text.encode()) <= MAX_DELIVERY_ID_BYTES else None
