"""The contract that every reply provider keeps: exactly one call, and no answer that it believes too easily."""

import ast
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import replies.providers
from replies.providers import PROVIDERS, ProviderModule
from replies.providers.call import (
    ErrorClass,
    Failed,
    Identity,
    Outcome,
    Posted,
    ProviderAnswer,
    TextLimit,
    Unclear,
    UnusableSecret,
    authorization,
)
from switchboard.reply_address import Provider, ReplyAddress
from switchboard.sealing import Secret
from tests.replies.answers import ARTIFACT, ISSUE, NOW, PULL_REQUEST, SECRET, TEXT, THREAD, TOKEN, answer, raw


@dataclass(frozen=True)
class Case:
    """A provider, an address of its own, a good answer to a reply and one to a test."""

    provider: Provider
    address: ReplyAddress
    account_key: str
    api_base: str
    good: Mapping[str, Any]
    good_status: int
    object_id: str
    good_test: Mapping[str, Any]
    authorization: str

    @property
    def module(self) -> ProviderModule:
        return PROVIDERS[self.provider]

    def read(self, given: ProviderAnswer) -> Outcome:
        return self.module.read_reply(given, address=self.address, api_base=self.api_base, now=NOW)

    def read_test(self, given: ProviderAnswer) -> Identity | Failed:
        return self.module.read_test(given, account_key=self.account_key, now=NOW)


CASES = [
    Case(Provider.GITHUB, ISSUE, "github.com", "https://api.github.com",
         {"id": 99001, "html_url": "https://github.com/acme/widgets/issues/7#issuecomment-99001",
          "user": {"login": "acme-bot"}},
         201, "99001", {"login": "acme-bot", "id": 1, "type": "User"}, f"Bearer {TOKEN}"),
    Case(Provider.GITEA, PULL_REQUEST, "https://git.example.net:8443", "https://git.example.net:8443/api/v1",
         {"id": 78, "html_url": "https://git.example.net:8443/stump.wtf/switchboard/pulls/482#issuecomment-78"},
         201, "78", {"login": "bot", "id": 3}, f"token {TOKEN}"),
    Case(Provider.SLACK, THREAD, "T0123", "https://slack.com/api",
         {"ok": True, "channel": "C0123", "ts": "1726990000.000100", "message": {"user": "U0123", "bot_id": "B0123"}},
         200, "C0123:1726990000.000100",
         {"ok": True, "team_id": "T0123", "user_id": "U0123", "bot_id": "B0123"}, f"Bearer {TOKEN}"),
    Case(Provider.CAIRN, ARTIFACT, "https://cairn.example.com", "https://cairn.example.com/v1",
         {"id": 512, "actor_id": "agent@example.com", "body": TEXT}, 201, "512",
         {"actor_id": "agent@example.com", "channel": "via API", "authenticated": True}, f"Bearer {TOKEN}"),
]  # fmt: skip
every_provider = pytest.mark.parametrize("case", CASES, ids=[case.provider.value for case in CASES])
BY_PROVIDER = {case.provider: case for case in CASES}

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=8,
)
members = st.fixed_dictionaries(
    {},
    optional=dict.fromkeys(
        ("id", "ok", "ts", "channel", "error", "message", "html_url", "user", "team_id", "login", "code"), json_values
    ),
)


def test_the_contract_covers_every_provider() -> None:
    assert PROVIDERS.keys() == BY_PROVIDER.keys() == set(Provider)


def test_one_provider_never_imports_another() -> None:
    folder = Path(replies.providers.__file__).parent
    for provider in Provider:
        tree = ast.parse((folder / f"{provider}.py").read_text())
        imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        assert not imported & {f"replies.providers.{other}" for other in Provider}


@every_provider
def test_a_reply_is_one_post_under_the_connections_base(case: Case) -> None:
    call = case.module.build_reply(case.address, TEXT, api_base=case.api_base, secret=SECRET)

    assert call.method == "POST"
    assert call.url.startswith(f"{case.api_base}/")
    assert call.headers["Content-Type"].startswith("application/json")
    assert not {"Host", "User-Agent", "Content-Length"} & call.headers.keys()


@every_provider
def test_the_text_is_posted_as_given(case: Case) -> None:
    call = case.module.build_reply(case.address, TEXT, api_base=case.api_base, secret=SECRET)
    body = json.loads(call.body)

    assert TEXT in body.values()
    assert "🚀".encode() in (call.body)


@every_provider
def test_the_secret_stands_in_the_authorization_header_only(case: Case) -> None:
    calls = [
        case.module.build_reply(case.address, TEXT, api_base=case.api_base, secret=SECRET),
        case.module.build_test(api_base=case.api_base, secret=SECRET),
    ]
    for call in calls:
        assert call.headers["Authorization"] == case.authorization
        others = [value for name, value in call.headers.items() if name != "Authorization"]
        assert not any(TOKEN in part for part in [call.url, repr(call), str(call.body), *others])


@every_provider
def test_a_call_shows_neither_the_text_nor_the_path(case: Case) -> None:
    call = case.module.build_reply(case.address, TEXT, api_base=case.api_base, secret=SECRET)

    assert "Picked" not in repr(call)
    assert "4kQ9zTbX" not in repr(call)


@every_provider
@pytest.mark.parametrize(
    "secret", ["", "a b", "token\n", "token\r\nX-Evil: 1", "tök\u00e9n", "\u200btoken", "a\x00b", "\x7f"]
)
def test_a_secret_that_no_header_can_hold_is_refused_unquoted(case: Case, secret: str) -> None:
    with pytest.raises(UnusableSecret) as refused:
        case.module.build_test(api_base=case.api_base, secret=Secret(secret))

    assert not secret or secret not in str(refused.value)


@every_provider
def test_the_address_of_another_kind_is_a_programming_error(case: Case) -> None:
    other: ReplyAddress = THREAD if case.provider is not Provider.SLACK else ISSUE

    with pytest.raises(TypeError):
        case.module.build_reply(other, TEXT, api_base=case.api_base, secret=SECRET)


@every_provider
def test_the_path_is_escaped(case: Case) -> None:
    unsafe: dict[Provider, ReplyAddress] = {
        Provider.GITHUB: replace(ISSUE, repo="a?b/c#d e"),
        Provider.GITEA: replace(PULL_REQUEST, repo="a?b/c#d e"),
        Provider.CAIRN: replace(ARTIFACT, artifact_id="../x?y#z"),
        Provider.SLACK: THREAD,
    }

    call = case.module.build_reply(unsafe[case.provider], TEXT, api_base=case.api_base, secret=SECRET)

    assert not set("?# ") & set(call.url)
    assert "/../" not in call.url


@every_provider
def test_a_good_answer_is_posted_with_its_id(case: Case) -> None:
    outcome = case.read(answer(case.good, status=case.good_status))

    assert isinstance(outcome, Posted)
    assert outcome.object_id == case.object_id
    assert outcome.permalink == case.good.get("html_url")


@every_provider
@pytest.mark.parametrize("status", [200, 201, 202])
def test_any_success_with_an_id_is_posted(case: Case, status: int) -> None:
    assert isinstance(case.read(answer(case.good, status=status)), Posted)


@every_provider
@pytest.mark.parametrize("status", [200, 201, 204])
@pytest.mark.parametrize(
    "body",
    [b"", b"<html>Sign in</html>", b"null", b"[]", b'"ok"', b"{}", b"\xff\xfe", b"[" * 100_000,
     b'{"id": ' + b"9" * 5000 + b"}"],
    ids=["empty", "html", "null", "list", "text", "object", "no utf-8", "deep", "digits"],
)  # fmt: skip
def test_a_success_that_cannot_be_read_is_neither_sent_nor_failed(case: Case, status: int, body: bytes) -> None:
    assert isinstance(case.read(raw(body, status=status)), Unclear)


@every_provider
@pytest.mark.parametrize("value", [None, 0, -1, True, 1.5, "x", "", [99001], {"id": 1}])
def test_a_success_without_a_usable_id_is_neither_sent_nor_failed(case: Case, value: object) -> None:
    field = "ts" if case.provider is Provider.SLACK else "id"

    outcome = case.read(answer({**case.good, field: value}, status=case.good_status))

    assert outcome == Unclear(ErrorClass.SERVER, "no_object_id")


@every_provider
@pytest.mark.parametrize("status", [500, 501, 502, 503, 504, 520, 599])
@pytest.mark.parametrize("body", [b"", b"<html>Bad gateway</html>", b"{}"])
def test_a_server_error_is_unclear(case: Case, status: int, body: bytes) -> None:
    assert case.read(raw(body, status=status)) == Unclear(ErrorClass.SERVER, f"http_{status}")


@every_provider
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirect(case: Case, status: int) -> None:
    redirect = answer(case.good, status=status, location="https://evil.example/")

    assert case.read(redirect) == Failed(ErrorClass.INVALID, f"http_{status}")
    assert case.read_test(redirect) == Failed(ErrorClass.INVALID, f"http_{status}")


@every_provider
@pytest.mark.parametrize(
    ("status", "error_class"),
    [
        (400, ErrorClass.INVALID),
        (401, ErrorClass.AUTH),
        (403, ErrorClass.FORBIDDEN),
        (404, ErrorClass.NOT_FOUND),
        (409, ErrorClass.INVALID),
        (410, ErrorClass.NOT_FOUND),
        (413, ErrorClass.INVALID),
        (418, ErrorClass.INVALID),
        (422, ErrorClass.INVALID),
        (423, ErrorClass.FORBIDDEN),
        (429, ErrorClass.RATE_LIMITED),
        (451, ErrorClass.FORBIDDEN),
    ],
)
def test_a_refusals_status_gives_its_class(case: Case, status: int, error_class: ErrorClass) -> None:
    refusal = raw(b"<html>no</html>", status=status)

    assert case.read(refusal) == Failed(error_class, f"http_{status}")
    assert case.read_test(refusal) == Failed(error_class, f"http_{status}")


@every_provider
@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("20", 20),
        (" 20 ", 20),
        ("0", 0),
        ("-5", 0),
        ("-5.5", 0),
        ("1.5", 2),
        ("2.0", 2),
        ("86401", 86_400),
        ("9" * 400, 86_400),
        ("Tue, 22 Sep 2026 12:00:30 GMT", 30),
        ("Tue, 22 Sep 2026 14:00:30 +0200", 30),
        ("Tue, 22 Sep 2026 12:00:30 -0000", 30),
        ("Tue, 22 Sep 2026 11:59:00 GMT", 0),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 86_400),
        ("soon", None),
        ("", None),
        ("1e3", None),
        ("\u0662\u0660", None),
        ("20, 30", None),
        ("Tue, 99 Sep 2026 12:00:30 GMT", None),
    ],
)
def test_a_waiting_time_is_read_and_bounded(case: Case, header: str, seconds: int | None) -> None:
    outcome = case.read(raw(b"", status=429, retry_after=header))

    assert outcome == Failed(ErrorClass.RATE_LIMITED, "http_429", seconds)


@every_provider
def test_a_waiting_time_may_be_absent(case: Case) -> None:
    assert case.read(raw(b"", status=429)) == Failed(ErrorClass.RATE_LIMITED, "http_429", None)


@every_provider
def test_only_a_limit_makes_one_wait(case: Case) -> None:
    outcome = case.read(raw(b"", status=404, retry_after="20"))

    assert outcome == Failed(ErrorClass.NOT_FOUND, "http_404", None)


@every_provider
@pytest.mark.parametrize("status", [200, 201, 302, 400, 401, 403, 404, 422, 429, 500])
def test_nothing_that_a_provider_says_lands_in_an_error(case: Case, status: int) -> None:
    said = "the text of your secret reply"
    refusal = answer({"ok": False, "error": said, "message": said, "errors": [said], "code": said}, status=status)
    nested = answer({"error": {"code": said, "message": said}}, status=status)

    for given_answer in (refusal, nested):
        assert said not in repr([case.read(given_answer), case.read_test(given_answer), given_answer])


@every_provider
def test_a_test_is_one_read_of_whose_token_it_is(case: Case) -> None:
    call = case.module.build_test(api_base=case.api_base, secret=SECRET)
    identity = case.read_test(answer(case.good_test))

    assert call.url.startswith(f"{case.api_base}/")
    assert call.body in {b"", b"{}"}
    assert isinstance(identity, Identity)
    assert identity.login in case.good_test.values()


@every_provider
@pytest.mark.parametrize("body", [b"", b"<html>Sign in</html>", b"null", b"{}", b'{"ok": "true"}', b'{"login": 7}'])
def test_a_test_that_cannot_be_read_did_not_succeed(case: Case, body: bytes) -> None:
    assert case.read_test(raw(body)) == Failed(ErrorClass.SERVER, "unreadable_answer")


@every_provider
@pytest.mark.parametrize("status", [500, 502, 503])
def test_a_test_that_the_server_spoils_has_failed(case: Case, status: int) -> None:
    assert case.read_test(raw(b"", status=status)) == Failed(ErrorClass.SERVER, f"http_{status}")


@given(provider=st.sampled_from(Provider), status=st.integers(0, 999), value=json_values | members)
def test_no_answer_breaks_a_provider(provider: Provider, status: int, value: object) -> None:
    case = BY_PROVIDER[provider]
    odd = answer(value, status=status)

    assert isinstance(case.read(odd), Posted | Failed | Unclear)
    assert isinstance(case.read_test(odd), Identity | Failed)


@every_provider
@given(body=st.binary(max_size=60), status=st.integers(200, 599), header=st.text(max_size=30))
def test_no_bytes_break_a_provider(case: Case, body: bytes, status: int, header: str) -> None:
    odd = raw(body, status=status, retry_after=header, x_ratelimit_reset=header, x_ratelimit_remaining="0")

    assert isinstance(case.read(odd), Failed | Unclear)
    assert isinstance(case.read_test(odd), Identity | Failed)


def test_a_text_limit_counts_its_own_unit() -> None:
    assert TextLimit(4, "bytes").admits("🚀")
    assert not TextLimit(3, "bytes").admits("🚀")
    assert TextLimit(1, "characters").admits("🚀")
    assert not TextLimit(1, "characters").admits("🚀🚀")


def test_the_documented_limits() -> None:
    assert {provider: module.TEXT_LIMIT for provider, module in PROVIDERS.items()} == {
        Provider.GITHUB: TextLimit(65_536, "characters"),
        Provider.GITEA: None,
        Provider.SLACK: TextLimit(40_000, "characters"),
        Provider.CAIRN: TextLimit(16_384, "bytes"),
    }


def test_an_authorization_is_scheme_and_secret() -> None:
    assert authorization("Bearer", Secret("xoxb-1")) == "Bearer xoxb-1"
