"""Create, find, rotate and delete webhooks."""

from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from routing.models import Webhook
from routing.secrets import open_field, read_signing_secret, seal_field
from routing.sources import VENDOR_ISSUED_SECRET
from switchboard.accounts.models import Endpoint
from switchboard.accounts.reach import Principal
from switchboard.errors import (
    CeilingExceeded,
    Conflict,
    EncryptionRequired,
    Forbidden,
    ForbiddenSourceType,
    InvalidArgument,
    NotFound,
)
from switchboard.ids import lookup_id
from switchboard.queues import RULE as QUEUE_RULE
from switchboard.queues import is_queue
from switchboard.sealing import can_seal, hash_token, mint_token
from switchboard.source_types import Source
from switchboard.text import one_line

log = structlog.get_logger(__name__)
MAX_OVERLAP_SECONDS = 86_400


@dataclass(frozen=True)
class CreatedWebhook:
    """A webhook with its address and, when Switchboard minted one, its signing secret, shown this once."""

    webhook: Webhook
    ingest_url: str
    signing_secret: str | None


def list_webhooks(*, principal: Principal) -> QuerySet[Webhook]:
    """Return the webhooks within reach."""
    return Webhook.objects.within_reach(principal).select_related("endpoint")


def find_webhook(*, principal: Principal, webhook_id: object) -> Webhook:
    """Return the webhook within reach with that id; unknown, malformed and foreign ids raise the same NotFound."""
    found = list_webhooks(principal=principal).filter(pk=lookup_id(webhook_id)).first()
    if found is None:
        raise NotFound
    return found


def create_webhook(
    *, endpoint: Endpoint, source_type: str, target_queue: str, signing_secret: str | None = None
) -> CreatedWebhook:
    """Create a webhook on `endpoint` within its ceiling.

    A signing secret is minted unless one is supplied, the source needs none (generic), or the vendor issues it
    (Slack, Stripe: the webhook answers 503 until it is set). Raises InvalidArgument, Forbidden,
    ForbiddenSourceType, CeilingExceeded, Conflict or EncryptionRequired.
    """
    source = _read_source(source_type)
    supplied = None if signing_secret is None else _supplied_secret(source, signing_secret)
    if not can_seal():
        raise EncryptionRequired
    with transaction.atomic():
        locked = Endpoint.objects.select_for_update(of=("self",), no_key=True).get(pk=endpoint.pk)
        _check_ceiling(locked, source, target_queue)
        webhook = Webhook(endpoint=locked, source_type=source.value, target_queue=target_queue)
        token = _renew_token(webhook)
        minted = None if supplied or source not in _MINTED else mint_token("whsec_")
        if supplied or minted:
            seal_field(webhook, "signing_secret_sealed", supplied or minted or "")
        webhook.save(force_insert=True)
    log.info("webhook.created", webhook_id=str(webhook.pk), source=source.value, endpoint_id=str(endpoint.pk))
    return CreatedWebhook(webhook, _url(token), minted)


def rotate_webhook(
    *,
    principal: Principal,
    webhook_id: str,
    rotate_url: bool = False,
    keep_previous_for_seconds: int = 0,
    now: datetime | None = None,
) -> CreatedWebhook:
    """Mint a new signing secret, and with `rotate_url` (always for generic) a new address.

    What was there before goes on working for `keep_previous_for_seconds` (0 to 86,400). For Slack and Stripe,
    whose secret the vendor issues, only the address can be rotated; set their secret instead.
    """
    seconds = _read_overlap(keep_previous_for_seconds)
    if not can_seal():
        raise EncryptionRequired
    with transaction.atomic():
        webhook = _locked(principal, webhook_id)
        source = Source(webhook.source_type)
        if source in VENDOR_ISSUED_SECRET and not rotate_url:
            raise InvalidArgument(
                f"{source.value} issues its signing secret itself: set the new one with set_webhook_secret, or "
                "pass rotate_url to change the address."
            )
        ends_at = (now or timezone.now()) + timedelta(seconds=seconds) if seconds else None
        renews_url = rotate_url or source is Source.GENERIC
        token = _rotate_token(webhook, ends_at) if renews_url else None
        minted = _rotate_secret(webhook, ends_at) if source in _MINTED else None
        webhook.save()
    log.info("webhook.rotated", webhook_id=str(webhook.pk), url=token is not None, secret=minted is not None)
    return CreatedWebhook(webhook, _url(token) if token else ingest_url(webhook), minted)


def set_signing_secret(*, principal: Principal, webhook_id: str, signing_secret: str) -> None:
    """Store a vendor-issued or self-chosen signing secret; the former one stops verifying at once."""
    if not can_seal():
        raise EncryptionRequired
    with transaction.atomic():
        webhook = _locked(principal, webhook_id)
        secret = _supplied_secret(Source(webhook.source_type), signing_secret)
        seal_field(webhook, "signing_secret_sealed", secret)
        webhook.previous_secret_sealed = ""
        webhook.save(update_fields=["signing_secret_sealed", "previous_secret_sealed"])
    log.info("webhook.secret_set", webhook_id=str(webhook.pk))


def delete_webhook(*, principal: Principal, webhook_id: str) -> None:
    """Delete the webhook: its address answers 404 at once; its events and todos stay."""
    webhook = find_webhook(principal=principal, webhook_id=webhook_id)
    webhook.delete()
    log.info("webhook.deleted", webhook_id=webhook_id)


def ingest_url(webhook: Webhook) -> str:
    """Return the address that the producer posts to; raise Conflict when no configured key opens its token."""
    token = open_field(webhook, "ingest_token_sealed")
    if token is None:
        raise Conflict("The webhook's address cannot be read with the configured keys; rotate it with rotate_url.")
    return _url(token)


_MINTED = frozenset(Source) - VENDOR_ISSUED_SECRET - {Source.GENERIC}


def _url(token: str) -> str:
    return f"{settings.SWITCHBOARD_BASE_URL}/webhooks/w/{token}"


def _locked(principal: Principal, webhook_id: str) -> Webhook:
    reachable = find_webhook(principal=principal, webhook_id=webhook_id)
    found = (
        Webhook.objects.select_for_update(of=("self",), no_key=True)
        .select_related("endpoint")
        .filter(pk=reachable.pk)
        .first()
    )
    if found is None:
        raise NotFound
    return found


def _read_source(source_type: object) -> Source:
    try:
        return Source(str(source_type))
    except ValueError:
        names = ", ".join(source.value for source in Source)
        raise InvalidArgument(f"source_type must be one of {names}.", field="source_type") from None


def _supplied_secret(source: Source, secret: object) -> str:
    if source is Source.GENERIC:
        raise InvalidArgument("A generic webhook has no signing secret: its URL is the secret.", field="signing_secret")
    return read_signing_secret(secret)


def _check_ceiling(endpoint: Endpoint, source: Source, target_queue: object) -> None:
    if not endpoint.is_live(timezone.now()):
        raise Conflict("The endpoint is revoked or expired.")
    if not is_queue(target_queue):
        raise InvalidArgument(f"target_queue: {QUEUE_RULE}", field="target_queue")
    if source.value not in endpoint.webhook_source_types:
        raise ForbiddenSourceType
    if target_queue not in endpoint.webhook_queues:
        allowed = one_line(", ".join(endpoint.webhook_queues), limit=400) or "none"
        raise Forbidden(f"This endpoint's webhooks may only use the queues: {allowed}.", field="target_queue")
    if endpoint.webhooks.count() >= endpoint.webhook_max:
        raise CeilingExceeded(f"The endpoint already has its {endpoint.webhook_max} webhooks; delete one first.")


def _read_overlap(seconds: object) -> int:
    if isinstance(seconds, bool) or not isinstance(seconds, int) or not 0 <= seconds <= MAX_OVERLAP_SECONDS:
        raise InvalidArgument(
            f"keep_previous_for_seconds must be a whole number from 0 to {MAX_OVERLAP_SECONDS}.",
            field="keep_previous_for_seconds",
        )
    return seconds


def _renew_token(webhook: Webhook) -> str:
    token = mint_token("")
    webhook.ingest_token_hash = hash_token(token)
    seal_field(webhook, "ingest_token_sealed", token)
    return token


def _rotate_token(webhook: Webhook, ends_at: datetime | None) -> str:
    webhook.previous_ingest_token_hash = webhook.ingest_token_hash if ends_at else ""
    webhook.previous_token_ends_at = ends_at
    return _renew_token(webhook)


def _rotate_secret(webhook: Webhook, ends_at: datetime | None) -> str:
    former = open_field(webhook, "signing_secret_sealed") if ends_at else None
    webhook.previous_secret_sealed = ""
    webhook.previous_ends_at = ends_at
    if former:
        seal_field(webhook, "previous_secret_sealed", former)
    minted = mint_token("whsec_")
    seal_field(webhook, "signing_secret_sealed", minted)
    return minted
