"""Build the routing envelope, the one JSON document that rules see of a delivery, live and in a dry run."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from routing.document import Document, member_text
from routing.fields import Json, text_at
from routing.sources import Source, TrustMode
from routing.subject import artifact_projection, issue_projection
from switchboard.text import storable

_AS_SENT = ("tags", "metadata")
_KIND_HEADERS = ("x-github-event", "x-gitea-event", "x-cairn-event")


@dataclass(frozen=True)
class Delivery:
    """A delivery as the router takes it, just received or read back from its event.

    `headers` are sanitised, `body` is what is stored, `document` that body parsed.
    """

    source: Source
    webhook_id: str
    trust_mode: TrustMode
    verified: bool
    content_type: str | None
    headers: Mapping[str, str]
    body: bytes
    document: Document


@dataclass(frozen=True)
class Envelope:
    """One document twice: `text` is JSON with the producer's digits, for jq; `value` is for display."""

    text: str
    value: dict[str, Json]


def kind_of(source: Source, headers: Mapping[str, str], document: Document) -> str | None:
    """Return `.kind`: Cairn's from the signed body alone, otherwise the first event header that says one.

    `headers` have lower-case names. SPEC-0020, "Routing Envelope".
    """
    if source is Source.CAIRN:
        return text_at(document.value, "kind") or None
    return next((headers[name] for name in _KIND_HEADERS if headers.get(name)), None)


def build_envelope(delivery: Delivery) -> Envelope:
    """Build the envelope; equal deliveries give equal text, in whatever order their headers are kept.

    The paths are SPEC-0020's, "Routing Envelope", and must not move.
    """
    value = _fields(delivery)
    texts = {"payload": delivery.document.text or "null", "artifact": _artifact_text(delivery, value)}
    members = (f"{_text(name)}:{texts.get(name) or _text(field)}" for name, field in value.items())
    return Envelope(text="{" + ",".join(members) + "}", value=value)


def _fields(delivery: Delivery) -> dict[str, Json]:
    source, document = delivery.source, delivery.document
    headers = {name: delivery.headers[name] for name in sorted(delivery.headers)}
    return {
        "source": source.value,
        "kind": kind_of(source, headers, document),
        "webhook_id": delivery.webhook_id,
        "trust_mode": delivery.trust_mode,
        "verified": delivery.verified,
        "content_type": cast("str | None", storable(delivery.content_type)),
        "size": len(delivery.body),
        "headers": cast("dict[str, Json]", headers),
        "payload": document.value,
        "artifact": artifact_projection(source, document),
        "issue": issue_projection(source, headers, document),
    }


def _artifact_text(delivery: Delivery, value: dict[str, Json]) -> str:
    """Return `.artifact` as JSON, the members that may hold numbers as they were sent."""
    artifact = value["artifact"]
    if not isinstance(artifact, dict):
        return "null"
    sent = {name: member_text(delivery.document, "data", name) for name in _AS_SENT if artifact[name]}
    members = (f"{_text(name)}:{sent.get(name) or _text(field)}" for name, field in artifact.items())
    return "{" + ",".join(members) + "}"


def _text(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
