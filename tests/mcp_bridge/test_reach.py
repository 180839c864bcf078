"""What another human owns answers byte for byte like what does not exist, for every verb that takes an id."""

import json
from typing import Any

import pytest

from connections.models import Connection
from mcp_bridge.registry import TOOLS
from routing.models import Event, Webhook
from routing.webhooks import create_webhook
from switchboard.accounts.models import Endpoint, Human
from switchboard.todos.models import Todo
from tests.factories import make_connection, make_event, make_human, make_todo
from tests.mcp_bridge.agents import Agent, make_agent

pytestmark = pytest.mark.django_db
UNKNOWN = "0192f0c1-8a3e-7c11-9d52-3f6e1b7a4c20"
MALFORMED = ["not-an-id", "", "x" * 10_000, "0192F0C1-8A3E-7C11-9D52-3F6E1B7A4C20", "\u0000", "../..", "é"]
OTHER_ARGUMENTS: dict[str, dict[str, Any]] = {
    "set_webhook_rules": {"rules": [{"expr": "true", "action": {"queue": "work"}}]},
    "add_webhook_rule": {"expr": "true", "action": {"queue": "work"}},
    "update_webhook_rule": {"rule_id": "r1", "name": "Mine now"},
    "move_webhook_rule": {"rule_id": "r1", "position": 0},
    "remove_webhook_rule": {"rule_id": "r1"},
    "test_webhook_rules": {"payload": {}},
    "add_webhook_route": {"endpoint_id": UNKNOWN},
    "remove_webhook_route": {"endpoint_id": UNKNOWN},
    "set_webhook_secret": {"signing_secret": "stolen"},
    "rotate_connection": {"secret": "stolen"},
    "reply": {"text": "Mine now"},
}
TODO_VERBS = [name for name, tool in TOOLS.items() if {"id", "todo_id"} & set(tool.required)]
WEBHOOK_VERBS = [name for name, tool in TOOLS.items() if "webhook_id" in tool.required]
CONNECTION_VERBS = [name for name, tool in TOOLS.items() if "connection_id" in tool.required]


def human_of(agent: Agent) -> Human:
    human = agent.vended.endpoint.owner_human
    assert human is not None
    return human


def webhook_of(agent: Agent) -> Webhook:
    return create_webhook(endpoint=agent.vended.endpoint, source_type="github", target_queue="work").webhook


def answer(agent: Agent, tool: str, arguments: dict[str, Any]) -> bytes:
    """Return the bytes that answer a call, under one request id."""
    message = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": tool, "arguments": arguments},
    }
    response = agent.post(message)
    assert response.status_code == 200
    return bytes(response.content)


def about_todo(tool: str, identifier: str) -> dict[str, Any]:
    """Return the arguments of a call about that todo."""
    name = "id" if "id" in TOOLS[tool].required else "todo_id"
    return {name: identifier, **OTHER_ARGUMENTS.get(tool, {})}


@pytest.fixture
def stranger() -> Agent:
    return make_agent(make_human("stranger"), verbs="all")


@pytest.fixture
def owner() -> Agent:
    return make_agent(make_human("owner"), verbs="all")


def test_every_verb_that_takes_an_id_is_tried_here() -> None:
    with_id = {name for name, tool in TOOLS.items() if any(argument.endswith("id") for argument in tool.required)}
    assert with_id == {*TODO_VERBS, *WEBHOOK_VERBS, *CONNECTION_VERBS, "get_webhook_event"}


@pytest.mark.parametrize("tool", TODO_VERBS)
def test_another_humans_todo_is_unknown(tool: str, owner: Agent, stranger: Agent) -> None:
    todo = make_todo(owner.vended.endpoint)
    before = Todo.objects.values().get()
    unknown = answer(stranger, tool, about_todo(tool, UNKNOWN))
    assert b"not_found" in unknown
    answers = {answer(stranger, tool, about_todo(tool, identifier)) for identifier in [str(todo.pk), *MALFORMED]}
    assert answers == {unknown}
    assert Todo.objects.values().get() == before


@pytest.mark.parametrize("tool", TODO_VERBS)
def test_the_todo_of_another_endpoint_of_the_same_human_is_unknown(tool: str, owner: Agent) -> None:
    human = owner.vended.endpoint.owner_human
    colleague = make_agent(human, name="colleague", verbs="all")
    todo = make_todo(colleague.vended.endpoint)
    assert answer(owner, tool, about_todo(tool, str(todo.pk))) == answer(owner, tool, about_todo(tool, UNKNOWN))


@pytest.mark.parametrize("tool", WEBHOOK_VERBS)
def test_another_humans_webhook_is_unknown(tool: str, owner: Agent, stranger: Agent) -> None:
    webhook = webhook_of(owner)
    before = Webhook.objects.values().get()
    more = OTHER_ARGUMENTS.get(tool, {})
    if "endpoint_id" in more:
        more = {"endpoint_id": str(stranger.vended.endpoint.pk)}
    unknown = answer(stranger, tool, {"webhook_id": UNKNOWN, **more})
    assert b"not_found" in unknown
    answers = {
        answer(stranger, tool, {"webhook_id": identifier, **more}) for identifier in [str(webhook.pk), *MALFORMED]
    }
    assert answers == {unknown}
    assert Webhook.objects.values().get() == before


@pytest.mark.parametrize("tool", CONNECTION_VERBS)
def test_another_humans_connection_is_unknown(tool: str, owner: Agent, stranger: Agent) -> None:
    connection = make_connection(human_of(owner))
    before = Connection.objects.values().get()
    more = OTHER_ARGUMENTS.get(tool, {})
    unknown = answer(stranger, tool, {"connection_id": UNKNOWN, **more})
    assert b"not_found" in unknown
    ids = [str(connection.pk), *MALFORMED]
    assert {answer(stranger, tool, {"connection_id": identifier, **more}) for identifier in ids} == {unknown}
    assert Connection.objects.values().get() == before


def test_another_humans_event_is_unknown(owner: Agent, stranger: Agent) -> None:
    event = make_event(owner.vended.endpoint, webhook=webhook_of(owner))
    unknown = answer(stranger, "get_webhook_event", {"event_id": UNKNOWN})
    assert b"not_found" in unknown
    answers = {answer(stranger, "get_webhook_event", {"event_id": one}) for one in [str(event.pk), *MALFORMED]}
    assert answers == {unknown}
    assert Event.objects.count() == 1


def test_another_webhooks_delivery_is_unreachable(owner: Agent, stranger: Agent) -> None:
    """SPEC-0020, Routing Dry-Run: an event of a different tenant's webhook answers not_found."""
    event = make_event(owner.vended.endpoint, webhook=webhook_of(owner))
    mine = str(webhook_of(stranger).pk)
    unknown = answer(stranger, "test_webhook_rules", {"webhook_id": mine, "event_id": UNKNOWN})
    assert b"not_found" in unknown
    assert answer(stranger, "test_webhook_rules", {"webhook_id": mine, "event_id": str(event.pk)}) == unknown


def test_an_unknown_endpoint_cannot_be_routed_to_and_a_foreign_one_only_waits(owner: Agent, stranger: Agent) -> None:
    mine = str(webhook_of(stranger).pk)
    assert stranger.call("add_webhook_route", webhook_id=mine, endpoint_id=UNKNOWN).code == "not_found"
    route = stranger.get("add_webhook_route", webhook_id=mine, endpoint_id=str(owner.vended.endpoint.pk))
    assert route["state"] == "waiting"


def test_lists_hold_only_what_is_within_reach(owner: Agent, stranger: Agent) -> None:
    webhook = webhook_of(owner)
    make_todo(owner.vended.endpoint, event=make_event(owner.vended.endpoint, webhook=webhook))
    make_connection(human_of(owner))
    assert stranger.get("list_connections")["connections"] == []
    assert stranger.get("list_todos")["todos"] == []
    assert stranger.get("list_webhooks")["webhooks"] == []
    assert stranger.get("list_webhook_events")["events"] == []
    foreign = answer(stranger, "list_webhook_events", {"webhook_id": str(webhook.pk)})
    assert foreign == answer(stranger, "list_webhook_events", {"webhook_id": UNKNOWN})


def test_another_human_s_webhook_is_opaque(owner: Agent, stranger: Agent) -> None:
    """SPEC-0020, Rule Management Tools: rules of another human's webhook are neither revealed nor changed."""
    webhook = str(webhook_of(owner).pk)
    owner.get("set_webhook_rules", webhook_id=webhook, rules=OTHER_ARGUMENTS["set_webhook_rules"]["rules"])
    saved = owner.get("list_webhook_rules", webhook_id=webhook)
    for tool in (name for name in WEBHOOK_VERBS if name.endswith(("rule", "rules"))):
        result = stranger.call(tool, webhook_id=webhook, **OTHER_ARGUMENTS.get(tool, {}))
        assert result.code == "not_found"
        assert "true" not in json.dumps(result.text)
    assert owner.get("list_webhook_rules", webhook_id=webhook) == saved


def test_no_call_ever_touches_an_endpoint_out_of_reach(owner: Agent, stranger: Agent) -> None:
    seen = Endpoint.objects.filter(pk=owner.vended.endpoint.pk).values().get()
    stranger.call("remove_webhook_route", webhook_id=str(webhook_of(stranger).pk), endpoint_id=str(seen["id"]))
    assert Endpoint.objects.filter(pk=owner.vended.endpoint.pk).values().get() == seen
