"""Any other producer: the URL is the secret, so nothing is signed and nothing counts as verified."""

from collections.abc import Sequence
from datetime import timedelta

from routing.fields import Json, mapping_at
from routing.sources.description import Description, describe_as, joined, phrase_at
from routing.sources.forge import describe_forge_event
from routing.sources.request import SignedRequest, usable_id

# The second is Standard Webhooks': https://www.standardwebhooks.com
DELIVERY_HEADERS = ("x-delivery-id", "webhook-id")
_NAMES = ("type", "event_type", "event")
_HEADLINES = ("title", "summary", "subject", "message", "text", "name")


def verify(request: SignedRequest, *, secrets: Sequence[str], tolerance: timedelta) -> None:
    """Accept: the ingest token in the URL is all the proof there is, and `trust_mode` says so."""


def delivery_id(request: SignedRequest) -> str | None:
    """Return the producer's own id, from the first header that holds a usable one."""
    ids = (usable_id(request.headers.get(name)) for name in DELIVERY_HEADERS)
    return next((found for found in ids if found), None)


def describe(kind: str | None, request: SignedRequest) -> Description:
    """Describe a forge's event as a forge's, anything else by its own name and headline if it has them."""
    value = request.document.value
    if kind and mapping_at(value, "repository"):
        return describe_forge_event("generic", kind, value)
    label = kind or _first(value, _NAMES)
    headline = _first(value, _HEADLINES)
    return describe_as("generic", label=label, headline=headline and joined(label, headline, by=": "))


def _first(value: Json, names: tuple[str, ...]) -> str | None:
    phrases = (phrase_at(value, name) for name in names)
    return next((phrase for phrase in phrases if phrase), None)
