"""Changing a rule list: what is refused leaves the former list in force, and no change is lost (SPEC-0020)."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from django.db import connection, transaction

from routing import configure, expressions
from routing.models import Webhook
from routing.routes import add_route
from switchboard.accounts.models import Endpoint
from switchboard.errors import (
    Conflict,
    ForbiddenFunction,
    InvalidArgument,
    InvalidExpression,
    InvalidParams,
    InvalidRule,
    NotGranted,
    RuleNotFound,
    SwitchboardError,
    TooManyRules,
)
from tests.factories import make_endpoint, make_human
from tests.routing.conftest import Line, OpenLine

DROP = {"drop": True}
UNKNOWN = "0190f7a1-0000-7000-8000-000000000001"


def rule(identifier: str = "a", **changes: Any) -> dict[str, Any]:
    return {"id": identifier, "name": None, "expr": "true", "action": DROP, **changes}


def to(queue: str = "inbox", **more: Any) -> dict[str, Any]:
    return {"queue": queue, **more}


@pytest.fixture
def door(line: OpenLine) -> Line:
    """Return a webhook with one rule, a default and params in force."""
    opened = line("github", queues=("inbox", "lane-m"))
    save(opened, [rule("former", name="Former")], default_action=to("lane-m"), params={"bots": ["dependabot"]})
    return opened


def call(verb: Callable[..., dict[str, Any]], door: Line, **arguments: Any) -> dict[str, Any]:
    return verb(principal=door.principal, webhook_id=door.webhook_id, **arguments)


def save(door: Line, rules: object, **more: Any) -> dict[str, Any]:
    return call(configure.set_rules, door, rules=rules, **more)


def route(door: Line, endpoint: Endpoint) -> None:
    add_route(
        principal=door.principal, webhook_id=door.webhook_id, endpoint_id=str(endpoint.pk), acting_human=door.human
    )


def order(door: Line) -> list[str]:
    return [stored["id"] for stored in door.webhook.routing_rules]


REFUSED: dict[str, tuple[type[SwitchboardError], str, dict[str, Any]]] = {
    "33 rules": (TooManyRules, "too_many_rules", {"rules": [rule(f"r{number}") for number in range(33)]}),
    "an expression of 4,097 bytes": (InvalidRule, "invalid_rule", {"rules": [rule(expr='"' + "é" * 2_047 + '" ')]}),
    "a name of 129 bytes": (InvalidRule, "invalid_rule", {"rules": [rule(name="é" * 64 + "x")]}),
    "17 endpoints": (
        InvalidRule,
        "invalid_rule",
        {"rules": [rule(action=to(endpoints=[f"{UNKNOWN[:-2]}{number:02}" for number in range(17)]))]},
    ),
    "an id with a dot": (InvalidRule, "invalid_rule", {"rules": [rule("a.b")]}),
    "params of 16,385 bytes": (InvalidParams, "invalid_params", {"rules": [], "params": {"a": "x" * 16_377}}),
    "params that are a list": (InvalidParams, "invalid_params", {"rules": [], "params": ["dependabot"]}),
    "an expression that does not compile": (InvalidExpression, "invalid_expression", {"rules": [rule(expr="foo(")]}),
    "an unknown function": (InvalidExpression, "invalid_expression", {"rules": [rule(expr="frobnicate")]}),
    "an unbound variable": (InvalidExpression, "invalid_expression", {"rules": [rule(expr="$other")]}),
    "an expression that ends its place": (InvalidExpression, "invalid_expression", {"rules": [rule(expr=") , (true")]}),
    "an expression deadly to compile": (
        InvalidExpression,
        "invalid_expression",
        {"rules": [rule(expr='"x" * 1000000000')]},
    ),
    "a forbidden function": (ForbiddenFunction, "forbidden_function", {"rules": [rule(expr="now > 0")]}),
    "an action with both": (InvalidRule, "invalid_rule", {"rules": [rule(action={**DROP, **to()})]}),
    "an action with neither": (InvalidRule, "invalid_rule", {"rules": [rule(action={})]}),
    "a drop with a flag": (InvalidRule, "invalid_rule", {"rules": [rule(action={**DROP, "once": True})]}),
    "a queue outside the grant": (NotGranted, "forbidden", {"rules": [rule(action=to("secrets"))]}),
    "an unknown endpoint": (NotGranted, "forbidden", {"rules": [rule(action=to(endpoints=[UNKNOWN]))]}),
    "a malformed endpoint": (NotGranted, "forbidden", {"rules": [rule(action=to(endpoints=["nonsense"]))]}),
    "a default outside the grant": (NotGranted, "forbidden", {"rules": [], "default_action": to("secrets")}),
    "a malformed default": (InvalidRule, "invalid_rule", {"rules": [], "default_action": "drop"}),
    "rules that are no list": (InvalidRule, "invalid_rule", {"rules": {"0": rule()}}),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_refused_list_leaves_the_former_one_in_force(door: Line, case: str) -> None:
    before = call(configure.list_rules, door)
    error, code, arguments = REFUSED[case]
    with pytest.raises(error) as refused:
        save(door, **arguments)
    assert refused.value.code == code
    assert call(configure.list_rules, door) == before


@pytest.mark.parametrize(
    ("bad", "error"),
    [
        ({"expr": "foo("}, InvalidExpression),
        ({"expr": "env"}, ForbiddenFunction),
        ({"expr": ""}, InvalidRule),
        ({"action": {}}, InvalidRule),
        ({"action": {"queue": "secrets"}}, NotGranted),
        ({"action": {"queue": "inbox", "endpoints": [UNKNOWN]}}, NotGranted),
    ],
)
def test_an_error_names_the_rule_by_index_id_and_name(door: Line, bad: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error) as refused:
        save(door, [rule(), rule("bad", name="The bad one", **bad)])
    assert isinstance(refused.value, SwitchboardError)
    assert refused.value.extra["rule"] == {"index": 1, "id": "bad", "name": "The bad one"}
    assert "Rule 1 (bad)" in refused.value.message


def test_an_endpoint_is_reachable_only_while_it_is_a_target(door: Line) -> None:
    foreign = make_endpoint(make_human("stranger")).endpoint
    unrouted = make_endpoint(door.human).endpoint
    for endpoint in (foreign, unrouted):
        with pytest.raises(NotGranted, match="add a route to it first"):
            save(door, [rule(action=to(endpoints=[str(endpoint.pk)]))])
    route(door, foreign)
    with pytest.raises(NotGranted):
        save(door, [rule(action=to(endpoints=[str(foreign.pk)]))])
    route(door, unrouted)
    assert save(door, [rule(action=to(endpoints=[str(unrouted.pk)]))])["rules"][0]["action"]["endpoints"]


def test_exclusive_needs_a_candidate_whose_scope_has_the_queue(line: OpenLine) -> None:
    opened = line("github")
    Endpoint.objects.update(webhook_queues=["inbox", "lane-m"])
    with pytest.raises(NotGranted, match="drains the queue lane-m"):
        save(opened, [rule(action=to("lane-m", exclusive=True))])
    with pytest.raises(NotGranted, match=r"^default_action: "):
        save(opened, [], default_action=to("lane-m", exclusive=True))
    worker = make_endpoint(opened.human, queues=["lane-m"]).endpoint
    route(opened, worker)
    save(opened, [rule(action=to("lane-m", exclusive=True))])
    with pytest.raises(NotGranted):
        save(opened, [rule(action=to("lane-m", exclusive=True, endpoints=[str(opened.endpoint.pk)]))])


def test_a_queue_that_no_target_drains_is_saved_with_a_warning(line: OpenLine) -> None:
    opened = line("github")
    Endpoint.objects.update(webhook_queues=["inbox", "lane-m"])
    result = save(opened, [rule(action=to("lane-m"))])
    assert result["warnings"] == ["Rule 0 (a): no delivery target drains the queue lane-m."]


def test_set_replaces_rules_default_and_params_together(door: Line) -> None:
    result = save(door, [rule("new")])
    assert (result["default_action"], result["params"]) == (None, {})
    assert order(door) == ["new"]


def test_the_other_changes_keep_default_and_params(door: Line) -> None:
    call(configure.add_rule, door, expr="false", action=DROP, rule_id="second", position=0)
    call(configure.move_rule, door, rule_id="second", position=1)
    call(configure.update_rule, door, rule_id="second", changes={"name": "Second"})
    result = call(configure.remove_rule, door, rule_id="former")
    assert [(stored["id"], stored["name"]) for stored in result["rules"]] == [("second", "Second")]
    assert (result["default_action"], result["params"]) == (to("lane-m"), {"bots": ["dependabot"]})


def test_ids_are_minted_where_they_are_left_out(door: Line) -> None:
    unnamed = {"expr": "true", "action": DROP}
    save(door, [unnamed, unnamed, {**unnamed, "id": None}])
    call(configure.add_rule, door, expr="true", action=DROP)
    assert len(set(order(door))) == 4


def test_a_result_is_a_valid_save(door: Line) -> None:
    result = call(configure.list_rules, door)
    again = save(door, result["rules"], default_action=result["default_action"], params=result["params"])
    assert again == result


@pytest.mark.parametrize(("position", "expected"), [(0, "new a b"), (1, "a new b"), (2, "a b new"), (None, "a b new")])
def test_a_rule_is_added_at_its_position(door: Line, position: int | None, expected: str) -> None:
    save(door, [rule("a"), rule("b")])
    call(configure.add_rule, door, expr="true", action=DROP, rule_id="new", position=position)
    assert order(door) == expected.split()


@pytest.mark.parametrize("position", [-1, 2, "0", 1.0, True, [0]])
def test_a_position_outside_the_list_is_refused(door: Line, position: object) -> None:
    with pytest.raises(InvalidArgument, match="position"):
        call(configure.add_rule, door, expr="true", action=DROP, position=position)
    with pytest.raises(InvalidArgument, match="position"):
        call(configure.move_rule, door, rule_id="former", position=position)
    assert order(door) == ["former"]


def test_an_id_that_is_taken_is_refused(door: Line) -> None:
    with pytest.raises(InvalidRule, match="Two rules have the id former"):
        call(configure.add_rule, door, expr="true", action=DROP, rule_id="former")


def test_the_thirty_third_rule_cannot_be_added(door: Line) -> None:
    save(door, [rule(f"r{number}") for number in range(32)])
    with pytest.raises(TooManyRules):
        call(configure.add_rule, door, expr="true", action=DROP)
    assert len(order(door)) == 32


@pytest.mark.parametrize("rule_id", ["absent", "", "a.b", "\0", "x" * 1_000])
def test_an_unknown_rule_is_not_found_but_may_be_removed(door: Line, rule_id: str) -> None:
    with pytest.raises(RuleNotFound):
        call(configure.update_rule, door, rule_id=rule_id, changes={"expr": "false"})
    with pytest.raises(RuleNotFound):
        call(configure.move_rule, door, rule_id=rule_id, position=0)
    assert call(configure.remove_rule, door, rule_id=rule_id) == call(configure.list_rules, door)


@pytest.mark.parametrize("changes", [{"id": "other"}, {"priority": 1}, {"name": "ok", "health": {}}])
def test_only_name_expression_and_action_can_be_updated(door: Line, changes: dict[str, object]) -> None:
    with pytest.raises(InvalidArgument):
        call(configure.update_rule, door, rule_id="former", changes=changes)
    assert order(door) == ["former"]


def test_a_stale_version_is_a_conflict_that_tells_the_current_one(door: Line) -> None:
    version = call(configure.list_rules, door)["version"]
    newer = call(configure.add_rule, door, expr="true", action=DROP, rule_id="new", version=version)["version"]
    assert newer == version + 1
    changes: list[tuple[Callable[..., Any], dict[str, Any]]] = [
        (configure.set_rules, {"rules": []}),
        (configure.add_rule, {"expr": "true", "action": DROP}),
        (configure.update_rule, {"rule_id": "new", "changes": {"expr": "false"}}),
        (configure.move_rule, {"rule_id": "new", "position": 0}),
        (configure.remove_rule, {"rule_id": "new"}),
    ]
    for verb, arguments in changes:
        with pytest.raises(Conflict) as refused:
            call(verb, door, version=version, **arguments)
        assert refused.value.extra["version"] == newer
    assert order(door) == ["former", "new"]


@pytest.mark.parametrize("version", ["1", 1.0, True, [1]])
def test_a_version_is_a_whole_number(door: Line, version: object) -> None:
    with pytest.raises(InvalidArgument, match="version"):
        save(door, [], version=version)


def test_a_change_that_changes_nothing_keeps_the_version(door: Line) -> None:
    before = call(configure.list_rules, door)
    assert call(configure.update_rule, door, rule_id="former", changes={"expr": "true"}) == before


@pytest.mark.parametrize("stored", [["a text"], [None, {}], [{"action": "drop"}], {"a": 1}, "text"])
def test_a_stored_list_that_bypassed_validation_is_shown_and_can_be_replaced(door: Line, stored: Any) -> None:
    Webhook.objects.update(routing_rules=stored)
    assert call(configure.list_rules, door)["rules"] == stored
    with pytest.raises(RuleNotFound):
        call(configure.update_rule, door, rule_id="absent", changes={"expr": "true"})
    save(door, [rule("new")])
    assert order(door) == ["new"]


def test_a_rule_that_bypassed_validation_is_named_when_another_is_added(door: Line) -> None:
    Webhook.objects.update(routing_rules=["a text"])
    with pytest.raises(InvalidRule) as refused:
        call(configure.add_rule, door, expr="true", action=DROP)
    assert refused.value.extra["rule"]["index"] == 0
    assert door.webhook.routing_rules == ["a text"]


@pytest.mark.django_db(transaction=True)
def test_concurrent_changes_lose_nothing(line: OpenLine, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = line("github")
    names, gathered = [f"rule-{number}" for number in range(4)], Barrier(5)
    arrived: list[object] = []
    check = expressions.check_expressions

    def check_and_gather(*arguments: Any, **options: Any) -> None:
        check(*arguments, **options)
        if len(arrived) < len(names):
            arrived.append(arguments)
            gathered.wait(timeout=30)

    def add(name: str) -> None:
        try:
            call(configure.add_rule, opened, expr=f'.kind == "{name}"', action=DROP, rule_id=name)
        finally:
            connection.close()

    monkeypatch.setattr(configure, "check_expressions", check_and_gather)
    with ThreadPoolExecutor(4) as threads:
        with transaction.atomic():
            Webhook.objects.select_for_update(of=("self",)).get(pk=opened.webhook.pk)
            added = [threads.submit(add, name) for name in names]
            gathered.wait(timeout=30)
            time.sleep(0.3)  # all four come to the locked row now
        for change in added:
            change.result()
    assert sorted(order(opened)) == names
    assert opened.webhook.rules_version == 4


@pytest.mark.django_db(transaction=True)
def test_of_two_concurrent_changes_of_one_version_one_is_a_conflict(line: OpenLine) -> None:
    opened = line("github")
    start = Barrier(2)

    def add(name: str) -> str:
        start.wait()
        try:
            call(configure.add_rule, opened, expr="true", action=DROP, rule_id=name, version=0)
        except Conflict:
            return "conflict"
        finally:
            connection.close()
        return name

    with ThreadPoolExecutor(2) as threads:
        outcomes = list(threads.map(add, ["one", "two"]))
    assert outcomes.count("conflict") == 1
    assert order(opened) == [outcome for outcome in outcomes if outcome != "conflict"]


@pytest.mark.django_db(transaction=True)
def test_twelve_rules_added_at_once_are_all_there(door: Line) -> None:
    def add(number: int) -> None:
        try:
            call(configure.add_rule, door, rule_id=f"r{number}", expr=f".payload.n == {number}", action=DROP)
        finally:
            connection.close()

    with ThreadPoolExecutor(max_workers=12) as pool:
        list(pool.map(add, range(12)))
    assert {f"r{number}" for number in range(12)} <= set(order(door))
