"""The rules family as an agent uses it: routing's own codes, and nothing changed by a refusal (SPEC-0020)."""

from typing import Any

import pytest

from tests.factories import make_event
from tests.mcp_bridge.agents import Agent, make_agent

pytestmark = pytest.mark.django_db
BUGS = {"id": "bugs", "name": "Bugs", "expr": '.payload.kind == "bug"', "action": {"queue": "later"}}
NOISE = {"id": "noise", "name": None, "expr": '.payload.kind == "noise"', "action": {"drop": True}}


@pytest.fixture
def agent() -> Agent:
    return make_agent(queues=["work", "later"])


@pytest.fixture
def webhook_id(agent: Agent) -> str:
    return str(agent.get("create_webhook", source_type="github", target_queue="work")["webhook_id"])


def saved(agent: Agent, webhook_id: str) -> dict[str, Any]:
    return agent.get("list_webhook_rules", webhook_id=webhook_id)


def test_rules_default_and_params_are_replaced_together(agent: Agent, webhook_id: str) -> None:
    first = agent.get(
        "set_webhook_rules",
        webhook_id=webhook_id,
        rules=[BUGS, NOISE],
        default_action={"drop": True},
        params={"who": ["octavia"]},
    )
    assert [rule["id"] for rule in first["rules"]] == ["bugs", "noise"]
    assert first["default_action"] == {"drop": True}
    assert first["params"] == {"who": ["octavia"]}
    assert first["grant"]["queues"] == ["work", "later"]
    assert first == saved(agent, webhook_id)
    second = agent.get("set_webhook_rules", webhook_id=webhook_id, rules=[NOISE], default_action=None)
    assert (second["default_action"], second["params"]) == (None, {})


def test_a_rules_result_is_a_valid_argument_again(agent: Agent, webhook_id: str) -> None:
    before = agent.get("set_webhook_rules", webhook_id=webhook_id, rules=[BUGS, NOISE])
    given = {name: before[name] for name in ("webhook_id", "rules", "default_action", "params", "version")}
    assert agent.get("set_webhook_rules", **given)["rules"] == before["rules"]


def test_one_rule_is_added_updated_moved_and_removed(agent: Agent, webhook_id: str) -> None:
    agent.get("set_webhook_rules", webhook_id=webhook_id, rules=[BUGS], params={"p": 1})
    added = agent.get("add_webhook_rule", webhook_id=webhook_id, expr=".verified", action={"queue": "work"}, position=0)
    minted = added["rules"][0]["id"]
    assert minted != "bugs"
    renamed = agent.get("update_webhook_rule", webhook_id=webhook_id, rule_id=minted, name="All verified")
    assert (renamed["rules"][0]["name"], renamed["rules"][0]["expr"]) == ("All verified", ".verified")
    moved = agent.get("move_webhook_rule", webhook_id=webhook_id, rule_id=minted, position=1)
    assert [rule["id"] for rule in moved["rules"]] == ["bugs", minted]
    for _ in range(2):
        left = agent.get("remove_webhook_rule", webhook_id=webhook_id, rule_id=minted)
        assert [rule["id"] for rule in left["rules"]] == ["bugs"]
    assert left["params"] == {"p": 1}


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"rules": [{**BUGS, "expr": ".payload ==="}]}, "invalid_expression"),
        ({"rules": [{**BUGS, "expr": "now > 0"}]}, "forbidden_function"),
        ({"rules": [{**BUGS, "expr": "x" * 4097}]}, "invalid_rule"),
        ({"rules": [{**BUGS, "expr": 5}]}, "invalid_rule"),
        ({"rules": [{**BUGS, "name": "n" * 129}]}, "invalid_rule"),
        ({"rules": [{**BUGS, "id": "a.b"}]}, "invalid_rule"),
        ({"rules": [{**BUGS, "action": {}}]}, "invalid_rule"),
        ({"rules": [{**BUGS, "action": "drop"}]}, "invalid_rule"),
        ({"rules": [{"id": "no-action", "expr": "true"}]}, "invalid_rule"),
        ({"rules": ["true"]}, "invalid_rule"),
        ({"rules": "true"}, "invalid_rule"),
        ({"rules": [{**BUGS, "id": f"r{n}"} for n in range(33)]}, "too_many_rules"),
        ({"rules": [], "params": {"p": "x" * 16_385}}, "invalid_params"),
        ({"rules": [], "params": ["p"]}, "invalid_params"),
        ({"rules": [], "default_action": {"queue": "work", "drop": True}}, "invalid_rule"),
        ({"rules": [{**BUGS, "action": {"queue": "elsewhere"}}]}, "forbidden"),
        ({"rules": [NOISE], "version": 99}, "conflict"),
    ],
)
def test_a_refused_list_keeps_the_former_one_and_routings_own_code(
    agent: Agent, webhook_id: str, changes: dict[str, Any], code: str
) -> None:
    before = agent.get("set_webhook_rules", webhook_id=webhook_id, rules=[BUGS])
    assert agent.call("set_webhook_rules", webhook_id=webhook_id, **changes).code == code
    assert saved(agent, webhook_id) == before


def test_typo_in_a_rule_is_rejected_not_silently_inert(agent: Agent, webhook_id: str) -> None:
    refused = agent.call(
        "set_webhook_rules", webhook_id=webhook_id, rules=[NOISE, {**BUGS, "expr": ".payload.kind = = 1"}]
    )
    assert refused.code == "invalid_expression"
    assert refused.text["error"]["rule"] == {"index": 1, "id": "bugs", "name": "Bugs"}
    assert saved(agent, webhook_id)["rules"] == []


def test_a_rule_cannot_add_a_delivery_target(agent: Agent, webhook_id: str) -> None:
    other = make_agent(agent.vended.endpoint.owner_human, name="unrouted")
    endpoint_id = str(other.vended.endpoint.pk)
    narrowed = {**BUGS, "action": {"queue": "later", "endpoints": [endpoint_id]}}
    assert agent.call("set_webhook_rules", webhook_id=webhook_id, rules=[narrowed]).code == "forbidden"
    agent.get("add_webhook_route", webhook_id=webhook_id, endpoint_id=endpoint_id)
    agent.get("set_webhook_rules", webhook_id=webhook_id, rules=[narrowed])


@pytest.mark.parametrize(
    ("verb", "more"), [("update_webhook_rule", {"name": "x"}), ("move_webhook_rule", {"position": 0})]
)
def test_an_unknown_rule_is_not_found(agent: Agent, webhook_id: str, verb: str, more: dict[str, Any]) -> None:
    for rule_id in ("nobody", "", "x" * 5000, "a.b"):
        assert agent.call(verb, webhook_id=webhook_id, rule_id=rule_id, **more).code == "rule_not_found"


def test_candidate_rules_are_tried_not_saved(agent: Agent, webhook_id: str) -> None:
    agent.get("set_webhook_rules", webhook_id=webhook_id, rules=[BUGS])
    event = make_event(agent.vended.endpoint, payload={"kind": "noise"})
    event.webhook_id = webhook_id
    event.save()
    tried = agent.get("test_webhook_rules", webhook_id=webhook_id, event_id=str(event.pk), rules=[NOISE])
    assert tried["decision"] == {"drop": True}
    assert tried["trace"]["rule_id"] == "noise"
    assert tried["envelope"]["payload"] == {"kind": "noise"}
    assert [rule["id"] for rule in saved(agent, webhook_id)["rules"]] == ["bugs"]


def test_a_sample_payload_is_routed_by_the_saved_rules(agent: Agent, webhook_id: str) -> None:
    agent.get("set_webhook_rules", webhook_id=webhook_id, rules=[BUGS])
    tried = agent.get(
        "test_webhook_rules",
        webhook_id=webhook_id,
        payload={"kind": "bug"},
        headers={"X-GitHub-Event": "issues"},
        omit_envelope=True,
    )
    assert tried["decision"]["queue"] == "later"
    assert "envelope" not in tried


@pytest.mark.parametrize("payload", [None, 0, "text", [], [[[]]], False])
def test_a_sample_may_be_any_json_value(agent: Agent, webhook_id: str, payload: object) -> None:
    tried = agent.get("test_webhook_rules", webhook_id=webhook_id, payload=payload)
    assert tried["envelope"]["payload"] == payload


def test_a_dry_run_takes_exactly_one_input(agent: Agent, webhook_id: str) -> None:
    assert agent.call("test_webhook_rules", webhook_id=webhook_id).code == "invalid_argument"
    both = agent.call("test_webhook_rules", webhook_id=webhook_id, payload={}, event_id="x")
    assert both.code == "invalid_argument"
