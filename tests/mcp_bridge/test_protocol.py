"""JSON-RPC at the edge: one message a request, revisions, and a clean error for whatever a body may hold."""

import json
from typing import Any

import pytest
from django.test import Client

from mcp_bridge import views
from tests.mcp_bridge.agents import initialize_params, make_agent

pytestmark = pytest.mark.django_db
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
HANDSHAKE_REVISIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]


def calling(arguments: str) -> bytes:
    """Return the bytes of a call of claim_next with those arguments, written by hand."""
    head = '{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "claim_next", "arguments": '
    return (head + arguments + "}}").encode("utf-8", "surrogatepass")


@pytest.mark.parametrize("revision", HANDSHAKE_REVISIONS)
def test_every_handshake_revision_is_spoken(revision: str) -> None:
    agent = make_agent()
    result = agent.request("initialize", initialize_params(revision))["result"]
    assert result["protocolVersion"] == revision
    assert result["serverInfo"]["name"] == "switchboard"
    assert result["capabilities"]["experimental"] == {"claude/channel": {}}
    assert "tools" in result["capabilities"]
    assert "claim" in result["instructions"].lower()
    assert agent.post(PING, MCP_Protocol_Version=revision).status_code == 200


def test_initialize_answers_a_random_session_id_that_nobody_looks_at() -> None:
    agent = make_agent()
    opening = {**PING, "method": "initialize", "params": initialize_params("2025-11-25")}
    first, second = agent.post(opening), agent.post(opening)
    assert first.headers["Mcp-Session-Id"] != second.headers["Mcp-Session-Id"]
    assert "Mcp-Session-Id" not in agent.post(PING).headers


def test_a_session_id_from_before_a_restart_works() -> None:
    response = make_agent().post({**PING, "method": "tools/list"}, Mcp_Session_Id="left-over-from-last-week")
    assert response.status_code == 200
    assert response.json()["result"]["tools"]


@pytest.mark.parametrize("revision", ["2026-07-28", "2023-01-01", "latest"])
@pytest.mark.parametrize("method", ["POST", "GET"])
def test_the_modern_revision_is_refused_with_those_that_are_spoken(method: str, revision: str) -> None:
    response = make_agent().send(method, {**PING, "method": "server/discover"}, MCP_Protocol_Version=revision)
    assert response.status_code == 400
    error = response.json()["error"]
    assert error["code"] == -32022
    assert error["data"] == {"supported": HANDSHAKE_REVISIONS[::-1], "requested": revision}
    assert response.json()["id"] == (1 if method == "POST" else None)


def test_the_modern_revision_is_answered_where_the_site_allows_it(settings: Any) -> None:
    settings.SWITCHBOARD_MCP_MODERN_ERA = True
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    response = make_agent().post(
        {**PING, "method": "server/discover", "params": {"_meta": meta}},
        MCP_Protocol_Version="2026-07-28",
        Mcp_Method="server/discover",
    )
    assert response.status_code == 200
    assert response.json()["result"]["supportedVersions"] == ["2026-07-28"]


@pytest.mark.parametrize(
    "message",
    [
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 5}},
        {"jsonrpc": "2.0", "method": "notifications/nobody-knows"},
        {"jsonrpc": "2.0", "id": 3, "result": {}},
        {"jsonrpc": "2.0", "id": 3, "error": {"code": -1, "message": "no"}},
    ],
)
def test_what_needs_no_answer_is_answered_202_without_a_body(message: dict[str, Any]) -> None:
    response = make_agent().post(message)
    assert response.status_code == 202
    assert response.content == b""


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b" ", -32700),
        (b"{", -32700),
        (b"ping", -32700),
        (b"\xff\xfe{}", -32700),
        (json.dumps(PING).encode("utf-16"), -32700),
        (b"\xef\xbb\xbf" + json.dumps(PING).encode(), -32700),
        (json.dumps(PING).encode() + b"{}", -32700),
        (b"[]", -32600),
        (json.dumps([PING, PING]).encode(), -32600),
        (b"null", -32600),
        (b"7", -32600),
        (b"{}", -32600),
        (b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1}', -32600),
        (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": true, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": {}, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1, "method": 5}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []}', -32600),
    ],
)
def test_a_body_that_is_not_one_message_is_answered_with_a_jsonrpc_error(body: bytes, code: int) -> None:
    response = make_agent().post(body)
    assert response.status_code == 400
    assert response.json()["jsonrpc"] == "2.0"
    assert response.json()["error"]["code"] == code


@pytest.mark.parametrize(
    "arguments",
    [
        '{"queue": NaN}',
        '{"queue": -Infinity}',
        '{"queue": 1e999}',
        '{"queue": ' + "9" * 5000 + "}",
        '{"queue": "\\ud800"}',
        '{"queue": "\ud800"}',
        '{"\\udfff": 1}',
        '{"queue": "a", "queue": "b"}',
        '{"queue": ' + "[" * 300 + "]" * 300 + "}",
        "[" * 100_000,
        '{"a":' * 100_000,
    ],
)
def test_what_only_lenient_parsers_take_for_json_is_a_parse_error(arguments: str) -> None:
    response = make_agent().post(calling(arguments))
    assert response.status_code == 400
    assert response.json()["error"]["code"] == -32700


def test_a_pair_of_surrogate_escapes_is_a_character() -> None:
    response = make_agent().post(calling('{"queue": "\\ud83d\\ude00"}'))
    assert json.loads(response.json()["result"]["content"][0]["text"])["error"]["field"] == "queue"


@pytest.mark.parametrize("size", [1024 * 1024 + 1, 3 * 1024 * 1024])
def test_a_body_over_a_mebibyte_is_answered_413_in_json(size: int) -> None:
    response = make_agent().post(b" " * size)
    assert response.status_code == 413
    assert response.json()["error"]["code"] == -32600


def test_a_body_of_a_mebibyte_is_read() -> None:
    body = json.dumps(PING).encode()
    assert make_agent().post(body + b" " * (1024 * 1024 - len(body))).status_code == 200


@pytest.mark.parametrize("identifier", [0, -5, 10**30, "a", "", "é" * 300])
def test_the_answer_repeats_the_id(identifier: object) -> None:
    assert make_agent().post({**PING, "id": identifier}).json() == {
        "jsonrpc": "2.0",
        "id": identifier,
        "result": {},
    }


def test_an_unknown_method_is_a_protocol_error() -> None:
    assert make_agent().request("resources/list")["error"]["code"] == -32601


@pytest.mark.parametrize("params", [{}, {"name": 5}, {"name": "claim_next", "arguments": []}])
def test_a_call_without_a_name_or_with_other_arguments_is_a_protocol_error(params: dict[str, Any]) -> None:
    assert make_agent().request("tools/call", params)["error"]["code"] == -32602


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
def test_a_body_that_is_not_json_by_its_own_word_is_answered_415(content_type: str) -> None:
    response = make_agent().post(PING, content_type=content_type)
    assert response.status_code == 415
    assert response.json()["error"]["code"] == -32600


@pytest.mark.parametrize(
    ("accept", "status"),
    [(None, 200), ("*/*", 200), ("application/json", 200), ("text/html", 406), ("text/event-stream", 406)],
)
def test_the_answer_is_json_for_whoever_accepts_that(accept: str | None, status: int) -> None:
    response = make_agent().post(PING, Accept=accept)
    assert response.status_code == status
    assert response.headers["Content-Type"] == "application/json"


def test_an_unexpected_failure_is_answered_with_a_reference_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def break_down(*_: Any, **__: Any) -> Any:
        raise RuntimeError("a detail of the inside")

    monkeypatch.setattr(views, "load_bridge", lambda: break_down)
    response = make_agent().post(PING)
    assert response.status_code == 500
    assert response.json()["error"]["code"] == -32603
    assert "detail" not in response.content.decode()
    reference = response.json()["error"]["message"].partition("reference ")[2][:8]
    assert any(reference in record.getMessage() for record in caplog.records)


class TestUnderWsgi:
    """The `web` processes serve POST as well; a stream needs an asynchronous server."""

    def test_a_call_is_answered(self) -> None:
        agent = make_agent()
        response = Client().post(
            agent.path,
            json.dumps({**PING, "method": "tools/call", "params": {"name": "claim_next", "arguments": {}}}),
            content_type="application/json",
            headers={"Authorization": f"Bearer {agent.vended.credential}", "Accept": "application/json"},
        )
        assert response.json()["result"]["structuredContent"] == {"empty": True}

    def test_the_stream_is_not_offered(self) -> None:
        agent = make_agent()
        headers = {"Authorization": f"Bearer {agent.vended.credential}", "Accept": "text/event-stream"}
        response = Client().get(agent.path, headers=headers)
        assert response.status_code == 405
        assert response.headers["Allow"] == "POST"

    def test_a_form_token_is_not_asked_for(self) -> None:
        agent = make_agent()
        headers = {"Authorization": f"Bearer {agent.vended.credential}", "Accept": "application/json"}
        client = Client(enforce_csrf_checks=True)
        assert client.post(agent.path, PING, content_type="application/json", headers=headers).status_code == 200
