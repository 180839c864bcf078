"""The envelope: what Switchboard decides stands on top, and jq reads what was sent."""

import json
from dataclasses import replace
from typing import Any

import jq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing.document import parse_document
from routing.envelope import Delivery, Envelope, build_envelope, kind_of
from routing.headers import sanitise_headers
from routing.sources import Source, trust_mode_of
from tests.deliveries import (
    SignedDelivery,
    altered,
    cairn_artifact,
    generic_alert,
    gitea_issue,
    github_issue,
    signed,
    slack_message,
    stripe_event,
)

PATHS = [
    "source", "kind", "webhook_id", "trust_mode", "verified", "content_type", "size", "headers", "payload",
    "artifact", "issue",
]  # fmt: skip


def received(delivery: SignedDelivery, source: Source) -> Delivery:
    trust_mode = trust_mode_of(source)
    return Delivery(
        source=source,
        webhook_id="wh_1",
        trust_mode=trust_mode,
        verified=trust_mode == "signed",
        content_type=delivery.content_type or None,
        headers=sanitise_headers(delivery.headers, secrets=[]),
        body=delivery.body,
        document=parse_document(delivery.body, content_type=delivery.content_type or None),
    )


def envelope_of(delivery: SignedDelivery, source: Source) -> Envelope:
    return build_envelope(received(delivery, source))


def ask(expression: str, envelope: Envelope) -> Any:
    return jq.compile(expression).input_text(envelope.text).first()


def test_the_paths_are_those_of_the_specification() -> None:
    envelope = envelope_of(github_issue(), Source.GITHUB)

    assert list(envelope.value) == PATHS
    assert list(json.loads(envelope.text)) == PATHS


def test_what_switchboard_decides_stands_on_top() -> None:
    delivery = github_issue(action="opened", source="forged", verified="forged")
    envelope = envelope_of(delivery, Source.GITHUB)

    assert ask("[.source, .kind, .webhook_id, .trust_mode, .verified, .content_type, .size]", envelope) == [
        "github", "issues", "wh_1", "signed", True, "application/json", len(delivery.body)
    ]  # fmt: skip
    assert ask(".payload.source", envelope) == "forged"


def test_a_token_webhook_says_so() -> None:
    envelope = envelope_of(altered(generic_alert(), headers={"Content-Type": None}), Source.GENERIC)

    assert ask("[.trust_mode, .verified, .content_type, .kind, .issue, .artifact]", envelope) == [
        "token", False, None, None, None, None
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("delivery", "source"),
    [
        (github_issue(labels=["a"], title="naïve 🚀 \x7f"), Source.GITHUB),
        (gitea_issue(title="a\0b"), Source.GITEA),
        (slack_message(), Source.SLACK),
        (stripe_event(), Source.STRIPE),
        (cairn_artifact(tags=["handoff", 1.5], metadata={"n": 2.5}), Source.CAIRN),
        (cairn_artifact(metadata=False), Source.CAIRN),
        (generic_alert(), Source.GENERIC),
        (signed("github", b"[[1, 2]"), Source.GITHUB),
    ],
)
def test_text_and_value_are_the_same_document_for_python_and_jq(delivery: SignedDelivery, source: Source) -> None:
    envelope = envelope_of(delivery, source)

    assert json.loads(envelope.text) == envelope.value
    assert ask(".", envelope) == envelope.value


def test_a_forged_header_does_not_change_a_verified_cairn_kind() -> None:
    delivery = altered(
        cairn_artifact(kind="artifact.created"),
        headers={"X-Cairn-Event": "comment.created", "X-GitHub-Event": "issues"},
    )

    assert ask(".kind", envelope_of(delivery, Source.CAIRN)) == "artifact.created"


@pytest.mark.parametrize("body", [b"{}", b'{"kind":7}', b'{"kind":""}', b"[]"])
def test_a_cairn_body_without_a_kind_has_none_whatever_the_headers_say(body: bytes) -> None:
    delivery = signed("cairn", body, headers={"X-Cairn-Event": "artifact.created"})

    assert envelope_of(delivery, Source.CAIRN).value["kind"] is None


def test_the_kind_is_the_first_event_header_that_says_one() -> None:
    document = parse_document(b"{}", content_type=None)
    headers = {"x-github-event": "push", "x-gitea-event": "issues", "x-cairn-event": "run.closed"}

    def kind(**changes: str) -> str | None:
        return kind_of(Source.GENERIC, headers | {k.replace("_", "-"): v for k, v in changes.items()}, document)

    assert kind() == "push"
    assert kind(x_github_event="") == "issues"
    assert kind(x_github_event="", x_gitea_event="") == "run.closed"
    assert kind(x_github_event="", x_gitea_event="", x_cairn_event="") is None


@pytest.mark.parametrize(("delivery", "source"), [(slack_message(), Source.SLACK), (stripe_event(), Source.STRIPE)])
def test_slack_and_stripe_have_no_kind(delivery: SignedDelivery, source: Source) -> None:
    assert envelope_of(delivery, source).value["kind"] is None


def test_a_gitea_delivery_on_a_github_webhook_is_what_it_is() -> None:
    delivery = altered(gitea_issue(), headers={"X-GitHub-Event": "push"})

    assert envelope_of(delivery, Source.GITHUB).value["kind"] == "push"


def test_integers_keep_every_digit() -> None:
    for number in (9007199254740992, 9007199254740993, 12345678901234567890123):
        envelope = envelope_of(signed("github", f'{{"id":{number}}}'.encode()), Source.GITHUB)

        assert ask(".payload.id | tostring", envelope) == str(number)
        assert envelope.value["payload"] == {"id": number}


def test_the_digits_of_metadata_and_tags_stay_as_sent() -> None:
    metadata = b'{"n":1e999,"m":1.10,"k":12345678901234567890}'
    body = b'{"data":{"id":"x","tags":["a",9007199254740993],"metadata": %b}}' % metadata
    envelope = envelope_of(signed("cairn", body), Source.CAIRN)

    assert f'"metadata":{metadata.decode()}' in envelope.text
    assert '"tags":["a",9007199254740993]' in envelope.text
    assert ask(".artifact.metadata.k | tostring", envelope) == "12345678901234567890"


@pytest.mark.parametrize("body", [b'{"n":NaN}', b"\xff", b"", b"{} {}", b"[" * 100_000, b"9" * 5000])
def test_a_body_that_does_not_parse_is_a_null_payload(body: bytes) -> None:
    envelope = envelope_of(signed("github", body, headers={"X-GitHub-Event": "issues"}), Source.GITHUB)

    assert ask("[.payload, .issue, .size]", envelope) == [None, None, len(body)]


def test_nul_and_surrogates_reach_jq_unharmed() -> None:
    body = rb'{"action":"a","issue":{"number":1,"title":"x\ud800\u0000y"},"k\u0000":"\udc00 \ud83d\ude00"}'
    envelope = envelope_of(signed("github", body, headers={"X-GitHub-Event": "issues"}), Source.GITHUB)

    assert ask(".issue.title", envelope) == "x\ufffd\0y"
    assert ask('.payload["k\\u0000"]', envelope) == "\ufffd 😀"
    assert envelope.text.encode()


def test_headers_are_there_without_credentials() -> None:
    envelope = envelope_of(
        altered(github_issue(delivery_id="d-1"), headers={"Authorization": "Bearer x"}), Source.GITHUB
    )

    assert ask(".headers", envelope) == {
        "content-type": "application/json",
        "user-agent": "GitHub-Hookshot/044aadd",
        "x-github-delivery": "d-1",
        "x-github-event": "issues",
    }


def test_a_stored_delivery_gives_the_same_text_as_the_live_one() -> None:
    live = received(gitea_issue(), Source.GITEA)
    by_length = sorted(live.headers.items(), key=lambda item: (len(item[0]), item[0]))
    stored = replace(live, headers=dict(by_length), document=parse_document(live.body, content_type=None))

    assert list(stored.headers) != list(live.headers)
    assert build_envelope(stored) == build_envelope(live)
    assert build_envelope(stored).text == build_envelope(live).text


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists, max_leaves=8), st.text())
def test_any_payload_and_header_gives_json_that_jq_reads(payload: object, header: str) -> None:
    delivery = signed("cairn", json.dumps({"data": {"metadata": payload}}).encode(), headers={"X-Odd": header})

    envelope = envelope_of(delivery, Source.CAIRN)

    assert json.loads(envelope.text) == envelope.value
    assert ask(".headers", envelope) == envelope.value["headers"]
