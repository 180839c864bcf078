"""Who may call: Origin, bearer, slug and method are judged before anything else, on every method."""

import json
from datetime import timedelta

import pytest
from django.utils import timezone

from switchboard.accounts.models import Endpoint
from switchboard.accounts.reach import Principal
from switchboard.accounts.vend import revoke_endpoint
from tests.mcp_bridge.agents import make_agent

pytestmark = pytest.mark.django_db
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
METHODS = pytest.mark.parametrize("method", ["POST", "GET", "DELETE", "PUT", "HEAD", "OPTIONS"])


@METHODS
@pytest.mark.parametrize(
    "authorization",
    [None, "", "Bearer", "Bearer sbk_unknown", "Bearer sb_an_api_token", "Basic c2JrOng=", "Bearer sbk_\xe9\xff"],
)
def test_a_call_without_a_live_credential_is_answered_401(method: str, authorization: str | None) -> None:
    response = make_agent().send(method, b"not even JSON", Authorization=authorization)
    assert response.status_code == 401
    assert response.headers["WWW-Authenticate"] == 'Bearer realm="switchboard", error="invalid_token"'
    if method != "HEAD":
        answer = response.json()
        assert answer["error"] == "invalid_token"
        assert "Authorization: Bearer sbk_" in answer["error_description"]


@METHODS
def test_a_revoked_credential_is_answered_401(method: str) -> None:
    agent = make_agent()
    endpoint = agent.vended.endpoint
    revoke_endpoint(principal=Principal.of_endpoint(endpoint), ref=endpoint.slug)
    assert agent.send(method, PING).status_code == 401


def test_an_expired_credential_is_answered_401() -> None:
    agent = make_agent()
    Endpoint.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert agent.post(PING).status_code == 401


@METHODS
def test_a_live_credential_on_another_slug_is_answered_403(method: str) -> None:
    assert make_agent().send(method, PING, path="/mcp/somebody-else").status_code == 403


@METHODS
@pytest.mark.parametrize(
    "origin",
    ["https://evil.example", "null", "http://127.0.0.1:9", "https://127.0.0.1:8000", "http://[bad", "file://"],
)
def test_a_foreign_origin_is_refused_before_the_credential_is_read(method: str, origin: str) -> None:
    response = make_agent().send(method, PING, Origin=origin, Authorization="Bearer sbk_unknown")
    assert response.status_code == 403


def test_the_sites_own_origin_is_served() -> None:
    assert make_agent().post(PING, Origin="http://127.0.0.1:8000").status_code == 200


@pytest.mark.parametrize("method", ["DELETE", "PUT", "PATCH", "HEAD", "OPTIONS"])
def test_other_methods_are_answered_405(method: str) -> None:
    response = make_agent().send(method, PING)
    assert response.status_code == 405
    assert response.headers["Allow"] == "GET, POST"


def test_the_path_with_a_final_slash_answers_too() -> None:
    agent = make_agent()
    assert agent.post(PING, path=f"{agent.path}/").status_code == 200


def test_no_answer_may_be_stored() -> None:
    agent = make_agent()
    answers = [
        agent.post(PING),
        agent.post(b"{"),
        agent.send("DELETE"),
        agent.post(PING, Authorization=None),
        agent.post(PING, Origin="null"),
        agent.post(PING, path="/mcp/other"),
    ]
    assert {answer.headers["Cache-Control"] for answer in answers} == {"no-store"}


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize(
    "path",
    [
        "/.well-known/oauth-protected-resource",
        "/.well-known/oauth-protected-resource/mcp/agent",
        "/.well-known/oauth-authorization-server",
        "/.well-known/openid-configuration",
        "/register",
    ],
)
def test_there_is_no_sign_in_metadata_and_no_registration(method: str, path: str) -> None:
    response = make_agent().send(method, b"{}", path=path, Authorization=None)
    assert response.status_code == 404
    assert json.loads(response.content)["error"] == "not_found"
