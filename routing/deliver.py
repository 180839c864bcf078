"""Decide under the grant of this moment, then write the once claim, the event and its todos in one transaction."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction

from connections.targets import artifact_tags
from routing.address import derive_address
from routing.decide import Decision
from routing.envelope import Delivery
from routing.grant import compute_grant
from routing.health import count_outcome
from routing.models import Disposition, Event, OnceClaim, Webhook
from routing.router import Configuration, decide_delivery, work_order_of
from routing.rules import DROP
from routing.sandbox.client import Evaluation
from switchboard.database import insert, one_round_trip
from switchboard.errors import NotFound, Unavailable
from switchboard.ids import new_id
from switchboard.source_types import Source
from switchboard.text import one_line, storable
from switchboard.todos.doorbell import ring
from switchboard.todos.models import Todo

SELF_REPLY = "self_reply"


@dataclass(frozen=True)
class Arrival:
    """A verified delivery on its way into the store. `size` of the stored body is in bytes."""

    webhook: Webhook
    delivery: Delivery
    external_id: str
    kind: str | None
    label: str
    title: str
    verify_detail: str
    received_at: datetime


@dataclass(frozen=True)
class TodoReceipt:
    """One todo of a delivery, and whether this copy of the delivery made it."""

    id: str
    endpoint_id: str
    queue: str
    created: bool


@dataclass(frozen=True)
class Receipt:
    """What became of a delivery."""

    disposition: str
    verified: bool
    trust_mode: str
    event_id: str
    created: bool
    todos: tuple[TodoReceipt, ...] = ()
    trace: Mapping[str, Any] = field(default_factory=dict)


def deliver(arrival: Arrival, *, configuration: Configuration, evaluation: Evaluation) -> Receipt:
    """Store the delivery and return its receipt; of several copies the database's constraint decides the first.

    Raises Unavailable when the webhook has no live delivery target, NotFound when it was deleted meanwhile.
    """
    grant = compute_grant(arrival.webhook, now=arrival.received_at)
    if not grant.targets:
        raise Unavailable("This webhook has no live delivery target.")
    return _store(arrival, decide_delivery(configuration, arrival.delivery, evaluation=evaluation, grant=grant))


def record_self_reply(arrival: Arrival) -> Receipt:
    """Store a delivery that is one of the owner's own replies coming back: an event, and no todo."""
    return _store(arrival, Decision(DROP, (), {"stage": "default", "cause": SELF_REPLY, "action": DROP.as_json()}))


def _store(arrival: Arrival, decision: Decision) -> Receipt:
    try:
        with transaction.atomic(), one_round_trip():
            return _write(arrival, decision)
    except IntegrityError:
        earlier = _earlier(arrival)
        if earlier is None and not Webhook.objects.filter(pk=arrival.webhook.pk).exists():
            raise NotFound from None
        if earlier is None:
            raise
        return earlier


def _write(arrival: Arrival, decision: Decision) -> Receipt:
    event_id = new_id()
    repeat = decision.once_key is not None and not _claim(arrival, decision.once_key, event_id)
    trace = {**decision.trace, "once": "repeat"} if repeat else dict(decision.trace)
    disposition = _disposition(decision, repeat=repeat)
    event = _event(arrival, event_id, disposition, trace)
    todos = _todos(arrival, event, decision) if disposition == Disposition.ROUTED else []
    insert([event, *todos])
    ring(todos)
    count_outcome(arrival.webhook, trace, now=arrival.received_at)
    return _receipt(event, todos, created=True)


def _disposition(decision: Decision, *, repeat: bool) -> Disposition:
    if repeat:
        return Disposition.REPEAT
    if decision.trace.get("cause") == SELF_REPLY:
        return Disposition.SELF_REPLY
    return Disposition.DROPPED if decision.drop else Disposition.ROUTED


def _claim(arrival: Arrival, once_key: str, event_id: UUID) -> bool:
    """Claim the key for this event; False when another delivery holds it. A concurrent claim is waited for."""
    claim = OnceClaim(webhook=arrival.webhook, once_key=once_key, event_id=event_id)
    OnceClaim.objects.bulk_create([claim], ignore_conflicts=True)
    return OnceClaim.objects.filter(webhook=arrival.webhook, once_key=once_key, event_id=event_id).exists()


def _event(arrival: Arrival, event_id: UUID, disposition: Disposition, trace: dict[str, Any]) -> Event:
    delivery = arrival.delivery
    return Event(
        id=event_id,
        webhook=arrival.webhook,
        owner_human_id=arrival.webhook.endpoint.owner_human_id,
        owner_team_id=arrival.webhook.endpoint.owner_team_id,
        source=delivery.source.value,
        external_id=arrival.external_id,
        kind=None if arrival.kind is None else one_line(arrival.kind, limit=255),
        label=arrival.label,
        title=arrival.title,
        received_at=arrival.received_at,
        trust_mode=delivery.trust_mode,
        verified=delivery.verified,
        verify_detail=arrival.verify_detail,
        content_type=storable(delivery.content_type),
        headers=dict(delivery.headers),
        body=delivery.body,
        size=len(delivery.body),
        disposition=disposition,
        rule_id=trace.get("rule_id", ""),
        routing_trace=trace,
    )


def _todos(arrival: Arrival, event: Event, decision: Decision) -> list[Todo]:
    work_order = work_order_of(arrival.delivery, decision)
    reply_to, reply_tags = _reply_address(arrival.delivery)
    return [
        Todo(
            endpoint_id=target.pk,
            event=event,
            queue=decision.action.queue or arrival.webhook.target_queue,
            source=event.source,
            kind=event.kind,
            label=event.label,
            title=event.title,
            payload_size=event.size,
            idempotency_key=f"{event.source}:{event.external_id}",
            routing_trace=event.routing_trace,
            work_order=work_order,
            reply_to=reply_to,
            reply_tags=reply_tags,
            created_at=event.received_at,
        )
        for target in decision.targets
    ]


def _reply_address(delivery: Delivery) -> tuple[dict[str, Any] | None, list[str]]:
    """Return where an answer would go, and the tags that a connection may ask for; nowhere unless verified."""
    if delivery.trust_mode != "signed" or not delivery.verified:
        return None, []
    address = derive_address(delivery.source, delivery.document)
    if address is None:
        return None, []
    tags = artifact_tags(delivery.document.value) if delivery.source is Source.CAIRN else []
    return address.as_json(), [storable(tag) for tag in sorted(tags)]


def _earlier(arrival: Arrival) -> Receipt | None:
    """Return the receipt of the copy that came first, whatever its todos' state is by now."""
    event = Event.objects.filter(source=arrival.delivery.source.value, external_id=arrival.external_id).first()
    if event is None:
        return None
    return _receipt(event, list(event.todos.order_by("pk")), created=False)


def _receipt(event: Event, todos: Sequence[Todo], *, created: bool) -> Receipt:
    return Receipt(
        disposition=str(event.disposition),
        verified=event.verified,
        trust_mode=str(event.trust_mode),
        event_id=str(event.pk),
        created=created,
        todos=tuple(TodoReceipt(str(todo.pk), str(todo.endpoint_id), todo.queue, created) for todo in todos),
        trace=event.routing_trace,
    )
