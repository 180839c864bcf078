"""A test asks the provider once who the credential is, posts nothing, and says what it found in words."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings

from connections import probe
from connections.models import Connection
from switchboard.accounts.reach import Principal
from switchboard.errors import RateLimited
from switchboard.sealing import Secret
from tests.api.caller import Caller
from tests.factories import make_connection
from tests.stand_in import Behaviour, Fault, Respond, StandIn, redirect

pytestmark = pytest.mark.django_db
SECRET = "a-token-that-nobody-may-see"
PATHS = {"github": "/user", "gitea": "/api/v1/user", "slack": "/api/auth.test", "cairn": "/v1/whoami"}
GOOD: dict[str, Any] = {
    "github": {"login": "octo", "id": 1},
    "gitea": {"login": "octo", "id": 1},
    "slack": {"ok": True, "team_id": "T0123", "user_id": "U0777", "bot_id": "B0777"},
    "cairn": {"authenticated": True, "actor_id": "octo"},
}
EVERY_KIND = pytest.mark.parametrize("kind", PATHS)


def json_answer(value: Any, status: int = 200, **headers: str) -> Respond:
    return Respond(status, headers, json.dumps(value).encode())


def connect(owner: Caller, provider: StandIn, kind: str) -> Connection:
    keys = {"github": "", "gitea": provider.url, "slack": "T0123", "cairn": provider.url}
    return make_connection(owner.human, kind=kind, account_key=keys[kind], secret=SECRET)


def outcome_of(owner: Caller, connection: Connection) -> dict[str, Any]:
    answer = owner.call("POST", f"/connections/{connection.pk}/test")
    assert answer.status_code == 200, answer.content
    assert SECRET.encode() not in answer.content
    body: dict[str, Any] = answer.json()
    return body


@EVERY_KIND
def test_a_good_credential_is_recorded_with_who_it_is(owner: Caller, provider: StandIn, kind: str) -> None:
    provider.on(PATHS[kind], json_answer(GOOD[kind]))
    connection = connect(owner, provider, kind)
    found = outcome_of(owner, connection)
    connection.refresh_from_db()

    login = "U0777" if kind == "slack" else "octo"
    assert (found["ok"], found["class"], found["code"], found["login"]) == (True, None, None, login)
    assert login in found["message"]
    assert (connection.last_test_ok, connection.last_test_class, connection.login) == (True, "", login)
    assert connection.bot_id == ("B0777" if kind == "slack" else "")
    assert owner.get(f"/connections/{connection.pk}")["last_test"] == {"at": found["at"], "ok": True, "class": None}


@EVERY_KIND
def test_it_is_one_read_with_the_credential_in_its_header_alone(owner: Caller, provider: StandIn, kind: str) -> None:
    provider.on(PATHS[kind], json_answer(GOOD[kind]))
    outcome_of(owner, connect(owner, provider, kind))
    [seen] = provider.requests
    scheme = "token" if kind == "gitea" else "Bearer"
    assert (seen.path, seen.headers["authorization"]) == (PATHS[kind], f"{scheme} {SECRET}")
    assert seen.method == ("POST" if kind == "slack" else "GET")
    assert seen.body in {b"", b"{}"}


@EVERY_KIND
@pytest.mark.parametrize(
    ("status", "error_class"),
    [
        (401, "auth"),
        (403, "forbidden"),
        (404, "not_found"),
        (429, "rate_limited"),
        (422, "invalid"),
        (500, "server"),
        (503, "server"),
    ],
)
def test_each_status_has_its_class(owner: Caller, provider: StandIn, kind: str, status: int, error_class: str) -> None:
    provider.on(PATHS[kind], json_answer({"message": "an inner detail"}, status))
    connection = connect(owner, provider, kind)
    found = outcome_of(owner, connection)
    connection.refresh_from_db()
    assert (found["ok"], found["class"], found["code"]) == (False, error_class, f"http_{status}")
    assert "inner detail" not in json.dumps(found)
    assert (connection.last_test_ok, connection.last_test_class) == (False, error_class)


@pytest.mark.parametrize(
    ("error", "error_class"),
    [
        ("invalid_auth", "auth"),
        ("token_revoked", "auth"),
        ("missing_scope", "forbidden"),
        ("ratelimited", "rate_limited"),
        ("internal_error", "server"),
        ("something_new", "invalid"),
    ],
)
def test_slack_says_no_under_200(owner: Caller, provider: StandIn, error: str, error_class: str) -> None:
    provider.on(PATHS["slack"], json_answer({"ok": False, "error": error}))
    found = outcome_of(owner, connect(owner, provider, "slack"))
    assert (found["class"], found["code"]) == (error_class, error)


def test_a_token_of_another_slack_team_is_no_success(owner: Caller, provider: StandIn) -> None:
    provider.on(PATHS["slack"], json_answer(GOOD["slack"] | {"team_id": "T0999"}))
    found = outcome_of(owner, connect(owner, provider, "slack"))
    assert (found["class"], found["code"]) == ("invalid", "other_team")
    assert "another Slack team" in found["message"]


@EVERY_KIND
@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b"\xff", b"[" * 100_000])
def test_an_answer_that_is_not_the_providers_is_no_success(
    owner: Caller, provider: StandIn, kind: str, body: bytes
) -> None:
    provider.on(PATHS[kind], Respond(200, {}, body))
    assert outcome_of(owner, connect(owner, provider, kind))["class"] == "server"


@EVERY_KIND
@pytest.mark.parametrize("fault", [Fault.CLOSE, Fault.RESET, Fault.RUBBISH, Fault.SHORT_BODY, Fault.HALF_HEADER])
def test_a_broken_answer_is_the_network(owner: Caller, provider: StandIn, kind: str, fault: Behaviour) -> None:
    provider.on(PATHS[kind], fault)
    assert outcome_of(owner, connect(owner, provider, kind))["class"] == "network"


@EVERY_KIND
def test_a_redirect_is_not_followed(owner: Caller, provider: StandIn, kind: str) -> None:
    provider.on(PATHS[kind], redirect(f"{provider.url}/elsewhere"))
    found = outcome_of(owner, connect(owner, provider, kind))
    assert (found["ok"], found["class"]) == (False, "invalid")
    assert len(provider.requests) == 1


@EVERY_KIND
def test_a_private_host_is_not_dialled(owner: Caller, provider: StandIn, kind: str, settings: Settings) -> None:
    settings.SWITCHBOARD_PRIVATE_HOSTS = ()
    found = outcome_of(owner, connect(owner, provider, kind))
    assert (found["class"], found["code"]) == ("network", "private_address")
    assert "private address" in found["message"]
    assert provider.connections == 0


def test_an_untrusted_certificate_gets_no_credential(
    owner: Caller, provider: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSL_CERT_FILE")
    assert outcome_of(owner, connect(owner, provider, "gitea"))["code"] == "certificate_refused"
    assert provider.requests == []


def test_a_seventh_test_within_a_minute_is_refused(owner: Caller, stranger: Caller, provider: StandIn) -> None:
    provider.on(PATHS["gitea"], json_answer(GOOD["gitea"]))
    connection = connect(owner, provider, "gitea")
    for _ in range(6):
        outcome_of(owner, connection)
    refused = owner.call("POST", f"/connections/{connection.pk}/test")
    assert (refused.status_code, refused.json()["code"]) == (429, "rate_limited")
    assert int(refused.headers["Retry-After"]) == refused.json()["retry_after"] >= 1
    assert len(provider.requests) == 6
    outcome_of(stranger, connect(stranger, provider, "gitea"))


def test_a_stranger_cannot_use_up_the_tests(owner: Caller, stranger: Caller, provider: StandIn) -> None:
    provider.on(PATHS["gitea"], json_answer(GOOD["gitea"]))
    connection = connect(owner, provider, "gitea")
    for _ in range(7):
        assert stranger.call("POST", f"/connections/{connection.pk}/test").status_code == 404
    assert outcome_of(owner, connection)["ok"]


@pytest.mark.parametrize(("headers", "seconds"), [({"Retry-After": "20"}, 20), ({}, 30)])
def test_a_provider_that_wants_to_be_left_alone_is(
    owner: Caller, provider: StandIn, headers: dict[str, str], seconds: int
) -> None:
    provider.on(PATHS["gitea"], Respond(429, headers), json_answer(GOOD["gitea"]))
    connection = connect(owner, provider, "gitea")
    principal, now = Principal.of_human(owner.human), timezone.now()
    probe.test_connection(principal=principal, connection_id=str(connection.pk), now=now)
    with pytest.raises(RateLimited) as refused:
        probe.test_connection(principal=principal, connection_id=str(connection.pk), now=now + timedelta(seconds=5))
    assert refused.value.extra["retry_after"] == seconds - 5
    later = now + timedelta(seconds=seconds)
    assert probe.test_connection(principal=principal, connection_id=str(connection.pk), now=later).ok
    assert len(provider.requests) == 2


def test_the_former_secrets_test_says_nothing_about_the_new_one(
    owner: Caller, provider: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The secret is replaced while the provider still thinks about the former one."""
    connection = connect(owner, provider, "gitea")
    provider.on(PATHS["gitea"], json_answer(GOOD["gitea"]))
    ask = probe._ask

    def rotate_meanwhile(connection: Connection, secret: Secret, **options: Any) -> Any:
        owner.call("PUT", f"/connections/{connection.pk}/secret", {"secret": "another-token"})
        return ask(connection, secret, **options)

    monkeypatch.setattr(probe, "_ask", rotate_meanwhile)
    assert outcome_of(owner, connection)["ok"]
    assert owner.get(f"/connections/{connection.pk}")["last_test"] is None


def test_a_failed_test_keeps_the_identity_of_the_last_good_one(owner: Caller, provider: StandIn) -> None:
    provider.on(PATHS["slack"], json_answer(GOOD["slack"]), Respond(503))
    connection = connect(owner, provider, "slack")
    outcome_of(owner, connection)
    outcome_of(owner, connection)
    connection.refresh_from_db()
    assert (connection.last_test_ok, connection.bot_id) == (False, "B0777")


def test_a_secret_that_no_key_opens_is_told(owner: Caller, provider: StandIn, settings: Settings) -> None:
    connection = connect(owner, provider, "gitea")
    settings.SWITCHBOARD_ENCRYPTION_KEY = b"2" * 32
    answer = owner.call("POST", f"/connections/{connection.pk}/test")
    assert (answer.status_code, answer.json()["code"]) == (409, "conflict")
    assert provider.connections == 0
