"""Adding goes through the use cases; credentials and secrets are shown in that one answer and never again."""

import re
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client, override_settings

from routing.models import Webhook, WebhookRoute
from switchboard.accounts.credentials import authenticate_endpoint, authenticate_token
from switchboard.accounts.models import ApiToken, Endpoint, Human
from switchboard.accounts.verbs import BasicVerbs
from tests.admin.conftest import World, signed_in
from tests.admin.paths import add_path, list_path, page_path
from tests.factories import make_endpoint, make_human

pytestmark = pytest.mark.django_db


def vend(client: Client, human: Human, **fields: Any) -> Any:
    values = {
        "human": str(human.pk),
        "name": "Deploy agent",
        "queues": "work lane-m",
        "verbs": list(BasicVerbs()),
        "webhook_max": "3",
        "webhook_source_types": ["github"],
        "webhook_queues": "",
        "default_lease_seconds": "60",
        "expires_at_0": "",
        "expires_at_1": "",
    }
    return client.post(add_path(Endpoint), values | fields)


def add_webhook(client: Client, endpoint: Endpoint, **fields: str) -> Any:
    values = {"endpoint": str(endpoint.pk), "source_type": "github", "target_queue": "work", "signing_secret": ""}
    return client.post(add_path(Webhook), values | fields)


def shown(answer: Any, pattern: str) -> str:
    found = re.search(pattern, answer.content.decode())
    assert found, answer.content.decode()[:2000]
    return found[0]


def pages_after(client: Client, record: Any) -> str:
    paths = ["/admin/", add_path(type(record)), list_path(type(record))]
    paths += [page_path(record, page) for page in ("change", "history")]
    return " ".join(client.get(path, follow=True).content.decode() for path in paths)


def test_a_vended_endpoints_credential_is_shown_once_and_works(owner: Human) -> None:
    client = signed_in(owner)
    answer = vend(client, owner)
    credential = shown(answer, r"sbk_[\w-]{43}")
    endpoint: Any = authenticate_endpoint(credential)

    assert answer.status_code == 200
    assert endpoint.scope_queues == ["work", "lane-m"]
    assert endpoint.webhook_queues == ["work", "lane-m"]
    assert credential not in pages_after(client, endpoint)
    assert "no-store" in answer["Cache-Control"]


def test_a_shown_secret_is_in_no_session_and_no_cookie(owner: Human) -> None:
    client = signed_in(owner)
    credential = shown(vend(client, owner), r"sbk_[\w-]{43}")

    assert credential not in str(dict(client.session))
    assert credential not in str(client.cookies)


def test_a_refused_vending_tells_the_field(owner: Human) -> None:
    answer = vend(signed_in(owner), owner, queues="work bad*queue")

    assert "queues" in answer.context["adminform"].form.errors
    assert not Endpoint.objects.exists()


def test_a_past_expiry_is_refused_on_its_field(owner: Human) -> None:
    answer = vend(signed_in(owner), owner, expires_at_0="2001-01-01", expires_at_1="00:00:00")

    assert "expires_at" in answer.context["adminform"].form.errors


def test_an_api_token_is_shown_once_and_works(owner: Human) -> None:
    client = signed_in(owner)
    answer = client.post(add_path(ApiToken), {"human": str(owner.pk), "name": "ci", "scopes": ["read"]})
    token = shown(answer, r"sb_[\w-]{43}")
    record: Any = authenticate_token(token)

    assert record.scopes == ["read"]
    assert token not in pages_after(client, record)


def test_a_webhooks_address_and_minted_secret_are_shown_once(owner: Human) -> None:
    client = signed_in(owner)
    answer = add_webhook(client, make_endpoint(owner).endpoint)
    token = shown(answer, r"(?<=/webhooks/w/)[\w-]{43}")
    secret = shown(answer, r"whsec_[\w-]{43}")
    webhook = Webhook.objects.get()

    later = pages_after(client, webhook)
    assert token not in later
    assert secret not in later


def test_a_supplied_secret_is_never_shown(owner: Human) -> None:
    answer = add_webhook(
        signed_in(owner), make_endpoint(owner).endpoint, source_type="slack", signing_secret="vendor-issued-8371"
    )

    assert answer.status_code == 200
    assert Webhook.objects.get().signing_secret_sealed
    assert "vendor-issued-8371" not in answer.content.decode()


def test_a_supplied_secret_is_not_put_back_into_a_refused_form(owner: Human) -> None:
    endpoint = make_endpoint(owner).endpoint
    answer = add_webhook(signed_in(owner), endpoint, target_queue="other", signing_secret="vendor-issued-8371")

    assert "target_queue" in answer.context["adminform"].form.errors
    assert "vendor-issued-8371" not in answer.content.decode()


def test_without_an_encryption_key_the_form_says_so(owner: Human) -> None:
    endpoint = make_endpoint(owner).endpoint
    with override_settings(SWITCHBOARD_ENCRYPTION_KEY=None):
        answer = add_webhook(signed_in(owner), endpoint)

    assert "SWITCHBOARD_SECRET_ENCRYPTION_KEY" in answer.content.decode()


def test_a_ceiling_is_told_on_the_form(owner: Human) -> None:
    answer = add_webhook(signed_in(owner), make_endpoint(owner, webhook_max=0).endpoint)

    assert answer.context["adminform"].form.non_field_errors()
    assert not Webhook.objects.exists()


def test_a_superuser_vends_for_another_human(root: Human) -> None:
    other = make_human("other")
    vend(signed_in(root), other)

    assert Endpoint.objects.get().owner_human == other


def test_a_route_is_added_and_live_at_once_for_the_same_owner(world: World) -> None:
    third = make_endpoint(world.owner, name="third").endpoint
    answer = signed_in(world.owner).post(
        add_path(WebhookRoute), {"webhook": str(world.webhook.pk), "endpoint": str(third.pk)}
    )

    assert answer.status_code == 302
    assert WebhookRoute.objects.get(endpoint=third).granted_at is not None


def test_a_route_to_another_owners_endpoint_waits(root: Human, world: World) -> None:
    theirs = make_endpoint(make_human("other")).endpoint
    signed_in(root).post(add_path(WebhookRoute), {"webhook": str(world.webhook.pk), "endpoint": str(theirs.pk)})

    assert WebhookRoute.objects.get(endpoint=theirs).granted_at is None


def test_an_endpoint_cannot_be_changed_after_it_was_vended(root: Human, world: World) -> None:
    answer = signed_in(root).post(page_path(world.endpoint, "change"), {"scope_queues": '["everything"]'})
    world.endpoint.refresh_from_db()

    assert answer.status_code == 403
    assert world.endpoint.scope_queues == ["work"]


def test_creations_are_in_the_history(owner: Human) -> None:
    vend(signed_in(owner), owner)

    assert LogEntry.objects.get().object_id == str(Endpoint.objects.get().pk)
