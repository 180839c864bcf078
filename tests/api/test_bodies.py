"""Bodies are strict JSON objects with known fields; whatever else arrives is a sentence, never a 500."""

import json
import sys
from typing import Any

import pytest

from tests.api.caller import Caller
from tests.api.surface import furnish
from tests.factories import make_endpoint, make_todo


def refusal(response: Any) -> tuple[int, str]:
    return response.status_code, response.json()["code"]


@pytest.mark.parametrize(
    "raw",
    [
        b"{",
        b"not json",
        b"[]",
        b'"text"',
        b"null",
        b'{"name": "\xff"}',
        b'{"name": NaN, "queues": ["q"]}',
        b'{"name": "a", "queues": ["q"], "webhook_max": Infinity}',
        b'{"name": "a", "name": "b", "queues": ["q"]}',
        b"[" * 100_000,
        b'{"name":' * 5_000,
        b'{"name": "a", "queues": ["q"], "webhook_max": ' + b"9" * 5000 + b"}",
        b'\xef\xbb\xbf{"name": "a", "queues": ["q"]}',
        b'{"name": "a\\u0000b", "queues": ["q"]}',
        b'{"name": "a\\ud800b", "queues": ["q"]}',
        b'{"name": "a", "queues": ["q\\u0000"]}',
        b'{"name": "a", "queues": ["q"], "\\ud800": 1}',
        b'{"name": "a", "queues": ["q"], "a\\u0000": 1}',
        b"",
    ],
)
def test_a_body_that_is_not_a_plain_json_object_is_refused(owner: Caller, raw: bytes) -> None:
    assert refusal(owner.send("POST", "/endpoints", raw)) == (400, "invalid_argument")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", 7),
        ("name", None),
        ("name", ""),
        ("queues", "q"),
        ("queues", []),
        ("queues", [1]),
        ("queues", ["two words"]),
        ("queues", {"q": 1}),
        ("verbs", 7),
        ("verbs", ["fly"]),
        ("verbs", [["claim"]]),
        ("verbs", "some"),
        ("webhook_max", "10"),
        ("webhook_max", True),
        ("webhook_max", 1.0),
        ("webhook_max", -1),
        ("webhook_max", 10**30),
        ("webhook_source_types", ["gitlab"]),
        ("webhook_queues", [None]),
        ("default_lease_seconds", 0),
        ("expires_at", "2020-01-01T00:00:00Z"),
        ("expires_at", "2099-01-01T00:00:00"),
        ("expires_at", "2099-01-01"),
        ("expires_at", "0001-01-01T00:00:00+23:59"),
        ("expires_at", "9999-12-31T23:59:59-23:59"),
        ("expires_at", 4_000_000_000),
        ("colour", "red"),
    ],
)
def test_a_malformed_field_is_refused_by_name(owner: Caller, field: str, value: object) -> None:
    response = owner.call("POST", "/endpoints", {"name": "a", "queues": ["q"], field: value})
    assert refusal(response) == (400, "invalid_argument")
    assert response.json()["field"] == field


@pytest.mark.parametrize("missing", ["name", "queues"])
def test_a_missing_field_is_refused_by_name(owner: Caller, missing: str) -> None:
    body = {"name": "a", "queues": ["q"]}
    del body[missing]
    assert owner.call("POST", "/endpoints", body).json()["field"] == missing


def test_a_field_is_refused_where_none_is_taken(owner: Caller) -> None:
    todo = make_todo(make_endpoint(owner.human).endpoint)
    response = owner.call("POST", f"/todos/{todo.pk}/release", {"force": True})
    assert (refusal(response), response.json()["field"]) == ((400, "invalid_argument"), "force")


@pytest.mark.parametrize(
    ("content_type", "headers"),
    [
        ("text/plain", {}),
        ("application/x-www-form-urlencoded", {}),
        ("multipart/form-data; boundary=x", {}),
        ("", {}),
        ("application/json", {"Content-Encoding": "gzip"}),
    ],
)
def test_another_media_type_is_refused(owner: Caller, content_type: str, headers: dict[str, str]) -> None:
    response = owner.send("POST", "/endpoints", b'{"name": "a"}', content_type=content_type, **headers)
    assert refusal(response) == (415, "unsupported_media_type")


def test_json_may_name_its_charset(owner: Caller) -> None:
    raw = json.dumps({"name": "Zoë ✓", "queues": ["q"]}, ensure_ascii=False).encode()
    response = owner.send("POST", "/endpoints", raw, content_type="application/json; charset=utf-8")
    assert response.json()["endpoint"]["name"] == "Zoë ✓"


def test_a_body_over_one_mebibyte_is_refused(owner: Caller) -> None:
    body = b'{"name": "' + b"a" * 1024 * 1024 + b'"}'
    assert refusal(owner.send("POST", "/endpoints", body)) == (413, "too_large")


def test_a_body_of_one_mebibyte_is_read(owner: Caller) -> None:
    webhook = furnish(owner.human)["webhook"]
    frame = b'{"omit_envelope": true, "payload": "%s"}'
    body = frame % (b"a" * (1024 * 1024 - len(frame) + 2))
    assert len(body) == 1024 * 1024
    assert owner.send("POST", f"/webhooks/{webhook}/rules/test", body).status_code == 200


@pytest.mark.parametrize("result", ["a\0b", "\ud800", {"a\0": 1}])
def test_a_result_that_no_database_keeps_is_refused(owner: Caller, result: object) -> None:
    todo = make_todo(make_endpoint(owner.human).endpoint)
    response = owner.call("POST", f"/todos/{todo.pk}/complete", {"result": result})
    assert (refusal(response), response.json()["field"]) == ((400, "invalid_argument"), "result")


def test_a_number_beyond_a_double_becomes_the_largest_one(owner: Caller) -> None:
    todo = make_todo(make_endpoint(owner.human).endpoint)
    assert owner.send("POST", f"/todos/{todo.pk}/complete", b'{"result": {"n": -1e999}}').status_code == 200
    assert float(owner.get(f"/todos/{todo.pk}")["result"]["n"]) == -sys.float_info.max


def test_digits_come_back_exactly(owner: Caller) -> None:
    todo = make_todo(make_endpoint(owner.human).endpoint)
    owner.send("POST", f"/todos/{todo.pk}/complete", b'{"result": 9007199254740993}')
    assert b'"result":9007199254740993' in owner.call("GET", f"/todos/{todo.pk}").content


@pytest.mark.parametrize("text", ["a\0b", "\ud800"])
def test_rules_with_text_that_no_database_keeps_are_refused(owner: Caller, text: str) -> None:
    webhook = furnish(owner.human)["webhook"]
    rule = {"id": "a", "name": text, "expr": "true", "action": {"drop": True}}
    path = f"/webhooks/{webhook}/rules"
    assert refusal(owner.call("PUT", path, {"rules": [rule]})) == (400, "invalid_rule")
    assert refusal(owner.call("PUT", path, {"rules": [], "params": {"a": text}})) == (400, "invalid_params")


@pytest.mark.parametrize("depth", [70, 400])
def test_a_deep_sample_is_routed_and_deep_params_are_refused(owner: Caller, depth: int) -> None:
    webhook = furnish(owner.human)["webhook"]
    deep = b"[" * depth + b"]" * depth
    path = f"/webhooks/{webhook}/rules"
    assert owner.send("POST", f"{path}/test", b'{"payload": %s}' % deep).status_code == 200
    assert refusal(owner.send("PUT", path, b'{"rules": [], "params": {"a": %s}}' % deep)) == (400, "invalid_params")
