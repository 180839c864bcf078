"""A webhook of each source with its owner, ready to take deliveries."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.test import Client

from routing.models import Event, Webhook
from routing.webhooks import CreatedWebhook, create_webhook, set_signing_secret
from switchboard.accounts.models import Endpoint, Human
from switchboard.accounts.reach import Principal
from switchboard.todos.models import Todo
from tests.deliveries import SECRET, SignedDelivery
from tests.factories import make_endpoint, make_human


@dataclass
class Line:
    """One webhook with its owner and a client to post to it."""

    human: Human
    endpoint: Endpoint
    created: CreatedWebhook
    client: Client

    @property
    def webhook(self) -> Webhook:
        return Webhook.objects.get(pk=self.created.webhook.pk)

    @property
    def webhook_id(self) -> str:
        return str(self.created.webhook.pk)

    @property
    def principal(self) -> Principal:
        return Principal.of_human(self.human)

    @property
    def path(self) -> str:
        return urlsplit(self.created.ingest_url).path

    def post(self, delivery: SignedDelivery) -> Any:
        return delivery.post(self.client, self.path)

    @property
    def events(self) -> list[Event]:
        return list(Event.objects.order_by("pk"))

    @property
    def todos(self) -> list[Todo]:
        return list(Todo.objects.order_by("pk"))


OpenLine = Callable[..., Line]


@pytest.fixture
def line(db: None) -> OpenLine:
    """Return a function that makes a webhook of a source, owned by a human of its own unless told otherwise."""

    def open_line(source: str = "github", *, human: Human | None = None, queues: tuple[str, ...] = ("inbox",)) -> Line:
        owner = human or make_human(f"owner-of-{source}")
        endpoint = make_endpoint(owner, queues=list(queues)).endpoint
        created = create_webhook(endpoint=endpoint, source_type=source, target_queue=queues[0])
        if source != "generic":
            set_signing_secret(
                principal=Principal.of_human(owner), webhook_id=str(created.webhook.pk), signing_secret=SECRET
            )
        return Line(owner, endpoint, created, Client())

    return open_line
