"""Every route of the operator API with a body that it would accept, and the records that its ids name."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from routing.models import WebhookRoute
from routing.webhooks import create_webhook
from switchboard.accounts.credentials import create_api_token
from switchboard.accounts.models import Human
from tests.api.caller import NOTHING
from tests.factories import make_connection, make_endpoint, make_event, make_reply, make_todo

RULE = {"id": "r1", "name": "all", "expr": "true", "action": {"queue": "work"}}


@dataclass(frozen=True)
class Route:
    """One method of one path; `{…}` are filled in with ids."""

    method: str
    path: str
    body: Any = NOTHING
    changes: bool = True

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


READS = [
    Route("GET", path, changes=False)
    for path in (
        "/endpoints",
        "/endpoints/{endpoint}",
        "/endpoints/{endpoint}/webhooks",
        "/tokens",
        "/webhooks",
        "/webhooks/{webhook}",
        "/webhooks/{webhook}/rules",
        "/webhooks/{webhook}/routes",
        "/rule-packs",
        "/routes",
        "/events",
        "/events/{event}",
        "/todos",
        "/todos/{todo}",
        "/todos/{todo}/replies",
        "/connections",
        "/connections/{connection}",
        "/connections/{connection}/replies",
    )
]
WRITES = [
    Route("POST", "/endpoints", {"name": "n", "queues": ["q"]}),
    Route("DELETE", "/endpoints/{endpoint}"),
    Route("POST", "/endpoints/{endpoint}/webhooks", {"source_type": "github", "target_queue": "work"}),
    Route("POST", "/tokens", {}),
    Route("DELETE", "/tokens/{token}"),
    Route("DELETE", "/webhooks/{webhook}"),
    Route("POST", "/webhooks/{webhook}/rotate", {}),
    Route("PUT", "/webhooks/{webhook}/secret", {"signing_secret": "a secret of the vendor"}),
    Route("PUT", "/webhooks/{webhook}/rules", {"rules": [RULE]}),
    Route("POST", "/webhooks/{webhook}/rules", RULE),
    Route("PATCH", "/webhooks/{webhook}/rules/r1", {"name": "other"}),
    Route("DELETE", "/webhooks/{webhook}/rules/r1"),
    Route("POST", "/webhooks/{webhook}/rules/r1/move", {"position": 0}),
    Route("PUT", "/webhooks/{webhook}/rule-pack", {"pack": "pool-review", "params": {"identity": "octavia"}}),
    Route("PUT", "/webhooks/{webhook}/routes/{other_endpoint}"),
    Route("DELETE", "/webhooks/{webhook}/routes/{other_endpoint}"),
    Route("POST", "/routes/{route}/approve"),
    Route("DELETE", "/routes/{route}"),
    Route("POST", "/todos/{todo}/retry"),
    Route("POST", "/todos/{todo}/release"),
    Route("POST", "/todos/{todo}/complete", {"result": {"ok": True}}),
    Route("POST", "/todos/{todo}/fail", {}),
    Route("POST", "/connections", {"kind": "github", "name": "n", "secret": "ghp_not-a-real-token"}),
    Route("PATCH", "/connections/{connection}", {"name": "other"}),
    Route("DELETE", "/connections/{connection}"),
    Route("PUT", "/connections/{connection}/secret", {"secret": "another-token"}),
    Route("POST", "/connections/{connection}/test"),
]
DRY_RUN = Route("POST", "/webhooks/{webhook}/rules/test", {"payload": {"a": 1}}, changes=False)
ROUTES = [*READS, *WRITES, DRY_RUN]


def furnish(human: Human) -> Mapping[str, str]:
    """Make one of each record for `human` and return their ids by the names that the paths use."""
    endpoint = make_endpoint(human).endpoint
    other = make_endpoint(human, name="other").endpoint
    webhook = create_webhook(endpoint=endpoint, source_type="github", target_queue="work").webhook
    event = make_event(endpoint, webhook=webhook)
    todo = make_todo(endpoint, event=event)
    # Its host is private, so its test is refused before anything is dialled.
    connection = make_connection(human, kind="gitea", account_key="https://127.0.0.1:1")
    make_reply(todo, connection)
    records = {
        "endpoint": endpoint,
        "other_endpoint": other,
        "webhook": webhook,
        "event": event,
        "todo": todo,
        "route": WebhookRoute.objects.create(webhook=webhook, endpoint=other, requested_by=human),
        "token": create_api_token(human=human).record,
        "connection": connection,
    }
    return {name: str(record.pk) for name, record in records.items()}
