"""The contract that every signed source keeps, whatever its scheme."""

import hashlib
import hmac
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing.sources import SIGNED, SOURCES, VENDOR_ISSUED_SECRET, Source, trust_mode_of
from routing.sources.request import InvalidSignature, SignedRequest
from tests import corpus
from tests.deliveries import (
    SignedDelivery,
    altered,
    cairn_artifact,
    gitea_issue,
    github_issue,
    slack_message,
    stripe_event,
)

NOW = datetime(2026, 3, 4, 9, 15, 27, 482915, tzinfo=UTC)
TOLERANCE = timedelta(seconds=300)
SECRET = "the live secret"
PREVIOUS = "the previous secret"


@dataclass(frozen=True)
class Case:
    """A source, its signature header, and a builder of good deliveries for a secret and a time."""

    source: Source
    header: str
    build: Callable[..., SignedDelivery]
    signs_the_time: bool


CASES = [
    Case(Source.GITHUB, "X-Hub-Signature-256", github_issue, signs_the_time=False),
    Case(Source.GITEA, "X-Gitea-Signature", gitea_issue, signs_the_time=False),
    Case(Source.SLACK, "X-Slack-Signature", slack_message, signs_the_time=True),
    Case(Source.STRIPE, "Stripe-Signature", stripe_event, signs_the_time=True),
    Case(Source.CAIRN, "X-Cairn-Signature", cairn_artifact, signs_the_time=True),
]
every_signed_source = pytest.mark.parametrize("case", CASES, ids=[case.source.value for case in CASES])
every_timed_source = pytest.mark.parametrize(
    "case",
    [case for case in CASES if case.signs_the_time],
    ids=[case.source.value for case in CASES if case.signs_the_time],
)


def verify(source: Source, request: SignedRequest, *secrets: str) -> None:
    SOURCES[source].verify(request, secrets=secrets or (SECRET,), tolerance=TOLERANCE)


def refusal(source: Source, request: SignedRequest, *secrets: str) -> str:
    with pytest.raises(InvalidSignature) as refused:
        verify(source, request, *secrets)
    return refused.value.reason


def test_the_contract_covers_every_signed_source() -> None:
    assert {case.source for case in CASES} == SIGNED
    assert SOURCES.keys() == set(Source)
    assert {source for source in Source if trust_mode_of(source) == "token"} == {Source.GENERIC}
    assert {Source.SLACK, Source.STRIPE} == VENDOR_ISSUED_SECRET


@every_signed_source
def test_a_good_signature_verifies(case: Case) -> None:
    verify(case.source, case.build(secret=SECRET, at=NOW).request())


@every_signed_source
def test_raw_utf8_with_emoji_verifies(case: Case) -> None:
    delivery = case.build(secret=SECRET, at=NOW, text="naïve 🚀", title="naïve 🚀")

    assert "🚀".encode() in delivery.body
    verify(case.source, delivery.request())


@every_signed_source
def test_another_secret_does_not_verify(case: Case) -> None:
    request = case.build(secret="somebody else's", at=NOW).request()

    assert refusal(case.source, request) == "signature_mismatch"


@every_signed_source
def test_one_altered_byte_does_not_verify(case: Case) -> None:
    delivery = case.build(secret=SECRET, at=NOW)
    changed = altered(delivery, body=delivery.body[:-1] + b" ")

    assert refusal(case.source, changed.request()) == "signature_mismatch"


@every_signed_source
def test_the_same_json_printed_otherwise_does_not_verify(case: Case) -> None:
    delivery = case.build(secret=SECRET, at=NOW)
    changed = altered(delivery, body=json.dumps(json.loads(delivery.body), indent=7).encode())

    assert refusal(case.source, changed.request()) == "signature_mismatch"


@every_signed_source
@pytest.mark.parametrize("value", [None, ""])
def test_a_missing_signature_does_not_verify(case: Case, value: str | None) -> None:
    delivery = altered(case.build(secret=SECRET, at=NOW), headers={case.header: value})

    assert refusal(case.source, delivery.request()) == "missing_signature"


@every_signed_source
@pytest.mark.parametrize(
    "change",
    [
        lambda good: ":" + good.replace("=", ":"),
        lambda good: good[:-1],
        lambda good: good + "0",
        lambda good: good + "\n",
        lambda good: " " + good,
        lambda good: good[:-1] + "é",
        lambda good: good[:-1] + "\uff10",
        lambda good: "\xff" * len(good),
        lambda good: good[:-64] + good[-64:].upper(),
        lambda good: f"sha256={good}",
        lambda good: f"{good},{good}",
        lambda good: good[:-64] + "sha1=" + "0" * 40,
        lambda good: good[:-64],
    ],
)  # fmt: skip
def test_a_malformed_signature_does_not_verify(case: Case, change: Callable[[str], str]) -> None:
    delivery = case.build(secret=SECRET, at=NOW)
    good = delivery.headers[case.header]

    assert refusal(case.source, altered(delivery, headers={case.header: change(good)}).request())


@every_signed_source
@pytest.mark.parametrize("blank", ["", " ", "\t\n"])
def test_a_blank_secret_never_verifies(case: Case, blank: str) -> None:
    builder_secret = blank if case.source not in VENDOR_ISSUED_SECRET else SECRET
    request = case.build(secret=builder_secret, at=NOW).request()

    assert refusal(case.source, request, blank) == "no_secret"
    assert refusal(case.source, request, blank, "another") == "signature_mismatch"


@every_signed_source
def test_no_secret_never_verifies(case: Case) -> None:
    request = case.build(secret=SECRET, at=NOW).request()

    with pytest.raises(InvalidSignature, match="no_secret"):
        SOURCES[case.source].verify(request, secrets=(), tolerance=TOLERANCE)


@every_signed_source
def test_the_previous_secret_verifies_while_it_lives(case: Case) -> None:
    request = case.build(secret=PREVIOUS, at=NOW).request()

    verify(case.source, request, SECRET, PREVIOUS)
    assert refusal(case.source, request, SECRET) == "signature_mismatch"


@every_timed_source
@pytest.mark.parametrize("seconds", [-300, -299, 0, 299, 300])
def test_a_time_within_the_tolerance_verifies(case: Case, seconds: int) -> None:
    delivery = case.build(secret=SECRET, at=NOW)

    verify(case.source, delivery.request(received_at=NOW + timedelta(seconds=seconds)))


@every_timed_source
@pytest.mark.parametrize("seconds", [-86_400, -301, 301, 86_400])
def test_a_time_beyond_the_tolerance_is_stale_in_both_directions(case: Case, seconds: int) -> None:
    delivery = case.build(secret=SECRET, at=NOW)
    request = delivery.request(received_at=NOW + timedelta(seconds=seconds))

    assert refusal(case.source, request) == "stale_timestamp"


@pytest.mark.parametrize("source", [Source.GITHUB, Source.GITEA])
@pytest.mark.parametrize("body", [b"", b"\xff\xfe", b'{"n":NaN}', b"[" * 100_000])
def test_a_signed_body_that_does_not_parse_still_verifies(source: Source, body: bytes) -> None:
    digest = hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
    headers = {"X-Hub-Signature-256": f"sha256={digest}", "X-Gitea-Signature": digest}

    verify(source, SignedDelivery(body=body, headers=headers, at=NOW).request())


@every_signed_source
@given(header=st.text(), body=st.binary(), secret=st.text())
def test_nothing_but_a_refusal_is_raised(case: Case, header: str, body: bytes, secret: str) -> None:
    names = dict.fromkeys([case.header, "X-Slack-Request-Timestamp", "X-Cairn-Event-Id"], header)

    with pytest.raises(InvalidSignature):
        verify(case.source, SignedDelivery(body=body, headers=names, at=NOW).request(), secret)


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
FIELDS = st.sampled_from(
    [
        "action", "issue", "number", "title", "user", "login", "repository", "full_name", "sender",
        "event", "type", "channel", "text", "item", "message", "data", "object", "id", "currency",
        "amount", "actor_id", "comment", "body", "reaction", "emoji", "event_id", "kind", "release",
        "ref", "pull_request", "subtype",
    ]
)  # fmt: skip
SHAPES = st.recursive(ANY_JSON, lambda inner: st.dictionaries(FIELDS, inner | ANY_JSON, max_size=6), max_leaves=12)


@pytest.mark.parametrize("source", list(Source))
@given(shape=SHAPES, kind=st.none() | st.text())
def test_any_json_gets_a_label_and_a_title_of_one_line(source: Source, shape: object, kind: str | None) -> None:
    request = SignedDelivery(body=json.dumps(shape).encode(), headers={}, at=NOW).request()

    description = SOURCES[source].describe(kind, request)

    for text, limit in ((description.label, 100), (description.title, 200)):
        assert 0 < len(text) <= limit
        assert text.isprintable()
        assert text.encode()


@pytest.mark.parametrize("source", list(Source))
@pytest.mark.parametrize("body", [b"", b"[]", b"null", b"7", b'{"event":7,"data":[],"issue":"x"}'])
def test_a_body_that_says_nothing_is_named_by_its_source(source: Source, body: bytes) -> None:
    description = SOURCES[source].describe(None, SignedDelivery(body=body, headers={}, at=NOW).request())

    assert description.title == f"{source} delivery"
    assert description.label == "delivery"


@pytest.mark.parametrize(
    ("source", "header"),
    [
        (Source.GITHUB, "x-github-delivery"),
        (Source.GITEA, "x-gitea-delivery"),
        (Source.GENERIC, "x-delivery-id"),
        (Source.GENERIC, "webhook-id"),
    ],
)
def test_the_delivery_id_of_a_header_must_be_printable_and_short(source: Source, header: str) -> None:
    def identifier(value: str) -> str | None:
        request = github_issue().request()
        return SOURCES[source].delivery_id(replace(request, headers={header: value}))

    assert identifier("6b0a3a0e-3f6b") == "6b0a3a0e-3f6b"
    assert identifier("a" * 256) == "a" * 256
    assert [identifier(bad) for bad in ("", " ", "a" * 257, "a\nb", "a\0", "\ud800", "é" * 129)] == [None] * 7


@pytest.mark.parametrize(
    ("source", "field"), [(Source.SLACK, "event_id"), (Source.STRIPE, "id"), (Source.CAIRN, "event_id")]
)
def test_the_delivery_id_of_a_body_must_be_printable_and_short(source: Source, field: str) -> None:
    def identifier(value: object) -> str | None:
        body = json.dumps({field: value}).encode()
        return SOURCES[source].delivery_id(SignedDelivery(body=body, headers={}, at=NOW).request())

    assert identifier("Ev0SWITCH006") == "Ev0SWITCH006"
    assert identifier("a" * 256) == "a" * 256
    unusable: list[object] = ["", " ", "a" * 257, "a\nb", "a\0", "\ud800", 7, None, []]
    assert {identifier(bad) for bad in unusable} == {None}


@pytest.mark.corpus
@corpus.parametrize(corpus.vectors())
def test_the_vectors_of_the_corpus_verify(entry: corpus.CorpusVector) -> None:
    source = _source_of(entry)
    request = SignedDelivery(
        body=entry.body, headers=entry.headers, at=datetime.fromtimestamp(1741079420, UTC)
    ).request()

    for secret in entry.secrets:
        verify(source, request, secret)
    if not entry.secrets:
        assert refusal(source, request, "", "sb-test-gitea") == "missing_signature"


def _source_of(vector: corpus.CorpusVector) -> Source:
    return next(case.source for case in reversed(CASES) if case.header in vector.headers)


@pytest.mark.corpus
@corpus.parametrize(corpus.entries("github", "gitea", "slack", "stripe", "cairn"))
def test_every_signature_of_the_corpus_verifies(entry: corpus.CorpusEntry) -> None:
    body = json.loads(entry.body)
    signed_at = entry.headers.get("X-Slack-Request-Timestamp") or entry.headers.get("Stripe-Signature", "")[2:12]
    at = datetime.fromtimestamp(int(signed_at), UTC) if signed_at else NOW
    if entry.source == "cairn":
        at = datetime.fromisoformat(body["created_at"][:26] + "+00:00")
    request = SignedDelivery(body=entry.body, headers=entry.headers, at=at).request()

    verify(Source(entry.source), request, corpus.secret_of(entry.source))
