"""GitHub: the call, and its limits that look like refusals."""

import json
from dataclasses import replace

import pytest

from replies.providers import github
from replies.providers.call import ErrorClass, Failed, Identity, Outcome, Posted, ProviderAnswer
from tests.replies.answers import ISSUE, NOW, SECRET, TOKEN, answer, raw

API = "https://api.github.com"
PAGE = "https://github.com/acme/widgets/issues/7#issuecomment-99001"
FORBIDDEN = Failed(ErrorClass.FORBIDDEN, "http_403")


def read(given: ProviderAnswer) -> Outcome:
    return github.read_reply(given, address=ISSUE, api_base=API, now=NOW)


def test_the_call_is_the_documented_one() -> None:
    call = github.build_reply(ISSUE, "Picked this up.", api_base=API, secret=SECRET)

    assert (call.method, call.url) == ("POST", "https://api.github.com/repos/acme/widgets/issues/7/comments")
    assert json.loads(call.body) == {"body": "Picked this up."}
    assert dict(call.headers) == {
        "Authorization": f"Bearer {TOKEN}",
        "Accept": "application/vnd.github+json",
        "X-GitHub-Api-Version": "2022-11-28",
        "Content-Type": "application/json",
    }


def test_the_test_asks_for_the_user() -> None:
    call = github.build_test(api_base=API, secret=SECRET)

    assert (call.method, call.url, call.body) == ("GET", "https://api.github.com/user", b"")


def test_the_author_of_the_comment_is_kept() -> None:
    outcome = read(answer({"id": 99001, "html_url": PAGE, "user": {"login": "acme[bot]"}}, status=201))

    assert outcome == Posted("99001", PAGE, Identity(login="acme[bot]"))


@pytest.mark.parametrize(
    "link",
    [
        "javascript:alert(1)", "http://github.com/x", "https://evil.example/x", "https://github.com@evil/", "/x",
        "", None, 7, "https://github.com/\n", "https://github.com:8443/x", "https://github.com/" + "a" * 2048,
    ],
)  # fmt: skip
def test_a_link_that_does_not_lead_to_the_host_is_left_out(link: object) -> None:
    outcome = read(answer({"id": 99001, "html_url": link}, status=201))

    assert outcome == Posted("99001", None)


@pytest.mark.parametrize(
    "message",
    [
        "API rate limit exceeded for user ID 1.",
        "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.",
        "Please wait a few minutes before you try again.",
        "You have triggered an abuse detection mechanism.",
    ],
)
def test_a_limit_is_told_by_its_message(message: str) -> None:
    assert read(answer({"message": message}, status=403)) == Failed(ErrorClass.RATE_LIMITED, "http_403", None)


def test_a_limit_is_told_by_its_headers() -> None:
    reset = str(int(NOW.timestamp()) + 40)

    assert read(raw(b"", status=403, retry_after="60")) == Failed(ErrorClass.RATE_LIMITED, "http_403", 60)
    spent = raw(b"", status=403, x_ratelimit_remaining="0", x_ratelimit_reset=reset)
    assert read(spent) == Failed(ErrorClass.RATE_LIMITED, "http_403", 40)
    both = raw(b"", status=429, x_ratelimit_remaining="0", x_ratelimit_reset=reset, retry_after="5")
    assert read(both) == Failed(ErrorClass.RATE_LIMITED, "http_429", 5)


@pytest.mark.parametrize(
    ("reset", "seconds"), [("1", 0), ("9999999999", 86_400), ("soon", None), ("", None), ("-1", None)]
)
def test_the_reset_is_bounded(reset: str, seconds: int | None) -> None:
    spent = raw(b"", status=403, x_ratelimit_remaining="0", x_ratelimit_reset=reset)

    assert read(spent) == Failed(ErrorClass.RATE_LIMITED, "http_403", seconds)


@pytest.mark.parametrize("message", ["Resource not accessible by personal access token", "", None, 7, ["rate limit"]])
def test_any_other_403_is_forbidden(message: object) -> None:
    spent_little = answer(
        {"message": message}, status=403, x_ratelimit_remaining="4999", x_ratelimit_reset="9999999999"
    )

    assert read(spent_little) == FORBIDDEN


def test_spent_calls_do_not_turn_another_refusal_into_a_limit() -> None:
    assert read(raw(b"", status=404, x_ratelimit_remaining="0")) == Failed(ErrorClass.NOT_FOUND, "http_404")


def test_an_installations_token_is_alive_without_a_login() -> None:
    refused = answer({"message": "Resource not accessible by integration"}, status=403)

    assert github.read_test(refused, account_key="github.com", now=NOW) == Identity()
    assert github.read_test(answer({}, status=403), account_key="github.com", now=NOW) == FORBIDDEN


def test_an_enterprise_server_has_its_own_host() -> None:
    address = replace(ISSUE, host="ghes.example.com")
    api = "https://ghes.example.com/api/v3"
    page = "https://GHES.example.com/acme/widgets/issues/7"

    call = github.build_reply(address, "Hello", api_base=api, secret=SECRET)
    outcome = github.read_reply(answer({"id": 1, "html_url": page}, status=201), address=address, api_base=api, now=NOW)

    assert call.url == "https://ghes.example.com/api/v3/repos/acme/widgets/issues/7/comments"
    assert outcome == Posted("1", page)
