"""Webhooks are created within their endpoint's ceiling, rotated, given a secret, and deleted."""

import pytest
from django.test import override_settings

from routing.models import Webhook
from switchboard.accounts.models import Endpoint
from tests.api.caller import Caller
from tests.factories import make_endpoint

GITHUB = {"source_type": "github", "target_queue": "work"}


@pytest.fixture
def endpoint(owner: Caller) -> Endpoint:
    return make_endpoint(owner.human, webhook_max=2).endpoint


def test_a_minted_secret_and_the_address_are_shown_once(owner: Caller, endpoint: Endpoint) -> None:
    response = owner.call("POST", f"/endpoints/{endpoint.slug}/webhooks", GITHUB)
    created = response.json()
    assert response.status_code == 201
    assert created.keys() == {
        "webhook_id",
        "ingest_url",
        "source_type",
        "target_queue",
        "trust_mode",
        "signing_secret",
    }
    shown = owner.call("GET", f"/webhooks/{created['webhook_id']}").content
    assert created["signing_secret"].encode() not in shown
    assert created["ingest_url"].rpartition("/")[2].encode() not in shown


def test_a_supplied_secret_is_never_shown(owner: Caller, endpoint: Endpoint) -> None:
    body = {"source_type": "slack", "target_queue": "work", "signing_secret": "issued by the vendor"}
    response = owner.call("POST", f"/endpoints/{endpoint.pk}/webhooks", body)
    assert b"issued by the vendor" not in response.content
    assert owner.get(f"/webhooks/{response.json()['webhook_id']}")["has_secret"]


def test_an_endpoints_webhooks_are_listed_apart(owner: Caller, endpoint: Endpoint) -> None:
    other = make_endpoint(owner.human, name="other").endpoint
    mine = owner.call("POST", f"/endpoints/{endpoint.pk}/webhooks", GITHUB).json()["webhook_id"]
    owner.call("POST", f"/endpoints/{other.pk}/webhooks", GITHUB)
    assert [row["webhook_id"] for row in owner.get(f"/endpoints/{endpoint.pk}/webhooks")["webhooks"]] == [mine]
    assert len(owner.get("/webhooks")["webhooks"]) == 2


@pytest.mark.parametrize(
    ("change", "status", "code"),
    [
        ({"source_type": "gitlab"}, 400, "invalid_argument"),
        ({"source_type": "stripe"}, 403, "forbidden_source_type"),
        ({"target_queue": "elsewhere"}, 403, "forbidden"),
        ({"target_queue": "two words"}, 400, "invalid_argument"),
        ({"trust_mode": "token"}, 400, "invalid_argument"),
    ],
)
def test_a_webhook_outside_the_ceiling_is_refused(
    owner: Caller, change: dict[str, str], status: int, code: str
) -> None:
    narrow = make_endpoint(owner.human, webhook_source_types=["github"]).endpoint
    response = owner.call("POST", f"/endpoints/{narrow.pk}/webhooks", {**GITHUB, **change})
    assert (response.status_code, response.json()["code"]) == (status, code)


def test_the_number_of_webhooks_has_a_ceiling(owner: Caller, endpoint: Endpoint) -> None:
    answers = [owner.call("POST", f"/endpoints/{endpoint.pk}/webhooks", GITHUB) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [201, 201, 409]
    assert answers[2].json()["code"] == "ceiling_exceeded"


@override_settings(SWITCHBOARD_ENCRYPTION_KEY=None)
def test_no_secret_is_stored_without_a_key(owner: Caller, endpoint: Endpoint) -> None:
    response = owner.call("POST", f"/endpoints/{endpoint.pk}/webhooks", GITHUB)
    assert (response.status_code, response.json()["code"]) == (409, "encryption_required")
    assert Webhook.objects.count() == 0


def test_rotation_mints_a_new_secret_and_keeps_the_address(owner: Caller, endpoint: Endpoint) -> None:
    created = owner.call("POST", f"/endpoints/{endpoint.pk}/webhooks", GITHUB).json()
    path = f"/webhooks/{created['webhook_id']}/rotate"
    rotated = owner.call("POST", path, {"keep_previous_for_seconds": 60}).json()
    assert rotated["signing_secret"] != created["signing_secret"]
    assert rotated["ingest_url"] == created["ingest_url"]
    assert owner.call("POST", path, {"rotate_url": True}).json()["ingest_url"] != created["ingest_url"]


@pytest.mark.parametrize("seconds", [-1, 86_401, "60", True, None])
def test_an_overlap_outside_a_day_is_refused(owner: Caller, endpoint: Endpoint, seconds: object) -> None:
    created = owner.call("POST", f"/endpoints/{endpoint.pk}/webhooks", GITHUB).json()
    path = f"/webhooks/{created['webhook_id']}/rotate"
    assert owner.call("POST", path, {"keep_previous_for_seconds": seconds}).json()["code"] == "invalid_argument"


def test_a_vendors_secret_is_set_without_an_answer(owner: Caller, endpoint: Endpoint) -> None:
    body = {"source_type": "stripe", "target_queue": "work"}
    created = owner.call("POST", f"/endpoints/{endpoint.pk}/webhooks", body).json()
    path = f"/webhooks/{created['webhook_id']}"
    assert not owner.get(path)["has_secret"]
    response = owner.call("PUT", f"{path}/secret", {"signing_secret": "whsec_of_the_vendor"})
    assert (response.status_code, response.content) == (204, b"")
    assert owner.get(path)["has_secret"]


def test_a_deleted_webhook_is_gone(owner: Caller, endpoint: Endpoint) -> None:
    created = owner.call("POST", f"/endpoints/{endpoint.pk}/webhooks", GITHUB).json()
    path = f"/webhooks/{created['webhook_id']}"
    assert owner.call("DELETE", path).status_code == 204
    assert owner.call("GET", path).status_code == 404
