"""The shape and the limits of a rule list, one byte or one item on either side (SPEC-0020)."""

import json
from typing import Any

import pytest

from routing.rules import read_action, read_params, read_rule_list
from switchboard.errors import InvalidParams, InvalidRule, NotGranted, SwitchboardError, TooManyRules

ENDPOINT = "0190f7a1-0000-7000-8000-000000000001"


def rule(**changes: Any) -> dict[str, Any]:
    return {"id": "a", "name": None, "expr": "true", "action": {"drop": True}, **changes}


def read(*rules: object) -> None:
    read_rule_list(rules=list(rules), default_action=None, params=None)


def ids(count: int) -> list[str]:
    return [f"0190f7a1-0000-7000-8000-{number:012x}" for number in range(count)]


def test_thirty_two_rules_are_a_list_and_one_more_is_too_many() -> None:
    rules = [rule(id=f"r{number}") for number in range(33)]
    read(*rules[:32])
    with pytest.raises(TooManyRules) as refused:
        read(*rules)
    assert refused.value.code == "too_many_rules"


@pytest.mark.parametrize("letter", ["x", "é", "€", "🚀"])
def test_an_expression_is_measured_in_bytes(letter: str) -> None:
    width = len(letter.encode())
    padding = 4096 - len(b'""') - (4094 // width) * width
    largest = '"' + letter * (4094 // width) + '"' + " " * padding
    assert len(largest.encode()) == 4096
    read(rule(expr=largest))
    with pytest.raises(InvalidRule, match="4096 bytes; this one has 4097"):
        read(rule(expr=largest + " "))


def test_a_name_is_measured_in_bytes() -> None:
    read(rule(name="x" * 128), rule(id="b", name="é" * 64))
    for name in ("x" * 129, "é" * 64 + "x", "🚀" * 33):
        with pytest.raises(InvalidRule, match="128 bytes"):
            read(rule(name=name))


def test_an_action_names_sixteen_endpoints_and_not_one_more() -> None:
    assert read_action({"queue": "inbox", "endpoints": ids(16)}).endpoints == tuple(ids(16))
    with pytest.raises(InvalidRule, match="at most 16 endpoints"):
        read_action({"queue": "inbox", "endpoints": ids(17)})


@pytest.mark.parametrize("identifier", ["a", "A-z_0", "x" * 64])
def test_a_good_id(identifier: str) -> None:
    read(rule(id=identifier))


@pytest.mark.parametrize("identifier", ["a.b", "", "x" * 65, "a b", "ä", "a\n", "٣", None, 7, ["a"]])
def test_an_id_is_letters_digits_dash_and_underscore(identifier: object) -> None:
    with pytest.raises(InvalidRule, match="id must be"):
        read(rule(id=identifier))


def test_two_rules_cannot_share_an_id() -> None:
    with pytest.raises(InvalidRule) as refused:
        read(rule(), rule(id="b"), rule(name="again"))
    assert refused.value.extra["rule"] == {"index": 2, "id": "a", "name": "again"}


def test_params_are_measured_as_compact_json_in_bytes() -> None:
    frame = len(b'{"a":""}')
    for letter in ("x", "é"):
        width = len(letter.encode())
        largest = {"a": letter * ((16_384 - frame) // width)}
        assert len(json.dumps(largest, separators=(",", ":"), ensure_ascii=False).encode()) == 16_384
        assert read_params(largest) == largest
        with pytest.raises(InvalidParams, match="16384 bytes encoded; these have 16385"):
            read_params({"a": largest["a"] + "x"})


@pytest.mark.parametrize(
    "params",
    [
        [],
        "text",
        5,
        True,
        {"a": float("nan")},
        {"a": [float("inf")]},
        {"a": "\0"},
        {"\ud800": 1},
        {"a": {1, 2}},
    ],
    ids=repr,
)
def test_params_are_an_object_of_plain_json(params: object) -> None:
    with pytest.raises(InvalidParams):
        read_params(params)


def test_deeply_nested_params_are_refused() -> None:
    nested: Any = []
    for _ in range(5_000):
        nested = [nested]
    with pytest.raises(InvalidParams):
        read_params({"a": nested})


def test_params_left_out_are_an_empty_object() -> None:
    assert read_params(None) == {}


@pytest.mark.parametrize(
    "action",
    [
        None,
        "drop",
        5,
        [],
        {},
        {"queue": "inbox", "drop": True},
        {"endpoints": [ENDPOINT]},
        {"exclusive": True},
        {"drop": False},
        {"drop": 1},
        {"drop": "true"},
        {"drop": None},
        {"queue": None},
        {"queue": ""},
        {"queue": "two words"},
        {"queue": "x" * 65},
        {"queue": "-inbox"},
        {"queue": "inbox\n"},
        {"queue": ["inbox"]},
        {"queue": "inbox", "priority": 1},
        {"queue": "inbox", "endpoints": []},
        {"queue": "inbox", "endpoints": ENDPOINT},
        {"queue": "inbox", "endpoints": {ENDPOINT: True}},
        {"queue": "inbox", "endpoints": [7]},
        {"queue": "inbox", "endpoints": [None]},
        {"queue": "inbox", "endpoints": [[ENDPOINT]]},
        {"queue": "inbox", "endpoints": [ENDPOINT, ENDPOINT]},
        {"queue": "inbox", "exclusive": 1},
        {"queue": "inbox", "once": "yes"},
        {"queue": "inbox", "work_order": None},
    ],
    ids=repr,
)
def test_a_malformed_action_is_an_invalid_rule(action: object) -> None:
    with pytest.raises(InvalidRule) as refused:
        read(rule(), rule(id="bad", action=action))
    assert refused.value.extra["rule"] == {"index": 1, "id": "bad", "name": None}
    with pytest.raises(InvalidRule) as default:
        read_rule_list(rules=[], default_action=action if action is not None else "null", params=None)
    assert default.value.extra["field"] == "default_action"


@pytest.mark.parametrize(
    "extra",
    [{"exclusive": True}, {"once": False}, {"work_order": True}, {"endpoints": [ENDPOINT]}, {"endpoints": None}],
    ids=repr,
)
def test_a_drop_takes_neither_flags_nor_endpoints(extra: dict[str, Any]) -> None:
    with pytest.raises(InvalidRule, match=f"A drop takes no “{next(iter(extra))}”"):
        read(rule(action={"drop": True, **extra}))


@pytest.mark.parametrize("identifier", ["nonsense", "", "0190F7A1-0000-7000-8000-000000000001", "a\0b", "\ud800"])
def test_an_endpoint_that_cannot_exist_is_not_granted(identifier: str) -> None:
    with pytest.raises(NotGranted):
        read(rule(action={"queue": "inbox", "endpoints": [identifier]}))


@pytest.mark.parametrize(
    "item",
    [
        None,
        "true",
        5,
        [],
        {},
        rule(expr=None),
        rule(expr=""),
        rule(expr=" \n"),
        rule(expr=5),
        rule(expr=["true"]),
        rule(expr='"\0"'),
        rule(expr='"\ud800"'),
        rule(name=5),
        rule(name="\0"),
        rule(name="\ud800"),
        rule(name=["x"]),
        rule(expression="true"),
        {"id": "a", "expr": "true"},
        {"id": "a", "action": {"drop": True}},
    ],
    ids=repr,
)
def test_a_malformed_rule_is_named_by_its_index(item: object) -> None:
    with pytest.raises(InvalidRule) as refused:
        read(rule(id="good"), item)
    assert refused.value.extra["rule"]["index"] == 1


@pytest.mark.parametrize("rules", [None, {}, "[]", 5, {"0": rule()}], ids=repr)
def test_rules_are_a_list(rules: object) -> None:
    with pytest.raises(InvalidRule):
        read_rule_list(rules=rules, default_action=None, params=None)


def test_an_error_names_the_rule_by_index_id_and_name() -> None:
    with pytest.raises(SwitchboardError) as refused:
        read(rule(id="one"), rule(id="two", name="The second", expr=""))
    assert refused.value.extra["rule"] == {"index": 1, "id": "two", "name": "The second"}
    assert refused.value.message.startswith("Rule 1 (two): expr must be")


def test_what_an_error_shows_of_a_rule_is_one_safe_line() -> None:
    with pytest.raises(InvalidRule) as refused:
        read(rule(id="a\nb\0", name="x" * 4_000))
    shown = refused.value.extra["rule"]
    assert shown["id"].isprintable()
    assert len(shown["name"]) <= 128


def test_an_empty_name_is_none() -> None:
    rule_list = read_rule_list(rules=[rule(name="")], default_action=None, params=None)
    assert rule_list.rules[0].as_json() == rule()


def test_flags_that_are_false_and_endpoints_that_are_null_are_left_out() -> None:
    action = read_action({"queue": "inbox", "endpoints": None, "exclusive": False, "once": True, "work_order": False})
    assert action.as_json() == {"queue": "inbox", "once": True}
