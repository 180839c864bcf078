"""Vend, find and revoke endpoints: the credentials that agents use."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

import structlog
from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.crypto import get_random_string
from django.utils.text import slugify

from switchboard.accounts.models import DEFAULT_LEASE_SECONDS, MAX_LEASE_SECONDS, Endpoint, Human
from switchboard.accounts.reach import Principal
from switchboard.accounts.verbs import AllVerbs, BasicVerbs
from switchboard.broadcast import publish
from switchboard.errors import InvalidArgument, NotFound
from switchboard.ids import parse_id
from switchboard.queues import read_queues
from switchboard.sealing import hash_token, mint_token
from switchboard.source_types import Source
from switchboard.text import one_line

log = structlog.get_logger(__name__)
MAX_WEBHOOKS = 1000
SLUG_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"


@dataclass(frozen=True)
class VendedEndpoint:
    """A new endpoint with its credential, which is shown this once and never again."""

    endpoint: Endpoint
    credential: str
    mcp_url: str
    mcp_json: dict[str, Any]


def vend_endpoint(
    *,
    human: Human,
    name: str,
    queues: Sequence[str],
    verbs: Sequence[str] | str = "basics",
    webhook_max: int = 10,
    webhook_source_types: Sequence[str] | None = None,
    webhook_queues: Sequence[str] | None = None,
    default_lease_seconds: int | None = None,
    expires_at: datetime | None = None,
) -> VendedEndpoint:
    """Create an endpoint owned by `human` and return it with its credential (`sbk_…`).

    `verbs` is a list, "basics" or "all"; `webhook_queues` are the queues that its webhooks and rules may use, by
    default its own; `default_lease_seconds` is 1 to 86,400. Raises InvalidArgument naming the field.
    """
    scope_queues = read_queues(queues, field="queues")
    if not scope_queues:
        raise InvalidArgument("queues must name at least one queue.", field="queues")
    credential = mint_token("sbk_")
    endpoint = Endpoint.objects.create(
        owner_human=human,
        created_by=human,
        name=_read_name(name),
        slug=_new_slug(name),
        credential_hash=hash_token(credential),
        scope_queues=scope_queues,
        scope_verbs=read_verbs(verbs),
        webhook_max=_read_number(webhook_max, "webhook_max", low=0, high=MAX_WEBHOOKS),
        webhook_source_types=_read_source_types(webhook_source_types),
        webhook_queues=scope_queues if webhook_queues is None else read_queues(webhook_queues, field="webhook_queues"),
        default_lease_seconds=_read_lease(default_lease_seconds),
        expires_at=_read_expiry(expires_at),
    )
    log.info("endpoint.vended", endpoint=endpoint.slug, endpoint_id=str(endpoint.pk), human=human.username)
    return VendedEndpoint(endpoint, credential, mcp_url(endpoint), mcp_json(endpoint, credential))


def find_endpoint(*, principal: Principal, ref: str) -> Endpoint:
    """Return the endpoint within reach whose id or slug is `ref`; raise NotFound."""
    identifier = parse_id(ref)
    wanted = {"pk": identifier} if identifier else {"slug": ref}
    found = Endpoint.objects.within_reach(principal).filter(**wanted).first() if "\0" not in ref else None
    if found is None:
        raise NotFound
    return found


def revoke_endpoint(*, principal: Principal, ref: str) -> Endpoint:
    """Revoke the endpoint for good: its credential, webhooks, routes and streams stop at once.

    Revoking twice is fine.
    """
    endpoint = find_endpoint(principal=principal, ref=ref)
    now = timezone.now()
    if Endpoint.objects.filter(pk=endpoint.pk, revoked_at=None).update(revoked_at=now):
        transaction.on_commit(partial(publish, {"revoked": str(endpoint.pk)}), robust=True)
        log.info("endpoint.revoked", endpoint=endpoint.slug, endpoint_id=str(endpoint.pk))
    endpoint.refresh_from_db()
    return endpoint


def read_verbs(verbs: Sequence[str] | str) -> list[str]:
    """Return the granted verbs of "basics", "all" or a list of known verbs, in the families' order."""
    if isinstance(verbs, str):
        named = {"basics": BasicVerbs(), "all": AllVerbs()}
        if verbs not in named:
            raise InvalidArgument('verbs must be "basics", "all" or a list of verbs.', field="verbs")
        return list(named[verbs])
    unknown = [str(verb) for verb in verbs if verb not in AllVerbs()]
    if unknown or not verbs:
        raise InvalidArgument(
            f"Unknown verbs: {one_line(', '.join(unknown) or 'none given', limit=200)}", field="verbs"
        )
    return [verb for verb in AllVerbs() if verb in verbs]


def mcp_url(endpoint: Endpoint) -> str:
    """Return the address of the endpoint's MCP server."""
    return f"{settings.SWITCHBOARD_BASE_URL}/mcp/{endpoint.slug}"


def mcp_json(endpoint: Endpoint, credential: str) -> dict[str, Any]:
    """Return the content of an `.mcp.json` file that connects a client to the endpoint."""
    server = {
        "type": "http",
        "url": mcp_url(endpoint),
        "headers": {"Authorization": f"Bearer {credential}"},
    }
    return {"mcpServers": {"switchboard": server}}


def _read_name(name: object) -> str:
    if not isinstance(name, str) or not name.strip() or len(name) > 120 or one_line(name, limit=120) != name.strip():
        raise InvalidArgument("name must be 1 to 120 printable characters on one line.", field="name")
    return name.strip()


def _new_slug(name: str) -> str:
    return f"{slugify(name)[:60] or 'endpoint'}-{get_random_string(8, SLUG_LETTERS)}"


def _read_number(value: object, field: str, *, low: int, high: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise InvalidArgument(f"{field} must be a whole number from {low} to {high}.", field=field)
    return value


def _read_lease(seconds: int | None) -> int:
    if seconds is None:
        return DEFAULT_LEASE_SECONDS
    return _read_number(seconds, "default_lease_seconds", low=1, high=MAX_LEASE_SECONDS)


def _read_source_types(names: Sequence[str] | None) -> list[str]:
    if names is None:
        return [source.value for source in Source]
    known = {source.value for source in Source}
    if isinstance(names, str) or not all(isinstance(name, str) and name in known for name in names):
        raise InvalidArgument(
            f"webhook_source_types may name {', '.join(sorted(known))}.", field="webhook_source_types"
        )
    return [source.value for source in Source if source.value in names]


def _read_expiry(expires_at: datetime | None) -> datetime | None:
    if expires_at is not None and expires_at <= timezone.now():
        raise InvalidArgument("expires_at must be in the future.", field="expires_at")
    return expires_at
