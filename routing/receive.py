"""Receive one delivery: verify its bytes, name it, evaluate the rules, and write event and todos (contract §3)."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog
from django.conf import settings
from django.db.models import F
from django.utils import timezone

from routing.deliver import Arrival, Receipt, deliver, record_self_reply
from routing.document import parse_document
from routing.envelope import Delivery, kind_of
from routing.headers import redact_token, sanitise_headers
from routing.models import Refusal, Webhook
from routing.router import Configuration, evaluate_rules
from routing.secrets import live_secrets
from routing.self_reply import is_self_reply
from routing.sources import SOURCES, Source, trust_mode_of
from routing.sources.request import InvalidSignature, SignedRequest
from routing.sources.slack import challenge_of
from switchboard.errors import NotFound, SwitchboardError, Unavailable
from switchboard.sealing import hash_token

log = structlog.get_logger(__name__)


class InvalidDelivery(SwitchboardError):
    """One voice for every delivery that does not verify; the reason goes to the log and the owner only."""

    code, status, sentence = "invalid_signature", 401, "The delivery's signature did not verify."


@dataclass(frozen=True)
class Challenge:
    """A producer asks whether this address is ours; `value` is to be echoed and nothing is stored."""

    value: str


def receive_delivery(
    *,
    token: str,
    headers: Mapping[str, str],
    body: bytes,
    content_type: str | None,
    now: datetime | None = None,
) -> Receipt | Challenge:
    """Take in one delivery to the webhook with that ingest token and return its receipt.

    `headers` have lower-case names and raw values; `body` is the bytes as sent. Raises NotFound for an unknown
    token, InvalidDelivery when the signature does not verify, Unavailable while the webhook has no secret or no
    live target.
    """
    received_at = now or timezone.now()
    webhook = _webhook_of(token, received_at)
    document = parse_document(body, content_type=content_type)
    request = SignedRequest(headers, body, content_type, document, received_at)
    detail = _verify(webhook, request)
    source = Source(webhook.source_type)
    challenge = challenge_of(request) if source is Source.SLACK else None
    if challenge is not None:
        return Challenge(challenge)
    receipt = _route(_arrival(webhook, request, token=token, detail=detail))
    _log_receipt(webhook, receipt)
    return receipt


def _route(arrival: Arrival) -> Receipt:
    if is_self_reply(arrival.webhook, arrival.delivery, now=arrival.received_at):
        return record_self_reply(arrival)
    configuration = Configuration.saved(arrival.webhook)
    evaluation = evaluate_rules(configuration, arrival.delivery)
    return deliver(arrival, configuration=configuration, evaluation=evaluation)


# Every delivery asks this. Written out, since composing the same with the ORM costs more than answering it.
_WEBHOOK_OF = """
SELECT webhook.*, COALESCE(endpoint.owner_human_id, endpoint.owner_team_id) AS tenant_key
FROM routing_webhook webhook JOIN accounts_endpoint endpoint ON endpoint.id = webhook.endpoint_id
WHERE ingest_token_hash = %s OR (previous_ingest_token_hash = %s AND previous_token_ends_at > %s)
"""


def _webhook_of(token: str, now: datetime) -> Webhook:
    hashed = hash_token(token)
    found = list(Webhook.objects.raw(_WEBHOOK_OF, [hashed, hashed, now]))
    if not found:
        raise NotFound("There is no webhook at this address.")
    return found[0]


def _verify(webhook: Webhook, request: SignedRequest) -> str:
    """Return how the delivery was verified; raise InvalidDelivery or Unavailable."""
    source = Source(webhook.source_type)
    if source is Source.GENERIC:
        return "url_token"
    secrets = live_secrets(webhook, now=request.received_at)
    if not secrets:
        raise Unavailable("This webhook has no signing secret yet.")
    tolerance = timedelta(seconds=settings.SWITCHBOARD_REPLAY_TOLERANCE_SECONDS)
    try:
        SOURCES[source].verify(request, secrets=secrets, tolerance=tolerance)
    except InvalidSignature as refusal:
        _record_refusal(webhook, refusal.reason, request.received_at)
        raise InvalidDelivery from None
    return "signature"


def _record_refusal(webhook: Webhook, reason: str, now: datetime) -> None:
    log.warning("delivery.refused", webhook_id=str(webhook.pk), source=webhook.source_type, reason=reason)
    counted = Refusal.objects.filter(webhook=webhook, reason=reason).update(count=F("count") + 1, last_at=now)
    if not counted:
        first = Refusal(webhook=webhook, reason=reason, count=1, last_at=now)
        Refusal.objects.bulk_create([first], ignore_conflicts=True)


def _arrival(webhook: Webhook, request: SignedRequest, *, token: str, detail: str) -> Arrival:
    source = Source(webhook.source_type)
    headers = sanitise_headers(request.headers, secrets=[token])
    stored_body = redact_token(request.body, token)
    stored_document = (
        request.document
        if stored_body is request.body
        else parse_document(stored_body, content_type=request.content_type)
    )
    delivery = Delivery(
        source=source,
        webhook_id=str(webhook.pk),
        trust_mode=trust_mode_of(source),
        verified=source is not Source.GENERIC,
        content_type=request.content_type,
        headers=headers,
        body=stored_body,
        document=stored_document,
    )
    kind = kind_of(source, headers, stored_document)
    stored_request = SignedRequest(headers, stored_body, request.content_type, stored_document, request.received_at)
    description = SOURCES[source].describe(kind, stored_request)
    return Arrival(
        webhook=webhook,
        delivery=delivery,
        external_id=f"{webhook.pk}:{_delivery_id(source, request)}",
        kind=kind,
        label=description.label,
        title=description.title,
        verify_detail=detail,
        received_at=request.received_at,
    )


def _delivery_id(source: Source, request: SignedRequest) -> str:
    given = SOURCES[source].delivery_id(request)
    return given or f"sha256:{hashlib.sha256(request.body).hexdigest()}"


def _log_receipt(webhook: Webhook, receipt: Receipt) -> None:
    log.info(
        "delivery.received",
        webhook_id=str(webhook.pk),
        source=webhook.source_type,
        event_id=receipt.event_id,
        disposition=receipt.disposition,
        first=receipt.created,
        todos=len(receipt.todos),
        rule_id=receipt.trace.get("rule_id"),
        faults=len(receipt.trace.get("faults", ())),
    )
