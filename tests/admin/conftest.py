"""The admin's cast: a superuser, a staff owner with hostile content, a staff stranger, and what must not show."""

from dataclasses import dataclass
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.test import Client

from connections.models import Connection
from replies.models import Reply
from routing.models import Event, OnceClaim, Refusal, Webhook, WebhookRoute
from routing.routes import add_route
from routing.webhooks import create_webhook, rotate_webhook
from switchboard.accounts.credentials import create_api_token
from switchboard.accounts.models import ApiToken, Endpoint, Human, Membership, Team
from switchboard.accounts.reach import Principal
from switchboard.todos.models import Todo
from tests.factories import make_connection, make_endpoint, make_event, make_human, make_reply, make_todo

HOSTILE = "<img src=x onerror=alert(1)>"
HOSTILE_BODY = b'{"n": 9007199254740993, "s": "a\\u0000b\\ud800\\u202e\x7f", "t": "<script>alert(1)</script>"}'


def make_staff(name: str) -> Human:
    """Return a staff human with every model permission, so that reach alone decides."""
    human = make_human(name, is_staff=True)
    human.user_permissions.set(Permission.objects.all())
    return human


def signed_in(human: Human) -> Client:
    client = Client()
    client.force_login(human)
    return client


@dataclass(frozen=True)
class World:
    """Everything that the owner has, one record a model, and the texts that no page may hold."""

    owner: Human
    endpoint: Endpoint
    target: Endpoint
    webhook: Webhook
    route: WebhookRoute
    event: Event
    todo: Todo
    token: ApiToken
    claim: OnceClaim
    refusal: Refusal
    team: Team
    membership: Membership
    connection: Connection
    reply: Reply
    secrets: dict[str, Any]

    @property
    def records(self) -> list[Any]:
        """One record of every registered model."""
        return [
            self.owner,
            self.team,
            self.membership,
            self.endpoint,
            self.token,
            self.webhook,
            self.route,
            self.event,
            self.claim,
            self.refusal,
            self.todo,
            self.connection,
            self.reply,
        ]


@pytest.fixture
def root(db: None) -> Human:
    return make_human("root", is_staff=True, is_superuser=True)


@pytest.fixture
def owner(db: None) -> Human:
    return make_staff("olga-owner")


@pytest.fixture
def stranger(db: None) -> Human:
    return make_staff("stranger")


@pytest.fixture
def world(owner: Human) -> World:
    vended = make_endpoint(owner, name="owners agent")
    target = make_endpoint(owner, name="owners second agent").endpoint
    created = create_webhook(endpoint=vended.endpoint, source_type="github", target_queue="work")
    principal = Principal.of_human(owner)
    rotated = rotate_webhook(
        principal=principal, webhook_id=str(created.webhook.pk), rotate_url=True, keep_previous_for_seconds=600
    )
    webhook = rotated.webhook
    route = add_route(principal=principal, webhook_id=str(webhook.pk), endpoint_id=str(target.pk), acting_human=owner)
    token = create_api_token(human=owner, name="owners token")
    trace = {"stage": "rule", "rule_name": HOSTILE, "rule_id": "r1"}
    event = make_event(
        vended.endpoint,
        webhook=webhook,
        title=HOSTILE,
        kind=HOSTILE,
        label=HOSTILE,
        body=HOSTILE_BODY,
        headers={"x-hostile": HOSTILE},
        routing_trace=trace,
    )
    todo = make_todo(vended.endpoint, event=event, work_order={"task": HOSTILE}, result={"said": HOSTILE})
    claim = OnceClaim.objects.create(webhook=webhook, once_key="owners-key", event_id=event.pk)
    refusal = Refusal.objects.create(webhook=webhook, reason="owners_stale", count=3, last_at=event.received_at)
    team = Team.objects.create(slug="owners-team", name="Owners")
    membership = Membership.objects.create(team=team, human=owner, role="owner")
    provider_token = "ghp_the-owners-provider-token"
    connection = make_connection(owner, name="owners forge", secret=provider_token)
    reply = make_reply(todo, connection, text=HOSTILE, permalink="javascript:alert(1)", display=HOSTILE)
    secrets = {
        "credential": vended.credential,
        "credential hash": vended.endpoint.credential_hash,
        "token": token.token,
        "token hash": token.record.token_hash,
        "ingest token": rotated.ingest_url.rsplit("/", 1)[1],
        "former ingest token": created.ingest_url.rsplit("/", 1)[1],
        "ingest token hash": webhook.ingest_token_hash,
        "former ingest token hash": webhook.previous_ingest_token_hash,
        "signing secret": rotated.signing_secret,
        "former signing secret": created.signing_secret,
        "sealed token": webhook.ingest_token_sealed,
        "sealed secret": webhook.signing_secret_sealed,
        "sealed former secret": webhook.previous_secret_sealed,
        "provider token": provider_token,
        "sealed provider token": connection.secret_sealed,
        "password": owner.password,
        "password hash": owner.password.rsplit("$", 1)[1],
    }
    assert all(secrets.values())
    return World(
        owner=owner,
        endpoint=vended.endpoint,
        target=target,
        webhook=webhook,
        route=route,
        event=event,
        todo=todo,
        token=token.record,
        claim=claim,
        refusal=refusal,
        team=team,
        membership=membership,
        connection=connection,
        reply=reply,
        secrets=secrets,
    )
