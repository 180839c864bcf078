"""What a webhook's rules may reach right now: its queues and its live delivery targets (SPEC-0020)."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection

from routing.models import Webhook
from switchboard.accounts.models import Endpoint


@dataclass(frozen=True)
class Target:
    """One live delivery target: an endpoint that a delivery may become a todo of."""

    endpoint_id: str
    slug: str
    scope_queues: tuple[str, ...]

    @property
    def pk(self) -> UUID:
        """The endpoint's primary key."""
        return UUID(self.endpoint_id)


@dataclass(frozen=True)
class Grant:
    """The queues a webhook's rules may use and its targets, in target order: the owner, then the routes."""

    target_queue: str
    queues: tuple[str, ...]
    targets: tuple[Target, ...]

    def candidates(self, endpoint_ids: Collection[str] | None) -> tuple[Target, ...]:
        """Return the targets that an action's `endpoints` leave, in target order; all of them for None."""
        if endpoint_ids is None:
            return self.targets
        return tuple(target for target in self.targets if target.endpoint_id in endpoint_ids)

    def as_json(self) -> dict[str, Any]:
        """Return the grant as the rules result shows it."""
        endpoints = [
            {
                "endpoint_id": target.endpoint_id,
                "slug": target.slug,
                "scope_queues": list(target.scope_queues),
            }
            for target in self.targets
        ]
        return {"queues": list(self.queues), "endpoints": endpoints}


def compute_grant(webhook: Webhook, *, now: datetime) -> Grant:
    """Return the webhook's grant at `now`, from switchboard state alone; one query.

    Targets are the owning endpoint, then approved routes by `granted_at`, then endpoint id; each only while its
    endpoint is live. The owning endpoint is read afresh and kept as `webhook.endpoint`.
    """
    owner, *routed = _endpoints(webhook)
    webhook.endpoint = owner
    queues = dict.fromkeys([webhook.target_queue, *owner.webhook_queues])
    live = [endpoint for endpoint in (owner, *routed) if endpoint.is_live(now)]
    return Grant(webhook.target_queue, tuple(queues), tuple(map(_target, live)))


# Every delivery asks this. Written out, since composing the same with the ORM costs more than answering it.
_COLUMNS = ", ".join(f'endpoint."{field.column}"' for field in Endpoint._meta.concrete_fields)
_ENDPOINTS = f"""
SELECT {_COLUMNS}, NULL AS granted_at FROM accounts_endpoint endpoint WHERE endpoint.id = %s
UNION ALL
SELECT {_COLUMNS}, route.granted_at FROM routing_webhookroute route
JOIN accounts_endpoint endpoint ON endpoint.id = route.endpoint_id
WHERE route.webhook_id = %s AND route.granted_at IS NOT NULL
"""  # noqa: S608 - only column names are filled in


def _endpoints(webhook: Webhook) -> list[Endpoint]:
    """Return the owning endpoint, then the approved routes' endpoints in target order, live or not."""
    ids = [Endpoint._meta.pk.get_db_prep_value(key, connection) for key in (webhook.endpoint_id, webhook.pk)]
    found = list(Endpoint.objects.raw(_ENDPOINTS, ids))
    owner = [endpoint for endpoint in found if endpoint.pk == webhook.endpoint_id]
    routed = [endpoint for endpoint in found if endpoint.pk != webhook.endpoint_id]
    return owner + sorted(routed, key=lambda endpoint: (vars(endpoint)["granted_at"], endpoint.pk))


def _target(endpoint: Endpoint) -> Target:
    return Target(str(endpoint.pk), endpoint.slug, tuple(endpoint.scope_queues))
