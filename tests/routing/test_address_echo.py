"""What tells our own reply when it comes back: one id, however the provider spells it."""

import json
from typing import Any

import pytest

from routing.address.echo import account_of, author_of, object_id_of, slack_bot_id_of, text_of
from routing.document import Document, parse_document
from switchboard.source_types import Source
from tests import corpus
from tests.corpus import CorpusEntry

FORGES = pytest.mark.parametrize("source", [Source.GITHUB, Source.GITEA])


def document(value: object) -> Document:
    return parse_document(json.dumps(value).encode(), content_type=None)


def issue_comment(identifier: object, *, action: str = "created", **more: Any) -> Document:
    comment = {"id": identifier, "user": {"login": "acme-bot"}, "body": "Picked this up."}
    place = {"full_name": "acme/widgets", "html_url": "https://GitHub.com/acme/widgets"}
    return document({"action": action, "issue": {"number": 7}, "comment": comment, "repository": place, **more})


def message(**event: object) -> Document:
    inner = {"type": "message", "channel": "C0123", "ts": "1726990000.000100", **event}
    return document({"type": "event_callback", "team_id": "T0123", "event": inner})


@FORGES
@pytest.mark.parametrize("identifier", [99001, "99001", "0099001"])
@pytest.mark.parametrize("action", ["created", "edited", "deleted"])
def test_a_forges_comment_has_one_id_as_number_and_as_text(source: Source, identifier: object, action: str) -> None:
    assert object_id_of(source, issue_comment(identifier, action=action)) == "99001"


def test_a_comment_on_giteas_pull_request_has_its_id() -> None:
    assert object_id_of(Source.GITEA, issue_comment(78, pull_request={"number": 7})) == "78"


@FORGES
@pytest.mark.parametrize(
    "identifier", [True, 0, -1, 1.0, "1.0", "-1", " 1", "\u0661", "", None, [1], 10**19, "1" * 5000]
)
def test_a_comment_without_a_usable_id_has_none(source: Source, identifier: object) -> None:
    assert object_id_of(source, issue_comment(identifier)) is None


def test_a_comment_in_the_code_never_has_the_id_of_one_in_the_conversation() -> None:
    review_comment = document({"pull_request": {"number": 7}, "comment": {"id": 99001}})
    commit_comment = document({"comment": {"id": 99001}})

    assert object_id_of(Source.GITHUB, review_comment) == "review_comment:99001"
    assert object_id_of(Source.GITHUB, commit_comment) is None


@pytest.mark.parametrize(
    "event",
    [
        {},
        {"type": "app_mention"},
        {"thread_ts": "1726980000.000200"},
        {"subtype": "bot_message"},
        {"subtype": "message_changed", "ts": "1726999999.000900", "message": {"ts": "1726990000.000100"}},
        {"subtype": "message_deleted", "ts": "1726999999.000900", "deleted_ts": "1726990000.000100"},
    ],
)
def test_a_slack_message_is_its_time_within_its_channel(event: dict[str, object]) -> None:
    assert object_id_of(Source.SLACK, message(**event)) == "C0123:1726990000.000100"


@pytest.mark.parametrize(
    "event",
    [
        {"ts": 1726990000.0001},
        {"channel": "general"},
        {"type": "reaction_added"},
        {"subtype": "message_changed"},
        {"subtype": "message_changed", "message": "x"},
        {"type": ["message"]},
    ],
)
def test_what_is_no_slack_message_has_no_id(event: dict[str, object]) -> None:
    assert object_id_of(Source.SLACK, message(**event)) is None


def test_a_cairn_comment_has_its_id_its_author_and_its_text() -> None:
    comment = {"id": 512, "body": "Agreed."}
    data = {"id": "4kQ9zTbX", "url": "https://cairn.example.com/4kQ9zTbX", "actor_id": "agent@example.com"}
    created = document({"kind": "comment.created", "data": {**data, "comment": comment}})
    artifact = document({"kind": "artifact.created", "data": data})

    assert object_id_of(Source.CAIRN, created) == "512"
    assert (author_of(Source.CAIRN, created), text_of(Source.CAIRN, created)) == ("agent@example.com", "Agreed.")
    assert account_of(Source.CAIRN, created) == "https://cairn.example.com"
    assert object_id_of(Source.CAIRN, artifact) is None
    assert (author_of(Source.CAIRN, artifact), text_of(Source.CAIRN, artifact)) == (None, None)


@FORGES
def test_a_forges_comment_has_its_author_its_text_and_its_host(source: Source) -> None:
    comment = issue_comment(99001)

    assert (author_of(source, comment), text_of(source, comment)) == ("acme-bot", "Picked this up.")
    assert account_of(source, comment) == "github.com"


@FORGES
def test_an_issue_has_no_comments_text(source: Source) -> None:
    issue = document({"issue": {"number": 7, "body": "It crashes."}})

    assert text_of(source, issue) is None


def test_a_slack_message_has_its_author_its_text_and_its_team() -> None:
    said = message(user="U0123", text="a &lt;b&gt; &amp;amp; c")

    assert (author_of(Source.SLACK, said), text_of(Source.SLACK, said)) == ("U0123", "a <b> &amp; c")
    assert account_of(Source.SLACK, said) == "T0123"


@pytest.mark.parametrize("event", [{"bot_id": "B0123"}, {"message": {"bot_id": "B0123"}}])
def test_a_bots_message_and_its_edit_name_the_bot(event: dict[str, object]) -> None:
    assert slack_bot_id_of(message(**event)) == "B0123"


@pytest.mark.parametrize(
    "event", [{}, {"bot_id": None}, {"bot_id": "b"}, {"bot_id": 7}, {"bot_profile": {"id": "B0123"}}]
)
def test_a_humans_message_names_no_bot(event: dict[str, object]) -> None:
    assert slack_bot_id_of(message(**event)) is None


@pytest.mark.parametrize("source", Source)
@pytest.mark.parametrize(
    "value", [None, [], "x", 7, {}, {"event": 7, "comment": [], "issue": 1, "data": {"comment": 7}}]
)
def test_any_other_body_has_none_of_these(source: Source, value: object) -> None:
    body = document(value)

    assert object_id_of(source, body) is None
    assert (account_of(source, body), author_of(source, body), text_of(source, body)) == (None, None, None)
    assert slack_bot_id_of(body) is None


@pytest.mark.corpus
@corpus.parametrize(corpus.entries("github", "gitea", "cairn"))
def test_the_corpus_comments_have_the_expected_ids(entry: CorpusEntry) -> None:
    expected = entry.expected["comment_id"] if entry.expected["event"] != "commit_comment" else None
    prefix = "review_comment:" if entry.expected["event"] == "pull_request_review_comment" else ""

    found = object_id_of(Source(entry.source), parse_document(entry.body, content_type=None))

    assert found == (f"{prefix}{expected}" if expected else None)


@pytest.mark.corpus
@corpus.parametrize(corpus.entries("slack"))
def test_the_corpus_messages_have_the_expected_ids_and_bots(entry: CorpusEntry) -> None:
    expected, body = entry.expected, parse_document(entry.body, content_type=None)
    is_message = expected["kind"] in {"message", "app_mention"}

    assert object_id_of(Source.SLACK, body) == (f"{expected['channel']}:{expected['ts']}" if is_message else None)
    assert slack_bot_id_of(body) == expected.get("bot_id")
