"""Slack's Events API: verify body and time, answer the address challenge, name the event."""

from collections.abc import Sequence
from datetime import timedelta

from routing.fields import Json, mapping_at, text_at
from routing.sources.description import Description, describe_as, joined, phrase_at
from routing.sources.request import InvalidSignature, SignedRequest, usable_id
from routing.sources.signing import digest_after, require_fresh, require_match, signature_header, unix_seconds

# https://docs.slack.dev/authentication/verifying-requests-from-slack
SIGNATURE_HEADER = "x-slack-signature"
SIGNATURE_PREFIX = "v0="
TIMESTAMP_HEADER = "x-slack-request-timestamp"
_ESCAPES = (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"))


def verify(request: SignedRequest, *, secrets: Sequence[str], tolerance: timedelta) -> None:
    """Raise InvalidSignature unless `v0:<time>:<raw body>` is signed, within `tolerance` of now."""
    digest = digest_after(SIGNATURE_PREFIX, signature_header(request, SIGNATURE_HEADER))
    timestamp = request.headers.get(TIMESTAMP_HEADER)
    if not timestamp:
        raise InvalidSignature("missing_timestamp")
    signed_at = unix_seconds(timestamp)
    message = b"v0:%b:%b" % (timestamp.encode(), request.body)
    require_match(message, secrets=secrets, digests=[digest])
    require_fresh(signed_at, received_at=request.received_at, tolerance=tolerance)


def challenge_of(request: SignedRequest) -> str | None:
    """Return the challenge of a `url_verification` request, else None. Verify first: it is signed too.

    https://docs.slack.dev/reference/events/url_verification
    """
    value = request.document.value
    return text_at(value, "challenge") if text_at(value, "type") == "url_verification" else None


def delivery_id(request: SignedRequest) -> str | None:
    """Return the signed `event_id`, the same on Slack's retries."""
    return usable_id(text_at(request.document.value, "event_id"))


def describe(kind: str | None, request: SignedRequest) -> Description:  # noqa: ARG001 (Slack names no kind outside its body)
    """Describe the event: `message`, `#C0123 U0456: Could you look at this?`."""
    event = mapping_at(request.document.value, "event")
    label = joined(text_at(event, "type"), text_at(event, "subtype"), by=".")
    outer = text_at(request.document.value, "type")
    return describe_as("slack", label=label or outer, headline=_headline(event))


def _headline(event: Json) -> str | None:
    channel = phrase_at(event, "channel") or phrase_at(event, "item", "channel")
    author = phrase_at(event, "user") or phrase_at(event, "message", "user") or phrase_at(event, "bot_id")
    text = phrase_at(event, "text") or phrase_at(event, "message", "text") or _reaction(event)
    if not text:
        return None
    return joined(joined(channel and f"#{channel}", author), _readable(text), by=": ")


def _reaction(event: Json) -> str | None:
    name = phrase_at(event, "reaction")
    return name and f":{name}:"


def _readable(text: str) -> str:
    """Undo Slack's three escapes. https://docs.slack.dev/messaging/formatting-message-text#escaping"""
    for escape, character in _ESCAPES:
        text = text.replace(escape, character)
    return text
