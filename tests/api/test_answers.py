"""Every answer is JSON with the promised status, code and headers, whatever went wrong."""

import logging
from typing import Any

import pytest
from django.http import Http404
from django.test import Client
from rest_framework import exceptions

from switchboard import errors
from switchboard.api.errors import translate
from tests.api.caller import Caller
from tests.api.surface import furnish
from tests.factories import make_endpoint, make_event, make_todo


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (errors.InvalidArgument(), 400, "invalid_argument"),
        (errors.InvalidExpression(), 400, "invalid_expression"),
        (errors.ForbiddenFunction(), 400, "forbidden_function"),
        (errors.InvalidRule(), 400, "invalid_rule"),
        (errors.TooManyRules(), 400, "too_many_rules"),
        (errors.InvalidParams(), 400, "invalid_params"),
        (errors.Unauthenticated(), 401, "unauthenticated"),
        (errors.Forbidden(), 403, "forbidden"),
        (errors.NotGranted(), 403, "forbidden"),
        (errors.ForbiddenSourceType(), 403, "forbidden_source_type"),
        (errors.NotFound(), 404, "not_found"),
        (errors.RuleNotFound(), 404, "rule_not_found"),
        (errors.Conflict(), 409, "conflict"),
        (errors.CeilingExceeded(), 409, "ceiling_exceeded"),
        (errors.EncryptionRequired(), 409, "encryption_required"),
        (errors.NoReplyAddress(), 409, "no_reply_address"),
        (errors.NotClaimed(), 409, "not_claimed"),
        (errors.ReplyWindowClosed(), 409, "reply_window_closed"),
        (errors.NoConnection(), 409, "no_connection"),
        (errors.TargetNotAllowed(), 409, "target_not_allowed"),
        (errors.SecretDetected(), 400, "secret_detected"),
        (errors.TooLarge(), 413, "too_large"),
        (errors.RateLimited(retry_after=7), 429, "rate_limited"),
        (errors.Unavailable(), 503, "unavailable"),
        (Http404(), 404, "not_found"),
        (exceptions.ParseError(), 400, "invalid_argument"),
        (exceptions.NotAuthenticated(), 401, "unauthenticated"),
        (exceptions.PermissionDenied(), 403, "forbidden"),
        (exceptions.MethodNotAllowed("PUT"), 405, "method_not_allowed"),
        (exceptions.UnsupportedMediaType("x"), 415, "unsupported_media_type"),
        (RuntimeError("a secret"), 500, "internal"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else None,
)
def test_each_error_has_its_status_and_code(error: Exception, status: int, code: str) -> None:
    response = translate(error, {})
    assert (response.status_code, response.data["code"]) == (status, code)
    assert response.data["error"]


def test_a_rate_limit_says_when_to_come_back() -> None:
    response = translate(errors.RateLimited(retry_after=7), {})
    assert (response.headers["Retry-After"], response.data["retry_after"]) == ("7", 7)


def test_an_unexpected_error_shows_a_reference_that_the_log_holds(
    owner: Caller, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(**_: Any) -> None:
        raise RuntimeError("an inner detail")

    monkeypatch.setattr("switchboard.todos.api.list_todos", fail)
    with caplog.at_level(logging.ERROR):
        response = owner.call("GET", "/todos")
    body = response.json()
    assert (response.status_code, body["code"]) == (500, "internal")
    assert b"inner detail" not in response.content
    assert response.headers["X-Request-Id"] == body["reference"]
    assert any(body["reference"] in record.getMessage() for record in caplog.records)


@pytest.mark.parametrize("path", ["/api/v1/", "/api/v1/nothing", "/api/v1/todos//", "/api/v1/todos/a/b/c"])
def test_an_unknown_path_answers_json(db: None, path: str) -> None:
    response = Client().get(path)
    assert (response.status_code, response.json()["code"]) == (404, "not_found")


@pytest.mark.parametrize(("method", "path"), [("PUT", "/todos"), ("GET", "/tokens/x"), ("OPTIONS", "/todos")])
def test_a_method_that_a_path_does_not_answer_is_refused(owner: Caller, method: str, path: str) -> None:
    response = owner.call(method, path)
    assert (response.status_code, response.json()["code"]) == (405, "method_not_allowed")
    assert response.headers["Allow"]


@pytest.mark.parametrize("path", ["/todos", "/todos/unknown", "/nothing"])
def test_answers_carry_the_security_headers_and_are_not_kept(owner: Caller, path: str) -> None:
    headers = owner.call("GET", path).headers
    assert headers["Cache-Control"] == "no-store"
    assert headers["Content-Type"] == "application/json"
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "strict-origin-when-cross-origin"
    assert "unsafe-inline" not in headers["Content-Security-Policy"]


def test_json_is_answered_whatever_is_asked_for(owner: Caller) -> None:
    response = owner.send("GET", "/todos", b"", Accept="text/html")
    assert response.headers["Content-Type"] == "application/json"


def test_head_takes_what_get_takes(owner: Caller) -> None:
    response = owner.call("HEAD", "/todos?limit=5")
    assert (response.status_code, response.content) == (200, b"")


def test_a_final_slash_is_tolerated(owner: Caller) -> None:
    assert owner.get("/todos/") == owner.get("/todos")
    assert owner.call("GET", "/todos/?limit=0").status_code == 400


def test_a_post_with_a_final_slash_is_never_redirected(owner: Caller) -> None:
    assert owner.call("POST", "/endpoints/", {"name": "a", "queues": ["q"]}).status_code == 201


def test_a_surrogate_half_and_nul_in_a_stored_payload_are_shown(owner: Caller) -> None:
    endpoint = make_endpoint(owner.human).endpoint
    event = make_event(endpoint, body=b'{"issue": {"title": "a\\u0000b\\ud800"}}')
    todo = make_todo(endpoint, event=event)
    assert owner.get(f"/todos/{todo.pk}")["payload"]["issue"]["title"].startswith("a\0b")
    assert owner.get(f"/events/{event.pk}")["payload"]["issue"]["title"].startswith("a\0b")


@pytest.mark.parametrize("depth", [300, 500, 100_000])
def test_a_deeply_nested_stored_payload_is_shown(owner: Caller, depth: int) -> None:
    endpoint = make_endpoint(owner.human).endpoint
    event = make_event(endpoint, body=b"[" * depth + b"]" * depth)
    assert owner.call("GET", f"/events/{event.pk}").status_code == 200
    assert owner.call("GET", f"/todos/{make_todo(endpoint, event=event).pk}").status_code == 200


def test_no_answer_shows_a_hash_or_a_sealed_value(owner: Caller) -> None:
    ids = furnish(owner.human)
    one_of = [f"/{name}s/{ids[name]}" for name in ("endpoint", "webhook", "connection")]
    for path in ("/endpoints", "/webhooks", "/tokens", "/connections", *one_of):
        content = owner.call("GET", path).content
        assert b"enc:v1:" not in content
        assert b"_hash" not in content
        assert b"sealed" not in content
