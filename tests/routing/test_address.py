"""A reply address: derived from the verified body alone, exactly, or not at all (SPEC-0028 REQ-1)."""

import json
from typing import Any

import pytest

from routing.address import DERIVATIONS, derive_address
from routing.document import UNPARSED, parse_document
from switchboard.reply_address import CairnComment, ForgeComment, Provider, ReplyAddress, SlackThread
from switchboard.source_types import Source
from tests import corpus
from tests.corpus import CorpusEntry
from tests.deliveries import github_issue

ANSWERABLE = [Source.GITHUB, Source.GITEA, Source.SLACK, Source.CAIRN]
FORGE_EVENTS = {
    "issues",
    "issue_comment",
    "pull_request",
    "pull_request_review",
    "pull_request_review_comment",
    "pull_request_approved",
    "pull_request_rejected",
    "pull_request_comment",
}


def derive(source: Source, body: object) -> ReplyAddress | None:
    return derive_address(source, parse_document(json.dumps(body).encode(), content_type="application/json"))


def entry_address(entry: CorpusEntry) -> ReplyAddress | None:
    source = Source(entry.source)
    return derive_address(source, parse_document(entry.body, content_type="application/json"))


def test_every_source_says_whether_it_can_be_answered() -> None:
    assert DERIVATIONS.keys() == set(Source)
    assert [source for source in Source if DERIVATIONS[source]] == ANSWERABLE


@pytest.mark.corpus
@corpus.parametrize(corpus.entries("github", "gitea"))
def test_a_forges_supported_events_have_an_address_and_no_other(entry: CorpusEntry) -> None:
    expected = entry.expected
    host = {"github": "github.com", "gitea": "git.example.com"}[entry.source]
    address = ForgeComment(Provider(entry.source), host, expected["repo"], expected["number"] or 0)

    assert entry_address(entry) == (address if expected["event"] in FORGE_EVENTS else None)


@pytest.mark.corpus
@corpus.parametrize(corpus.entries("slack"))
def test_slacks_messages_have_an_address_and_no_other_event(entry: CorpusEntry) -> None:
    body = json.loads(entry.body)
    event = body.get("event", {})
    expected = None
    if "channel" in event:
        expected = SlackThread(body["team_id"], event["channel"], event.get("thread_ts") or event["ts"])

    assert entry_address(entry) == expected


@pytest.mark.corpus
@corpus.parametrize(corpus.entries("cairn"))
def test_cairns_artifact_events_have_an_address_and_no_other(entry: CorpusEntry) -> None:
    expected = CairnComment("https://cairn.example.com", entry.expected["artifact"])

    assert entry_address(entry) == (expected if entry.expected["kind"].startswith("artifact.") else None)


@pytest.mark.corpus
@corpus.parametrize(corpus.entries("stripe", "generic"))
def test_stripe_and_generic_have_none(entry: CorpusEntry) -> None:
    assert entry_address(entry) is None


@pytest.mark.corpus
@corpus.parametrize(corpus.entries("edge"))
@pytest.mark.parametrize("source", Source)
def test_a_hostile_body_has_no_address_and_breaks_nothing(entry: CorpusEntry, source: Source) -> None:
    assert derive_address(source, parse_document(entry.body, content_type="application/json")) is None


@pytest.mark.parametrize("source", Source)
@pytest.mark.parametrize("value", [None, [], "text", 7, {}, {"issue": 7}, {"event": []}, {"data": "x"}])
def test_a_body_of_another_shape_has_no_address(source: Source, value: Any) -> None:
    assert derive(source, value) is None


@pytest.mark.parametrize("source", Source)
def test_a_body_that_does_not_parse_has_no_address(source: Source) -> None:
    assert derive_address(source, UNPARSED) is None


def test_generic_webhook_carrying_a_forge_payload() -> None:
    request = github_issue().request()

    assert derive_address(Source.GITHUB, request.document) is not None
    assert derive_address(Source.GENERIC, request.document) is None
