"""What the scenarios share: a webhook with its owner, workers routed to it, its rules, and what a delivery left."""

from collections.abc import Sequence
from typing import Any

from django.test import Client

from routing import configure
from routing.models import Event
from routing.packs import install_pack, load_pack
from routing.routes import add_route
from routing.webhooks import create_webhook, set_signing_secret
from switchboard.accounts.models import Endpoint, Human
from switchboard.accounts.reach import Principal
from switchboard.todos.models import Todo
from switchboard.todos.shapes import full_todo
from tests.deliveries import SECRET, SignedDelivery
from tests.factories import make_endpoint
from tests.routing.conftest import Line

LANE = {"exclusive": True, "once": True, "work_order": True}
FLEET_PARAMS = {name: param.example for name, param in load_pack("fleet").params.items()}


def open_door(
    human: Human,
    source: str = "github",
    *,
    queues: Sequence[str] = ("inbox",),
    webhook_queues: Sequence[str] | None = None,
) -> Line:
    """Return a webhook of `human` whose target queue is the first of `queues`, which its endpoint drains."""
    endpoint = make_endpoint(human, name="front-door", queues=queues, webhook_queues=webhook_queues).endpoint
    created = create_webhook(endpoint=endpoint, source_type=source, target_queue=queues[0])
    if source != "generic":
        set_signing_secret(
            principal=Principal.of_human(human), webhook_id=str(created.webhook.pk), signing_secret=SECRET
        )
    return Line(human, endpoint, created, Client())


def add_worker(door: Line, *queues: str, name: str = "worker") -> Endpoint:
    """Return an endpoint of the door's human that drains `queues`, routed to the door's webhook."""
    endpoint = make_endpoint(door.human, name=name, queues=queues).endpoint
    add_route(
        principal=door.principal, webhook_id=door.webhook_id, endpoint_id=str(endpoint.pk), acting_human=door.human
    )
    return endpoint


def rule(identifier: str, expr: str, **action: Any) -> dict[str, Any]:
    """Return a rule; `action` is `drop=True` or `queue="…"` with its endpoints and flags."""
    return {"id": identifier, "expr": expr, "action": action}


def save(door: Line, *rules: dict[str, Any], default: Any = None, params: Any = None) -> dict[str, Any]:
    """Save the door's whole routing configuration and return the rules result."""
    return configure.set_rules(
        principal=door.principal, webhook_id=door.webhook_id, rules=list(rules), default_action=default, params=params
    )


def saved(door: Line) -> dict[str, Any]:
    """Return the rules result of the door's webhook."""
    return configure.list_rules(principal=door.principal, webhook_id=door.webhook_id)


def send(door: Line, delivery: SignedDelivery) -> dict[str, Any]:
    """Post a delivery that must be taken, and return the receiver's answer."""
    response = door.post(delivery)
    assert response.status_code == 202, response.content
    answer: dict[str, Any] = response.json()
    return answer


def trace_of(door: Line) -> dict[str, Any]:
    """Return the trace of the door's latest event."""
    trace: dict[str, Any] = Event.objects.filter(webhook=door.webhook).latest("pk").routing_trace
    return trace


def todos_of(endpoint: Endpoint) -> list[dict[str, Any]]:
    """Return the endpoint's todos in full, oldest first."""
    return [full_todo(todo) for todo in Todo.objects.filter(endpoint=endpoint).order_by("pk")]


def open_fleet(human: Human, source: str, **params: Any) -> tuple[Line, Endpoint]:
    """Return a door with the fleet pack, and the one worker of all its lanes; `params` join FLEET_PARAMS."""
    lanes = [queue for queue in load_pack("fleet").queues if queue != "hold"]
    door = open_door(human, source, queues=["hold"], webhook_queues=["hold", *lanes])
    worker = add_worker(door, *lanes)
    install(door, "fleet", **{**FLEET_PARAMS, **params})
    return door, worker


def install(door: Line, pack: str, **params: Any) -> dict[str, Any]:
    """Install a pack on the door's webhook and return the rules result."""
    return install_pack(principal=door.principal, webhook_id=door.webhook_id, name=pack, params=params)
