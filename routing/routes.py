"""Routes: further delivery targets of a webhook, live at once for own endpoints, else after approval."""

from datetime import datetime

import structlog
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from routing.models import Webhook, WebhookRoute
from routing.webhooks import find_webhook
from switchboard.accounts.models import Endpoint, Human
from switchboard.accounts.reach import Principal
from switchboard.errors import CeilingExceeded, InvalidArgument, NotFound
from switchboard.ids import lookup_id

log = structlog.get_logger(__name__)
MAX_ROUTES = 50


def list_routes(*, principal: Principal, webhook_id: str) -> list[WebhookRoute]:
    """Return the webhook's routes in target order, those that wait for approval last."""
    webhook = find_webhook(principal=principal, webhook_id=webhook_id)
    routes = webhook.routes.select_related("endpoint", "webhook")
    return sorted(routes, key=lambda route: (route.granted_at is None, route.granted_at, route.endpoint_id))


def list_all_routes(*, principal: Principal) -> QuerySet[WebhookRoute]:
    """Return every route within reach: of the principal's webhooks, and to its endpoints."""
    return WebhookRoute.objects.within_reach(principal).select_related("endpoint", "webhook__endpoint")


def add_route(
    *,
    principal: Principal,
    webhook_id: str,
    endpoint_id: str,
    acting_human: Human | None,
    now: datetime | None = None,
) -> WebhookRoute:
    """Route the webhook to one more endpoint; adding a route twice returns the one that is there.

    An endpoint of the same owner is a target at once; another owner's waits for that owner's approval. Raises
    NotFound for an unknown webhook or endpoint, InvalidArgument for the webhook's own endpoint.
    """
    moment = now or timezone.now()
    reachable = find_webhook(principal=principal, webhook_id=webhook_id)
    endpoint = Endpoint.objects.live(moment).filter(pk=lookup_id(endpoint_id)).first()
    if endpoint is None:
        raise NotFound
    if endpoint.pk == reachable.endpoint_id:
        raise InvalidArgument("The webhook's own endpoint is a target already.", field="endpoint_id")
    with transaction.atomic():
        webhook = (
            Webhook.objects.select_for_update(of=("self",), no_key=True).select_related("endpoint").get(pk=reachable.pk)
        )
        return _existing(webhook, endpoint) or _create(webhook, endpoint, acting_human, moment)


def remove_route(*, principal: Principal, webhook_id: str, endpoint_id: str) -> None:
    """Remove the webhook's route to that endpoint; removing an absent one succeeds."""
    webhook = find_webhook(principal=principal, webhook_id=webhook_id)
    removed, _ = webhook.routes.filter(endpoint=lookup_id(endpoint_id)).delete()
    if removed:
        log.info("route.removed", webhook_id=webhook_id, endpoint_id=endpoint_id)


def approve_route(
    *, principal: Principal, route_id: str, acting_human: Human | None, now: datetime | None = None
) -> WebhookRoute:
    """Approve a route to one of the principal's endpoints; from then on it is a target. Twice is fine."""
    moment = now or timezone.now()
    route = _find(principal, route_id)
    if not Endpoint.objects.within_reach(principal).filter(pk=route.endpoint_id).exists():
        raise NotFound
    waiting = WebhookRoute.objects.filter(pk=route.pk, granted_at=None)
    if waiting.update(granted_at=moment, approved_by=acting_human):
        log.info("route.approved", route_id=route_id, webhook_id=str(route.webhook_id))
    route.refresh_from_db()
    return route


def delete_route(*, principal: Principal, route_id: str) -> None:
    """Remove a route that leads from one of the principal's webhooks or to one of its endpoints."""
    _find(principal, route_id).delete()
    log.info("route.removed", route_id=route_id)


def _find(principal: Principal, route_id: object) -> WebhookRoute:
    found = list_all_routes(principal=principal).filter(pk=lookup_id(route_id)).first()
    if found is None:
        raise NotFound
    return found


def _existing(webhook: Webhook, endpoint: Endpoint) -> WebhookRoute | None:
    return webhook.routes.select_related("endpoint", "webhook").filter(endpoint=endpoint).first()


def _create(webhook: Webhook, endpoint: Endpoint, acting_human: Human | None, now: datetime) -> WebhookRoute:
    if webhook.routes.count() >= MAX_ROUTES:
        raise CeilingExceeded(f"A webhook may have at most {MAX_ROUTES} routes.")
    owners = (webhook.endpoint.owner_human_id, webhook.endpoint.owner_team_id)
    same_owner = owners == (endpoint.owner_human_id, endpoint.owner_team_id)
    route = WebhookRoute.objects.create(
        webhook=webhook,
        endpoint=endpoint,
        requested_by=acting_human,
        approved_by=acting_human if same_owner else None,
        requested_at=now,
        granted_at=now if same_owner else None,
    )
    log.info("route.added", webhook_id=str(webhook.pk), endpoint_id=str(endpoint.pk), live=same_owner)
    return route
