"""Cairn: the call, its error envelope, and a whoami that answers strangers too."""

import json

import pytest

from replies.providers import cairn
from replies.providers.call import ErrorClass, Failed, Identity, Outcome, Posted, ProviderAnswer, Unclear
from tests.replies.answers import ARTIFACT, NOW, SECRET, TOKEN, answer

API = "https://cairn.example.com/v1"


def read(given: ProviderAnswer) -> Outcome:
    return cairn.read_reply(given, address=ARTIFACT, api_base=API, now=NOW)


def read_test(given: ProviderAnswer) -> Identity | Failed:
    return cairn.read_test(given, account_key="https://cairn.example.com", now=NOW)


def refusal(code: object, status: int, **headers: str) -> ProviderAnswer:
    return answer({"error": {"code": code, "message": "no", "request_id": "r1"}}, status=status, **headers)


def test_the_call_is_the_specified_one() -> None:
    call = cairn.build_reply(ARTIFACT, "Picked this up.", api_base=API, secret=SECRET)

    assert (call.method, call.url) == ("POST", "https://cairn.example.com/v1/artifacts/4kQ9zTbX/comments")
    assert json.loads(call.body) == {"body": "Picked this up."}
    assert dict(call.headers) == {
        "Authorization": f"Bearer {TOKEN}",
        "Accept": "application/json",
        "Content-Type": "application/json",
    }


def test_the_test_asks_who_we_are() -> None:
    call = cairn.build_test(api_base=API, secret=SECRET)

    assert (call.method, call.url, call.body) == ("GET", "https://cairn.example.com/v1/whoami", b"")


def test_a_comment_has_its_id_its_author_and_no_page() -> None:
    created = answer(
        {"id": 512, "actor_id": "agent@example.com", "html_url": "https://cairn.example.com/x"}, status=201
    )

    assert read(created) == Posted("512", None, Identity(login="agent@example.com"))


@pytest.mark.parametrize(
    ("code", "status", "error_class"),
    [
        ("unauthorized", 401, ErrorClass.AUTH),
        ("forbidden", 403, ErrorClass.FORBIDDEN),
        ("not_found", 404, ErrorClass.NOT_FOUND),
        ("validation_failed", 400, ErrorClass.INVALID),
        ("conflict", 409, ErrorClass.INVALID),
        ("payload_too_large", 413, ErrorClass.INVALID),
    ],
)
def test_a_refusal_has_its_class_and_keeps_its_code(code: str, status: int, error_class: ErrorClass) -> None:
    assert read(refusal(code, status)) == Failed(error_class, code)
    assert read_test(refusal(code, status)) == Failed(error_class, code)


def test_a_limit_names_its_waiting_time() -> None:
    assert read(refusal("rate_limited", 429, retry_after="20")) == Failed(ErrorClass.RATE_LIMITED, "rate_limited", 20)


def test_a_server_error_keeps_its_code_and_is_unclear() -> None:
    assert read(refusal("internal", 500)) == Unclear(ErrorClass.SERVER, "internal")


@pytest.mark.parametrize("code", [None, 7, "", "A sentence.", ["x"]])
def test_a_code_that_is_none_becomes_the_status(code: object) -> None:
    assert read(refusal(code, 403)) == Failed(ErrorClass.FORBIDDEN, "http_403")


def test_a_stranger_fails_the_test() -> None:
    stranger = {"actor_id": "", "channel": "via API", "authenticated": False}

    assert read_test(answer(stranger)) == Failed(ErrorClass.AUTH, "not_authenticated")


def test_the_test_records_the_actor() -> None:
    known = {"actor_id": "agent@example.com", "channel": "via API", "authenticated": True}

    assert read_test(answer(known)) == Identity(login="agent@example.com")
