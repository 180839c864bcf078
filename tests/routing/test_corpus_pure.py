"""Every body of the payload corpus gives the fields that its index expects."""

import json
from datetime import UTC, datetime, timedelta

import jq
import pytest

from routing.envelope import Delivery, Envelope, build_envelope
from routing.fields import text_at
from routing.headers import sanitise_headers
from routing.sources import SOURCES, Source, trust_mode_of
from tests import corpus
from tests.corpus import CorpusEntry
from tests.deliveries import SignedDelivery

pytestmark = pytest.mark.corpus

NOW = datetime(2026, 3, 4, 9, 15, 27, tzinfo=UTC)


def envelope_of(entry: CorpusEntry, source: Source | None = None) -> Envelope:
    delivery = SignedDelivery(body=entry.body, headers=entry.headers, at=NOW)
    sender = source or Source(entry.source)
    return build_envelope(
        Delivery(
            source=sender,
            webhook_id="wh_1",
            trust_mode=trust_mode_of(sender),
            verified=sender is not Source.GENERIC,
            content_type=delivery.content_type,
            headers=sanitise_headers(entry.headers, secrets=[]),
            body=entry.body,
            document=delivery.request().document,
        )
    )


@corpus.parametrize(corpus.entries("github", "gitea"))
def test_a_forges_kind_and_label_are_the_expected_ones(entry: CorpusEntry) -> None:
    kind = text_at(envelope_of(entry).value, "kind")
    request = SignedDelivery(body=entry.body, headers=entry.headers, at=NOW).request()

    assert kind == entry.expected["event"]
    assert SOURCES[Source(entry.source)].describe(kind, request).label == entry.expected["kind"]


@corpus.parametrize(corpus.entries("github", "gitea"))
def test_an_issue_is_projected_exactly_for_issues_events(entry: CorpusEntry) -> None:
    issue = envelope_of(entry).value["issue"]
    expected = entry.expected
    if expected["event"] != "issues":
        assert issue is None
        return

    assert isinstance(issue, dict)
    names = ("repo", "number", "author", "sender", "labels")
    assert {name: issue[name] for name in names} == {name: expected[name] for name in names}
    assert issue["url"] == expected["html_url"]
    assert issue["action"] == expected["kind"].partition(".")[2]
    assert issue["key"] == f"{entry.source}:{expected['repo']}#{expected['number']}"
    assert issue["event_type"] == (expected.get("event_type") or "issues")
    assert issue["label_event"] is (issue["action"] in {"labeled", "unlabeled", "label_updated"})


@corpus.parametrize(corpus.entries("github", "gitea"))
def test_a_forges_title_names_place_and_sender(entry: CorpusEntry) -> None:
    request = SignedDelivery(body=entry.body, headers=entry.headers, at=NOW).request()

    title = SOURCES[Source(entry.source)].describe(entry.expected["event"], request).title

    number = entry.expected["number"]
    place = entry.expected["repo"] or entry.source
    assert title.startswith(f"{place}#{number} " if number else f"{place} ")
    assert f" by {entry.expected['sender']}" in title


@corpus.parametrize(corpus.entries("cairn"))
def test_an_artifact_is_projected_from_every_cairn_event(entry: CorpusEntry) -> None:
    value = envelope_of(entry).value
    artifact, expected = value["artifact"], entry.expected

    assert isinstance(artifact, dict)
    assert value["kind"] == artifact["kind"] == expected["kind"]
    assert artifact["event_id"] == entry.headers["X-Cairn-Event-Id"]
    assert artifact["handle"] == f"mcp://cairn/{expected['artifact']}"
    assert (artifact["actor_id"], artifact["tags"]) == (expected["author"], expected["tags"])
    assert value["issue"] is None


@corpus.parametrize(corpus.entries("slack", "stripe"))
def test_slack_and_stripe_have_a_label_and_no_kind(entry: CorpusEntry) -> None:
    request = SignedDelivery(body=entry.body, headers=entry.headers, at=NOW).request()

    assert envelope_of(entry).value["kind"] is None
    assert SOURCES[Source(entry.source)].describe(None, request).label == entry.expected["kind"]


@corpus.parametrize(corpus.entries())
def test_jq_reads_every_envelope(entry: CorpusEntry) -> None:
    source = Source.GENERIC if entry.source == "edge" else Source(entry.source)
    envelope = envelope_of(entry, source)

    assert json.loads(envelope.text)["payload"] == envelope.value["payload"]
    assert jq.compile(".size").input_text(envelope.text).first() == len(entry.body)


@corpus.parametrize(corpus.entries("github", "gitea", "slack", "stripe", "edge"))
def test_an_entry_signed_again_verifies_now(entry: CorpusEntry) -> None:
    source = Source.STRIPE if entry.source == "edge" else Source(entry.source)
    delivery = corpus.resign(entry, NOW, source=source)

    SOURCES[source].verify(delivery.request(), secrets=[corpus.secret_of(source)], tolerance=timedelta(seconds=300))
