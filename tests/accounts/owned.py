"""One record of each kind that an owner can have."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Model, QuerySet

from connections.models import Connection
from replies.models import Reply
from routing.models import Event, Webhook, WebhookRoute
from routing.webhooks import create_webhook
from switchboard.accounts.credentials import create_api_token
from switchboard.accounts.models import ApiToken, Endpoint, Human, Team
from switchboard.accounts.reach import Principal
from switchboard.todos.models import Todo
from tests.factories import make_connection, make_endpoint, make_event, make_reply, make_todo

REACHED: list[type[Any]] = [Endpoint, ApiToken, Webhook, WebhookRoute, Event, Todo, Connection, Reply]


@dataclass(frozen=True)
class Belongings:
    """What one owner has: a record of each model, and the endpoint that the others hang from."""

    endpoint: Endpoint
    rows: dict[type[Any], Model]

    def row(self, model: type[Any]) -> Any:
        """Return the record of that model."""
        return self.rows[model]


def make_belongings(human: Human, *, team: Team | None = None) -> Belongings:
    """Return one record of each model of `human`, or of `team` with `human` as the one who made them."""
    endpoint, further = (_owned_by(make_endpoint(human, name=name).endpoint, team) for name in ("agent", "second"))
    webhook = create_webhook(endpoint=endpoint, source_type="github", target_queue="work").webhook
    event = make_event(endpoint, webhook=webhook)
    todo = make_todo(endpoint, event=event)
    # An owner has one connection an account, and the team's is made as its maker's first.
    account = {} if team is None else {"kind": "slack", "account_key": "T0123"}
    connection = _owned_by(make_connection(human, **account), team)
    rows: list[Model] = [
        endpoint,
        create_api_token(human=human).record,
        webhook,
        WebhookRoute.objects.create(webhook=webhook, endpoint=further),
        event,
        todo,
        connection,
        make_reply(todo, connection),
    ]
    return Belongings(endpoint, {type(row): row for row in rows})


def reached(principal: Principal, belongings: Belongings) -> set[type[Any]]:
    """Return the models whose record among the belongings the principal reaches."""
    found: set[type[Any]] = set()
    for model in REACHED:
        rows: QuerySet[Any] = model.objects.within_reach(principal)
        if rows.filter(pk=belongings.row(model).pk).exists():
            found.add(model)
    return found


def _owned_by(row: Any, team: Team | None) -> Any:
    if team is not None:
        type(row).objects.filter(pk=row.pk).update(owner_human=None, owner_team=team)
        row.refresh_from_db()
    return row
