"""Cairn's outbound webhooks: verify body, time and event id, name the event."""

import re
from collections.abc import Sequence
from datetime import datetime, timedelta, timezone

from routing.fields import Json, mapping_at, text_at
from routing.sources.description import Description, describe_as, joined, phrase_at
from routing.sources.request import InvalidSignature, SignedRequest, usable_id
from routing.sources.signing import digest_after, require_fresh, require_match, signature_header

# Cairn, "outbound-webhooks": HMAC-SHA256 of the raw body; header absent when no secret is configured.
SIGNATURE_HEADER = "x-cairn-signature"
SIGNATURE_PREFIX = "sha256="
EVENT_ID_HEADER = "x-cairn-event-id"
# https://www.rfc-editor.org/rfc/rfc3339#section-5.6, with the nine digits of Go's nanoseconds at most.
_RFC_3339 = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:[Zz]|([+-])(\d\d):(\d\d))", re.ASCII
)


def verify(request: SignedRequest, *, secrets: Sequence[str], tolerance: timedelta) -> None:
    """Raise InvalidSignature unless the body is signed, its time fresh and its id the header's, if any."""
    digest = digest_after(SIGNATURE_PREFIX, signature_header(request, SIGNATURE_HEADER))
    require_match(request.body, secrets=secrets, digests=[digest])
    body = request.document.value
    require_fresh(_created_at(body), received_at=request.received_at, tolerance=tolerance)
    claimed = request.headers.get(EVENT_ID_HEADER)
    if claimed is not None and claimed != text_at(body, "event_id"):
        raise InvalidSignature("event_id_mismatch")


def delivery_id(request: SignedRequest) -> str | None:
    """Return the signed `event_id`, the same for every attempt and target of Cairn's."""
    return usable_id(text_at(request.document.value, "event_id"))


def describe(kind: str | None, request: SignedRequest) -> Description:
    """Describe the event: `artifact.created`, `artifact.created by octavia@example.com: Task brief`.

    The artifact's id stays out of the title, because whoever knows it can read the artifact.
    """
    data = mapping_at(request.document.value, "data")
    actor, detail = phrase_at(data, "actor_id"), _detail(data)
    event = joined(kind or "cairn delivery", actor and f"by {actor}")
    return describe_as("cairn", label=kind, headline=joined(event, detail, by=": ") if actor or detail else None)


def _detail(data: Json) -> str | None:
    said = phrase_at(data, "comment", "body") or phrase_at(data, "reaction", "emoji")
    return said or phrase_at(data, "title")


def _created_at(body: Json) -> datetime:
    parts = _RFC_3339.fullmatch(text_at(body, "created_at") or "")
    if not parts:
        raise InvalidSignature("malformed_timestamp")
    *moment, fraction, sign, hours, minutes = parts.groups()
    try:
        zone = _zone(sign, int(hours or 0), int(minutes or 0))
        year, month, day, hour, minute, second = map(int, moment)
        return datetime(year, month, day, hour, minute, second, _microseconds(fraction), tzinfo=zone)
    except ValueError:
        raise InvalidSignature("malformed_timestamp") from None


def _zone(sign: str | None, hours: int, minutes: int) -> timezone:
    if minutes > 59:
        raise ValueError("an hour has 60 minutes")
    offset = timedelta(hours=hours, minutes=minutes)
    return timezone(-offset if sign == "-" else offset)


def _microseconds(fraction: str | None) -> int:
    return int((fraction or "0").ljust(6, "0")[:6])
