"""The JSON shapes of webhooks, routes and events (contract §4 and §6)."""

from typing import Any

from routing.models import Event, Webhook, WebhookRoute
from routing.packs import Pack
from routing.sources import trust_mode_of
from routing.webhooks import CreatedWebhook
from switchboard.source_types import Source
from switchboard.times import rfc3339


def webhook_shape(webhook: Webhook) -> dict[str, Any]:
    """Return a webhook without its address and secrets."""
    return {
        "webhook_id": str(webhook.pk),
        "endpoint_id": str(webhook.endpoint_id),
        "source_type": webhook.source_type,
        "target_queue": webhook.target_queue,
        "trust_mode": trust_mode_of(Source(webhook.source_type)),
        "has_secret": bool(webhook.signing_secret_sealed),
        "rules": len(webhook.routing_rules),
        "created_at": rfc3339(webhook.created_at),
    }


def created_webhook_shape(created: CreatedWebhook) -> dict[str, Any]:
    """Return a new or rotated webhook with its address and, once, the secret that was minted for it."""
    shown = {
        "webhook_id": str(created.webhook.pk),
        "ingest_url": created.ingest_url,
        "source_type": created.webhook.source_type,
        "target_queue": created.webhook.target_queue,
        "trust_mode": trust_mode_of(Source(created.webhook.source_type)),
    }
    return shown | ({"signing_secret": created.signing_secret} if created.signing_secret else {})


def route_shape(route: WebhookRoute) -> dict[str, Any]:
    """Return a route; `state` is `live` once approved, else `waiting`."""
    return {
        "route_id": str(route.pk),
        "webhook_id": str(route.webhook_id),
        "endpoint_id": str(route.endpoint_id),
        "state": "live" if route.granted_at else "waiting",
        "requested_at": rfc3339(route.requested_at),
        "granted_at": rfc3339(route.granted_at),
    }


def pack_shape(pack: Pack) -> dict[str, Any]:
    """Return a rule pack as it can be read before it is installed."""
    params = {name: {"description": param.description, "example": param.example} for name, param in pack.params.items()}
    return {
        "name": pack.name,
        "title": pack.title,
        "description": pack.description,
        "params": params,
        "queues": list(pack.queues),
        "rules": [dict(rule) for rule in pack.rules],
        "default_action": dict(pack.default_action) if pack.default_action else None,
    }


def event_shape(event: Event) -> dict[str, Any]:
    """Return an event as history lists it: no headers, no payload."""
    return {
        "event_id": str(event.pk),
        "webhook_id": str(event.webhook_id) if event.webhook_id else None,
        "source": event.source,
        "kind": event.kind,
        "label": event.label,
        "title": event.title,
        "external_id": event.external_id,
        "received_at": rfc3339(event.received_at),
        "trust_mode": event.trust_mode,
        "verified": event.verified,
        "verify_detail": event.verify_detail,
        "content_type": event.content_type,
        "size": event.size,
        "disposition": event.disposition,
        "routing": event.routing_trace,
    }


def full_event_shape(event: Event) -> dict[str, Any]:
    """Return one event with its sanitised headers, its payload and the todos that it made."""
    todos = [
        {"id": str(todo.pk), "endpoint_id": str(todo.endpoint_id), "queue": todo.queue, "state": todo.state}
        for todo in event.todos.order_by("pk")
    ]
    return event_shape(event) | {"headers": event.headers, "payload": event.payload, "todos": todos}
