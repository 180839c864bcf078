"""The JSON shapes of endpoints and API tokens; never a credential, except the one time that it is made."""

from typing import Any

from django.utils import timezone

from switchboard.accounts.credentials import CreatedToken
from switchboard.accounts.models import ApiToken, Endpoint
from switchboard.accounts.vend import VendedEndpoint, mcp_url
from switchboard.times import rfc3339


def endpoint_shape(endpoint: Endpoint) -> dict[str, Any]:
    """Return an endpoint; `endpoint_id` repeats `id` under the name that todos, routes and grants use."""
    return {
        "id": str(endpoint.pk),
        "endpoint_id": str(endpoint.pk),
        "slug": endpoint.slug,
        "name": endpoint.name,
        "owner": _owner_shape(endpoint),
        "queues": endpoint.scope_queues,
        "verbs": endpoint.scope_verbs,
        "webhook_max": endpoint.webhook_max,
        "webhook_source_types": endpoint.webhook_source_types,
        "webhook_queues": endpoint.webhook_queues,
        "default_lease_seconds": endpoint.default_lease_seconds,
        "mcp_url": mcp_url(endpoint),
        "live": endpoint.is_live(timezone.now()),
        "created_at": rfc3339(endpoint.created_at),
        "expires_at": rfc3339(endpoint.expires_at),
        "revoked_at": rfc3339(endpoint.revoked_at),
        "last_seen_at": rfc3339(endpoint.last_seen_at),
    }


def vended_shape(vended: VendedEndpoint) -> dict[str, Any]:
    """Return a new endpoint with its credential and what a client needs to connect."""
    return {
        "endpoint": endpoint_shape(vended.endpoint),
        "credential": vended.credential,
        "mcp_url": vended.mcp_url,
        "mcp_json": vended.mcp_json,
    }


def token_shape(token: ApiToken) -> dict[str, Any]:
    """Return an API token's record."""
    return {
        "id": str(token.pk),
        "name": token.name,
        "scopes": token.scopes,
        "created_at": rfc3339(token.created_at),
        "expires_at": rfc3339(token.expires_at),
        "revoked_at": rfc3339(token.revoked_at),
        "last_used_at": rfc3339(token.last_used_at),
    }


def created_token_shape(created: CreatedToken) -> dict[str, Any]:
    """Return a new API token with its text."""
    return {**token_shape(created.record), "token": created.token}


def _owner_shape(endpoint: Endpoint) -> dict[str, str]:
    return {"human" if endpoint.owner_human_id else "team": endpoint.owner_name}
