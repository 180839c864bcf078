"""Plain functions that make the records a test starts from, through the project's own use cases where one exists."""

import hashlib
import json
from collections.abc import Sequence
from datetime import datetime
from itertools import count
from typing import Any

from django.utils import timezone

from connections.manage import create_connection
from connections.models import Connection
from replies.models import Reply
from routing.models import Event, Webhook
from switchboard.accounts.models import Endpoint, Human
from switchboard.accounts.reach import Principal
from switchboard.accounts.vend import VendedEndpoint, vend_endpoint
from switchboard.sealing import Secret
from switchboard.todos.models import Todo

PASSWORD = "a long enough password"
_numbers = count(1)


def make_human(name: str = "owner", **fields: Any) -> Human:
    """Return a human who can sign in with PASSWORD; `fields` are columns such as `is_superuser=True`."""
    return Human.objects.create_user(username=name, password=PASSWORD, **fields)


def make_endpoint(
    human: Human,
    *,
    name: str = "agent",
    queues: Sequence[str] = ("work",),
    verbs: Sequence[str] | str = "basics",
    **options: Any,
) -> VendedEndpoint:
    """Vend an endpoint of `human`: `.endpoint` is the record, `.credential` its `sbk_…` bearer.

    `options` are further arguments of `vend_endpoint`, such as `webhook_max=1` or `default_lease_seconds=60`.
    """
    return vend_endpoint(human=human, name=name, queues=queues, verbs=verbs, **options)


def make_event(
    endpoint: Endpoint,
    *,
    webhook: Webhook | None = None,
    source: str = "github",
    delivery_id: str | None = None,
    kind: str | None = "issues",
    label: str = "issues.opened",
    title: str = "An issue",
    payload: Any = None,
    body: bytes | None = None,
    received_at: datetime | None = None,
    **fields: Any,
) -> Event:
    """Return a verified, routed event of the endpoint's owner, with a delivery id of its own.

    The body is `body` (bytes as received), or `payload` as JSON, or a small issue. `fields` are further columns,
    such as `disposition="dropped"`, `headers={…}` or `routing_trace={…}`.
    """
    content = body if body is not None else json.dumps(payload or {"action": "opened"}).encode()
    scope = webhook.pk if webhook else "no-webhook"
    defaults: dict[str, Any] = {
        "trust_mode": "signed",
        "verified": True,
        "verify_detail": "ok",
        "content_type": "application/json",
        "headers": {},
        "disposition": "routed",
        "routing_trace": {"cause": "default"},
    }
    return Event.objects.create(
        owner_human=endpoint.owner_human,
        owner_team=endpoint.owner_team,
        webhook=webhook,
        source=source,
        external_id=f"{scope}:{delivery_id or f'delivery-{next(_numbers)}'}",
        kind=kind,
        label=label,
        title=title,
        received_at=received_at or timezone.now(),
        body=content,
        size=len(content),
        **{**defaults, **fields},
    )


def make_todo(endpoint: Endpoint, *, queue: str | None = None, event: Event | None = None, **fields: Any) -> Todo:
    """Return a pending todo of the endpoint in `queue` (its first one by default), born of `event` or a new one.

    `fields` are further columns, such as `state="done"`, `attempt=2`, `reply_to={…}`, `title="…"` or
    `idempotency_key="…"`; what the event knows (source, kind, label, title, size, trace) is copied from it.
    """
    born_of = event or make_event(endpoint)
    defaults: dict[str, Any] = {
        "source": born_of.source,
        "kind": born_of.kind,
        "label": born_of.label,
        "title": born_of.title,
        "payload_size": born_of.size,
        "routing_trace": born_of.routing_trace,
        "idempotency_key": f"{born_of.source}:{born_of.external_id}",
    }
    return Todo.objects.create(
        endpoint=endpoint,
        event=born_of,
        queue=queue or endpoint.scope_queues[0],
        **{**defaults, **fields},
    )


def make_connection(human: Human, *, secret: str = "ghp_not-a-real-token", **options: Any) -> Connection:
    """Store a connection of `human`: to github.com unless `options` say otherwise.

    They are further arguments of `create_connection`, such as `kind="slack"`, `account_key="T0123"`, `name="…"`,
    `targets=[…]` or `endpoints=[…]`.
    """
    return create_connection(
        principal=Principal.of_human(human),
        acting=human,
        secret=Secret(secret),
        **{"kind": "github", "name": f"connection {next(_numbers)}", **options},
    )


def make_reply(todo: Todo, connection: Connection, *, text: str = "Done.", **fields: Any) -> Reply:
    """Return a reply to the todo that was sent through the connection; `fields` are further columns."""
    sent: dict[str, Any] = {
        "provider": connection.kind,
        "account": connection.account_key,
        "address_kind": "forge_comment",
        "display": f"{connection.kind} acme/widgets#7",
        "idempotency_key": f"key-{next(_numbers)}",
        "text_sha256": hashlib.sha256(text.encode()).hexdigest(),
        "state": "sent",
        "object_id": str(next(_numbers)),
        "taken_at": timezone.now(),
        "finished_at": timezone.now(),
    }
    return Reply.objects.create(
        todo=todo,
        endpoint=todo.endpoint,
        owner_human=connection.owner_human,
        owner_team=connection.owner_team,
        connection=connection,
        connection_name=connection.name,
        connection_fingerprint=connection.fingerprint,
        text=text,
        **{**sent, **fields},
    )
