"""The receiver, through its URL: answers, what is stored, and what is refused (contract §3)."""

import json
from collections.abc import Callable
from functools import partial

import pytest
from django.db import IntegrityError, transaction
from django.test import Client

from routing.models import Event, Refusal, Webhook
from routing.webhooks import create_webhook, rotate_webhook
from switchboard.accounts.vend import revoke_endpoint
from switchboard.todos.models import Todo
from tests import deliveries
from tests.deliveries import altered, github_issue, signed
from tests.factories import make_endpoint, make_human
from tests.routing.conftest import OpenLine

pytestmark = pytest.mark.django_db


def test_a_signed_delivery_becomes_an_event_and_a_todo(line: OpenLine) -> None:
    webhook = line("github")
    delivery = github_issue(title="Crash on start")
    response = webhook.post(delivery)
    event, todo = webhook.events[0], webhook.todos[0]
    assert response.status_code == 202
    assert response.json() == {
        "todos": [{"id": str(todo.pk), "endpoint_id": str(webhook.endpoint.pk), "queue": "inbox", "created": True}],
        "created": 1,
        "id": str(todo.pk),
        "queue": "inbox",
        "verified": True,
        "trust_mode": "signed",
    }
    assert bytes(event.body) == delivery.body
    assert event.external_id == f"{webhook.webhook_id}:{delivery.headers['X-GitHub-Delivery']}"
    assert (event.kind, event.label, event.disposition) == ("issues", "issues.opened", "routed")
    assert "Crash on start" in todo.title
    assert todo.routing_trace == event.routing_trace
    assert event.routing_trace == {"stage": "default", "cause": "no_match_default", "action": {"queue": "inbox"}}


def test_a_redelivery_answers_the_todo_that_is_there(line: OpenLine) -> None:
    webhook = line("github")
    delivery = github_issue()
    first, second = webhook.post(delivery).json(), webhook.post(delivery).json()
    assert second["id"] == first["id"]
    assert second["created"] == 0
    assert second["todos"] == [{**first["todos"][0], "created": False}]
    assert (len(webhook.events), len(webhook.todos)) == (1, 1)


def test_a_redelivery_answers_its_todo_even_when_that_is_done(line: OpenLine) -> None:
    webhook = line("github")
    delivery = github_issue()
    first = webhook.post(delivery).json()
    Todo.objects.update(state="done")
    assert webhook.post(delivery).json()["id"] == first["id"]
    assert len(webhook.todos) == 1


def test_one_delivery_id_on_two_webhooks_is_two_deliveries(line: OpenLine) -> None:
    owner = make_human("owner")
    one, two = line("github", human=owner), line("github", human=owner)
    delivery = github_issue(delivery_id="the-same")
    assert one.post(delivery).json()["created"] == two.post(delivery).json()["created"] == 1


@pytest.mark.parametrize("source", ["github", "gitea", "slack", "stripe", "cairn"])
def test_every_bad_signature_is_refused_in_one_voice_and_nothing_is_stored(line: OpenLine, source: str) -> None:
    webhook = line(source)
    good = _delivery_of(source)
    flipped = altered(good, body=good.body[:-1] + bytes([good.body[-1] ^ 1]))
    bare = altered(good, headers=dict.fromkeys(deliveries.signature_headers(source, b"x", "y", good.at)))
    answers = [webhook.post(flipped), webhook.post(bare)]
    assert [answer.status_code for answer in answers] == [401, 401]
    assert answers[0].content == answers[1].content
    assert answers[0].json() == {
        "error": "The delivery's signature did not verify.",
        "code": "invalid_signature",
    }
    assert not Event.objects.exists()
    assert not Todo.objects.exists()
    assert {refusal.reason for refusal in Refusal.objects.all()} == {"signature_mismatch", "missing_signature"}


def test_refusals_are_counted_for_the_owner_by_reason(line: OpenLine) -> None:
    webhook = line("github")
    for _ in range(3):
        webhook.post(altered(github_issue(), body=b"{}"))
    refusal = Refusal.objects.get()
    assert (refusal.reason, refusal.count) == ("signature_mismatch", 3)


def test_a_generic_delivery_is_trusted_by_its_url_and_never_verified(line: OpenLine) -> None:
    webhook = line("generic")
    response = webhook.post(deliveries.generic_alert())
    assert response.json()["verified"] is False
    assert response.json()["trust_mode"] == "token"


def test_a_body_without_a_delivery_id_is_known_by_its_hash(line: OpenLine) -> None:
    webhook = line("generic")
    delivery = signed("generic", b'{"disk":"full"}')
    assert webhook.post(delivery).json()["created"] == 1
    assert webhook.post(delivery).json()["created"] == 0
    assert webhook.post(signed("generic", b'{"disk":"fine"}')).json()["created"] == 1


def test_slacks_address_challenge_is_answered_and_not_stored(line: OpenLine) -> None:
    webhook = line("slack")
    response = webhook.post(deliveries.slack_challenge(challenge="3eZbrw1aB"))
    assert (response.status_code, response.json()) == (200, {"challenge": "3eZbrw1aB"})
    assert not Event.objects.exists()


def test_a_challenge_that_does_not_verify_is_refused(line: OpenLine) -> None:
    webhook = line("slack")
    assert webhook.post(deliveries.slack_challenge(secret="another")).status_code == 401


@pytest.mark.parametrize("token", ["unknown", "é", "x" * 500, "%00", "a%2Fb"])
def test_an_unknown_address_answers_404_in_json(db: None, token: str) -> None:
    response = Client().post(f"/webhooks/w/{token}", data=b"{}", content_type="application/json")
    assert response.status_code == 404
    if token != "a%2Fb":
        assert response.json() == {"error": "There is no webhook at this address.", "code": "not_found"}


@pytest.mark.parametrize("method", ["get", "put", "delete", "patch", "head", "options"])
def test_only_post_is_allowed(line: OpenLine, method: str) -> None:
    webhook = line("github")
    response = getattr(webhook.client, method)(webhook.path)
    assert response.status_code == 405
    assert response.headers["Allow"] == "POST"


def test_a_final_slash_is_no_redirect(line: OpenLine) -> None:
    webhook = line("github")
    response = github_issue().post(webhook.client, webhook.path + "/")
    assert response.status_code == 202


def test_five_mebibytes_are_taken_and_one_byte_more_is_refused(line: OpenLine) -> None:
    webhook = line("github")
    frame = len(b'{"text":""}')
    largest = signed("github", b'{"text":"' + b"x" * (5 * 1024 * 1024 - frame) + b'"}')
    larger = signed("github", b'{"text":"' + b"x" * (5 * 1024 * 1024 - frame + 1) + b'"}')
    assert webhook.post(largest).status_code == 202
    refused = webhook.post(larger)
    assert (refused.status_code, refused.json()["code"]) == (413, "too_large")
    assert Event.objects.count() == 1


@pytest.mark.parametrize("encoding", ["gzip", "br", "deflate, gzip"])
def test_an_encoded_body_is_refused_and_not_inflated(line: OpenLine, encoding: str) -> None:
    webhook = line("github")
    response = webhook.post(altered(github_issue(), headers={"Content-Encoding": encoding}))
    assert (response.status_code, response.json()["code"]) == (415, "unsupported_encoding")


def test_a_vendor_webhook_without_its_secret_is_not_available_yet(db: None) -> None:
    endpoint = make_endpoint(make_human("owner"), queues=["inbox"]).endpoint
    created = create_webhook(endpoint=endpoint, source_type="slack", target_queue="inbox")
    assert created.signing_secret is None
    response = deliveries.slack_message().post(Client(), "/webhooks/w/" + created.ingest_url.rsplit("/", 1)[1])
    assert (response.status_code, response.json()["code"]) == (503, "unavailable")


def test_a_webhook_without_a_live_target_is_not_available(line: OpenLine) -> None:
    webhook = line("github")
    revoke_endpoint(principal=webhook.principal, ref=str(webhook.endpoint.pk))
    response = webhook.post(github_issue())
    assert (response.status_code, response.json()["code"]) == (503, "unavailable")
    assert not Event.objects.exists()


def test_a_rotated_secret_overlaps_with_the_former_one(line: OpenLine) -> None:
    webhook = line("github")
    rotated = rotate_webhook(principal=webhook.principal, webhook_id=webhook.webhook_id, keep_previous_for_seconds=60)
    assert rotated.ingest_url == webhook.created.ingest_url
    assert rotated.signing_secret is not None
    assert webhook.post(github_issue()).status_code == 202
    assert webhook.post(github_issue(secret=rotated.signing_secret)).status_code == 202
    again = rotate_webhook(principal=webhook.principal, webhook_id=webhook.webhook_id)
    assert webhook.post(github_issue()).status_code == 401
    assert webhook.post(github_issue(secret=rotated.signing_secret)).status_code == 401
    assert again.signing_secret is not None
    assert webhook.post(github_issue(secret=again.signing_secret)).status_code == 202


def test_a_rotated_address_overlaps_only_when_asked(line: OpenLine) -> None:
    webhook = line("generic")
    rotate_webhook(principal=webhook.principal, webhook_id=webhook.webhook_id, keep_previous_for_seconds=60)
    assert webhook.post(deliveries.generic_alert()).status_code == 202
    rotate_webhook(principal=webhook.principal, webhook_id=webhook.webhook_id)
    assert webhook.post(deliveries.generic_alert()).status_code == 404


def test_the_stored_row_never_shows_the_ingest_token(line: OpenLine) -> None:
    webhook = line("github")
    token = webhook.path.rsplit("/", 1)[1]
    body = json.dumps({"zen": "Keep it simple.", "hook": {"config": {"url": webhook.created.ingest_url}}}).encode()
    headers = {"X-GitHub-Event": "ping", "Referer": webhook.created.ingest_url, "X-GitHub-Delivery": "d1"}
    response = webhook.post(signed("github", body, headers=headers))
    event = webhook.events[0]
    assert response.status_code == 202
    assert token not in bytes(event.body).decode()
    assert token not in json.dumps(event.headers)
    assert event.size == len(body)
    row = json.dumps(list(Webhook.objects.values()), default=str)
    assert token not in row


def test_a_cookie_has_no_authority_and_none_is_set(line: OpenLine) -> None:
    webhook = line("github")
    webhook.client.force_login(webhook.human)
    response = webhook.post(altered(github_issue(), body=b"{}"))
    assert response.status_code == 401
    assert not webhook.post(github_issue()).cookies


def _delivery_of(source: str) -> deliveries.SignedDelivery:
    builders: dict[str, Callable[[], deliveries.SignedDelivery]] = {
        "github": deliveries.github_issue,
        "gitea": deliveries.gitea_issue,
        "slack": deliveries.slack_message,
        "stripe": deliveries.stripe_event,
        "cairn": deliveries.cairn_artifact,
    }
    return builders[source]()


def test_the_reply_address_of_a_todo_cannot_be_changed(line: OpenLine) -> None:
    webhook = line("github")
    webhook.post(github_issue(number=17))
    todo = webhook.todos[0]
    assert todo.reply_to is not None
    assert todo.reply_to["number"] == 17
    with pytest.raises(IntegrityError), transaction.atomic():
        Todo.objects.filter(pk=todo.pk).update(reply_to={**todo.reply_to, "number": 18})
    todo.save()
    assert webhook.todos[0].reply_to == todo.reply_to


def test_a_generic_webhook_carrying_a_forge_payload_has_no_reply_address(line: OpenLine) -> None:
    webhook = line("generic")
    webhook.post(altered(github_issue(), headers={"X-GitHub-Event": "issues"}))
    assert webhook.todos[0].reply_to is None


def test_a_second_rotation_keeps_the_overlap_of_the_first(line: OpenLine) -> None:
    webhook = line("github")
    rotate = partial(rotate_webhook, principal=webhook.principal, webhook_id=webhook.webhook_id)
    rotate(rotate_url=True, keep_previous_for_seconds=3600)
    rotated = rotate(keep_previous_for_seconds=3600)
    assert rotated.signing_secret is not None
    assert webhook.post(github_issue(secret=rotated.signing_secret)).status_code == 202
