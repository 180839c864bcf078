"""Slack: the call, and an answer whose status says nothing."""

import json
from typing import Any

import pytest

from replies.providers import slack
from replies.providers.call import ErrorClass, Failed, Identity, Outcome, Posted, ProviderAnswer, Unclear
from tests.replies.answers import NOW, SECRET, THREAD, TOKEN, answer, raw

API = "https://slack.com/api"
GOOD: dict[str, Any] = {
    "ok": True,
    "channel": "C0123",
    "ts": "1726990000.000100",
    "message": {"user": "U0123", "bot_id": "B0123", "ts": "1726990000.000100"},
}


def read(given: ProviderAnswer) -> Outcome:
    return slack.read_reply(given, address=THREAD, api_base=API, now=NOW)


def read_test(given: ProviderAnswer) -> Identity | Failed:
    return slack.read_test(given, account_key="T0123", now=NOW)


def test_the_call_is_the_documented_one() -> None:
    call = slack.build_reply(THREAD, "Picked this up.", api_base=API, secret=SECRET)

    assert (call.method, call.url) == ("POST", "https://slack.com/api/chat.postMessage")
    assert json.loads(call.body) == {
        "channel": "C0123",
        "thread_ts": "1726980000.000200",
        "text": "Picked this up.",
    }
    assert dict(call.headers) == {
        "Authorization": f"Bearer {TOKEN}",
        "Content-Type": "application/json; charset=utf-8",
        "Accept": "application/json",
    }


def test_the_test_posts_nothing() -> None:
    call = slack.build_test(api_base=API, secret=SECRET)

    assert (call.method, call.url, call.body) == ("POST", "https://slack.com/api/auth.test", b"{}")


def test_a_message_is_its_time_within_the_channel_and_names_the_bot() -> None:
    assert read(answer(GOOD)) == Posted("C0123:1726990000.000100", None, Identity(login="U0123", bot_id="B0123"))


def test_the_channel_that_slack_echoes_counts() -> None:
    without = {name: value for name, value in GOOD.items() if name != "channel"}

    assert read(answer({**GOOD, "channel": "D0999"})) == Posted(
        "D0999:1726990000.000100", None, Identity(login="U0123", bot_id="B0123")
    )
    assert isinstance(read(answer(without)), Posted)


def test_slack_returns_ok_false() -> None:
    assert read(answer({"ok": False, "error": "not_in_channel"})) == Failed(ErrorClass.FORBIDDEN, "not_in_channel")


@pytest.mark.parametrize("ok", ["true", "false", 1, 0, None, [], {}])
def test_an_ok_that_is_no_boolean_is_neither_sent_nor_failed(ok: object) -> None:
    assert read(answer({**GOOD, "ok": ok})) == Unclear(ErrorClass.SERVER, "unreadable_answer")


@pytest.mark.parametrize("ts", [None, 1726990000.0001, "1726990000", "", "x"])
def test_a_message_without_its_time_is_neither_sent_nor_failed(ts: object) -> None:
    assert read(answer({**GOOD, "ts": ts})) == Unclear(ErrorClass.SERVER, "no_object_id")


@pytest.mark.parametrize(
    ("code", "error_class"),
    [
        ("not_authed", ErrorClass.AUTH),
        ("invalid_auth", ErrorClass.AUTH),
        ("account_inactive", ErrorClass.AUTH),
        ("token_revoked", ErrorClass.AUTH),
        ("token_expired", ErrorClass.AUTH),
        ("channel_not_found", ErrorClass.NOT_FOUND),
        ("thread_not_found", ErrorClass.NOT_FOUND),
        ("is_archived", ErrorClass.FORBIDDEN),
        ("missing_scope", ErrorClass.FORBIDDEN),
        ("restricted_action_thread_only_channel", ErrorClass.FORBIDDEN),
        ("rate_limited", ErrorClass.RATE_LIMITED),
        ("message_limit_exceeded", ErrorClass.RATE_LIMITED),
        ("msg_too_long", ErrorClass.INVALID),
        ("a_code_of_next_year", ErrorClass.INVALID),
        ("service_unavailable", ErrorClass.SERVER),
        ("team_added_to_org", ErrorClass.SERVER),
    ],
)
def test_a_code_gives_its_class_and_is_kept(code: str, error_class: ErrorClass) -> None:
    assert read(answer({"ok": False, "error": code})) == Failed(error_class, code)
    assert read_test(answer({"ok": False, "error": code})) == Failed(error_class, code)


@pytest.mark.parametrize("code", ["internal_error", "fatal_error"])
def test_an_error_after_which_the_message_may_stand_is_unclear(code: str) -> None:
    assert read(answer({"ok": False, "error": code})) == Unclear(ErrorClass.SERVER, code)
    assert read_test(answer({"ok": False, "error": code})) == Failed(ErrorClass.SERVER, code)


@pytest.mark.parametrize("error", [None, 7, "", "Not a code!", "x" * 65, ["not_in_channel"], {"a": 1}])
def test_a_refusal_without_a_code_is_still_one(error: object) -> None:
    assert read(answer({"ok": False, "error": error})) == Failed(ErrorClass.INVALID, "http_200")


def test_provider_throttles() -> None:
    throttled = answer({"ok": False, "error": "ratelimited"}, status=429, retry_after="20")

    assert read(throttled) == Failed(ErrorClass.RATE_LIMITED, "ratelimited", 20)


def test_an_ok_under_another_status_is_not_sent() -> None:
    assert read(answer(GOOD, status=302)) == Failed(ErrorClass.INVALID, "http_302")
    assert read(answer(GOOD, status=503)) == Unclear(ErrorClass.SERVER, "http_503")


def test_the_test_records_the_bot_and_the_team() -> None:
    known = {"ok": True, "team_id": "T0123", "user_id": "U0123", "bot_id": "B0123", "url": "https://acme.slack.com/"}

    assert read_test(answer(known)) == Identity(login="U0123", bot_id="B0123", account="T0123")


@pytest.mark.parametrize("team", ["T9999", "t0123", None, 7])
def test_a_token_of_another_team_fails_the_test(team: object) -> None:
    known = {"ok": True, "team_id": team, "user_id": "U0123", "bot_id": "B0123"}

    assert read_test(answer(known)) == Failed(ErrorClass.INVALID, "other_team")


def test_a_users_token_has_no_bot() -> None:
    known = {"ok": True, "team_id": "T0123", "user_id": "U0123"}

    assert read_test(answer(known)) == Identity(login="U0123", bot_id=None, account="T0123")


def test_a_page_under_200_is_not_sent() -> None:
    assert read(raw(b"<html>Sign in</html>")) == Unclear(ErrorClass.SERVER, "unreadable_answer")
