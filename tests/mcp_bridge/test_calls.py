"""Every call alike: the grant, the argument check, and answers that a model can read whatever happened."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from mcp_bridge import call, registry
from mcp_bridge.tool import Effect, Tool
from switchboard.errors import Conflict
from tests.factories import make_event, make_todo
from tests.mcp_bridge.agents import Agent, make_agent

pytestmark = pytest.mark.django_db
SOME_ID = "0192f0c1-8a3e-7c11-9d52-3f6e1b7a4c20"


def put_tool(monkeypatch: pytest.MonkeyPatch, name: str, handler: Callable[..., dict[str, Any]]) -> None:
    """Let the verb be performed by `handler`."""
    tool = Tool(name=name, description="", handler=handler, effect=Effect.READS, result={"type": "object"})
    monkeypatch.setattr(call, "TOOLS", {**registry.TOOLS, name: tool})


def test_a_good_call_carries_the_same_json_twice() -> None:
    result = make_agent().call("list_todos")
    assert result.content == result.text == {"todos": [], "next_cursor": None}


def test_a_failed_call_says_so_and_shows_its_code_to_the_model() -> None:
    agent = make_agent()
    answer = agent.request("tools/call", {"name": "claim", "arguments": {"id": SOME_ID}})["result"]
    assert answer["isError"] is True
    assert "structuredContent" not in answer
    assert json.loads(answer["content"][0]["text"])["error"]["code"] == "not_found"


def test_a_known_verb_that_was_not_granted_is_forbidden() -> None:
    result = make_agent(verbs=["claim_next"]).call("complete", id=SOME_ID)
    assert result.code == "forbidden"
    assert "complete" in result.text["error"]["message"]


@pytest.mark.parametrize("name", ["no_such_tool", "", "claim_next ", "x" * 10_000, "__class__"])
def test_a_name_that_is_no_verb_is_a_protocol_error(name: str) -> None:
    assert make_agent(verbs="all").request("tools/call", {"name": name})["error"]["code"] == -32602


def test_a_granted_verb_that_this_bridge_has_no_tool_for_is_a_protocol_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call, "TOOLS", {"claim": registry.TOOLS["claim"]})
    agent = make_agent(verbs=["claim", "claim_next"])
    assert [tool["name"] for tool in agent.request("tools/list")["result"]["tools"]] == ["claim"]
    assert agent.request("tools/call", {"name": "claim_next"})["error"]["code"] == -32602


def test_an_error_that_json_cannot_say_is_an_internal_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> dict[str, Any]:
        raise Conflict("No.", holder=object())

    put_tool(monkeypatch, "claim_next", refuse)
    assert make_agent().call("claim_next").code == "internal"


@pytest.mark.parametrize(
    ("tool", "arguments", "field", "said"),
    [
        ("claim", {}, "id", "id is missing."),
        ("claim", {"id": 5}, "id", "id must be a text."),
        ("claim", {"id": SOME_ID, "lease_ttl_seconds": 0}, "lease_ttl_seconds", "at least 1"),
        ("claim", {"id": SOME_ID, "lease_ttl_seconds": 86_401}, "lease_ttl_seconds", "at most 86400"),
        ("claim", {"id": SOME_ID, "lease_ttl_seconds": 60.0}, "lease_ttl_seconds", "a whole number"),
        ("claim", {"id": SOME_ID, "lease_ttl_seconds": True}, "lease_ttl_seconds", "a whole number"),
        ("claim", {"id": SOME_ID, "require_fence": "yes"}, "require_fence", "true or false"),
        ("claim_next", {"que": "work"}, "que", "takes: queue, lease_ttl_seconds, require_fence"),
        ("claim_next", {"queue": "no spaces"}, "queue", "not allowed"),
        ("claim_next", {"queue": "a\u0000b"}, "queue", "not allowed"),
        ("list_todos", {"limit": 0}, "limit", "at least 1"),
        ("list_todos", {"limit": 201}, "limit", "at most 200"),
        ("list_todos", {"limit": "20"}, "limit", "a whole number"),
        ("list_todos", {"cursor": "garbage"}, "cursor", "next_cursor"),
        ("list_todos", {"state": "asleep"}, "state", "one of pending, claimed, done, failed"),
        ("list_webhook_events", {"since": "yesterday"}, "since", "RFC 3339"),
        ("list_webhook_events", {"kind": "a\u0000b"}, "kind", "printable"),
        ("get_todo", {"id": SOME_ID, "x\u202ey\n": 1}, "x\N{REPLACEMENT CHARACTER}y", "takes: id"),
    ],
)
def test_a_wrong_argument_is_named_in_an_ordinary_result(
    tool: str, arguments: dict[str, Any], field: str, said: str
) -> None:
    result = make_agent().call(tool, **arguments)
    assert result.code == "invalid_argument"
    assert result.text["error"]["field"] == field
    assert said in result.text["error"]["message"]


@pytest.mark.parametrize("value", ["v" * 500_000, ["v"] * 100_000, {"v" * 1000: 1}])
def test_the_message_does_not_repeat_a_long_value(value: object) -> None:
    result = make_agent().call("claim_next", queue=value)
    assert result.code == "invalid_argument"
    assert len(result.text["error"]["message"]) < 200


def test_an_argument_with_a_very_long_name_is_refused_in_few_words() -> None:
    result = make_agent().call("claim_next", **{"n" * 500_000: 1})
    assert result.code == "invalid_argument"
    assert len(json.dumps(result.text)) < 400


@pytest.mark.parametrize("name", [name for name, tool in registry.TOOLS.items() if tool.arguments])
def test_a_deep_or_huge_argument_is_never_an_internal_error(name: str) -> None:
    deep: Any = "bottom"
    for _ in range(150):
        deep = [deep]
    agent = make_agent(verbs="all")
    values: list[Any] = [deep, "x" * 300_000, 10**400, {"a": deep}, "\u0000", [], {}]
    for value in values:
        for argument in registry.TOOLS[name].arguments:
            assert agent.call(name, **{argument: value}).code != "internal"


@pytest.mark.parametrize("name", sorted(registry.TOOLS))
def test_arguments_that_fit_the_schema_are_never_an_internal_error(name: str) -> None:
    tool = registry.TOOLS[name]
    examples = {argument: schema["examples"][0] for argument, schema in tool.arguments.items()}
    assert make_agent(verbs="all").call(name, **examples).code != "internal"


def test_an_unexpected_failure_is_logged_with_the_reference_that_the_model_sees(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def break_down(*_: object) -> dict[str, Any]:
        raise RuntimeError("a detail of the inside")

    put_tool(monkeypatch, "claim_next", break_down)
    result = make_agent().call("claim_next")
    assert result.code == "internal"
    assert result.text["error"]["reference"] in result.text["error"]["message"]
    assert "detail" not in json.dumps(result.text)
    assert any(result.text["error"]["reference"] in record.getMessage() for record in caplog.records)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), object()])
def test_a_result_that_json_cannot_say_is_an_internal_error(monkeypatch: pytest.MonkeyPatch, value: object) -> None:
    put_tool(monkeypatch, "claim_next", lambda *_: {"value": value})
    assert make_agent().call("claim_next").code == "internal"


def payload_of(agent: Agent, body: bytes) -> Any:
    todo = make_todo(agent.vended.endpoint, event=make_event(agent.vended.endpoint, body=body))
    return agent.get("get_todo", id=str(todo.pk))["todo"]["payload"]


@pytest.mark.parametrize("depth", [99, 150, 255, 300, 512])
def test_a_payload_nested_too_deep_for_clients_ends_in_text(depth: int) -> None:
    payload = payload_of(make_agent(), b"[" * depth + b"1" + b"]" * depth)
    steps = 0
    while isinstance(payload, list):
        [payload] = payload
        steps += 1
    assert steps < 100
    assert str(payload) == "[" * (depth - steps) + "1" + "]" * (depth - steps)


@pytest.mark.parametrize("number", [9007199254740993, 10**300, -(2**63) - 1])
def test_whole_numbers_of_a_payload_keep_their_digits(number: int) -> None:
    assert payload_of(make_agent(), json.dumps({"n": number}).encode())["n"] == number


@pytest.mark.parametrize(
    "body", [b'{"n": 1e999}', b'{"t": "a\\u0000b"}', b'{"t": "\\ud800"}', b'{"n": NaN}', b"\xff\xfe", b"", b"null"]
)
def test_a_payload_of_any_bytes_can_be_shown(body: bytes) -> None:
    payload_of(make_agent(), body)
