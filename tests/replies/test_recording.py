"""What is kept of a reply, who sees it, and what never shows (SPEC-0028 REQ-9, REQ-13)."""

import hashlib
import io
import json
import logging
from pathlib import Path
from typing import Any

import pytest

from connections.manage import delete_connection
from replies import submit
from replies.dial import Patience
from replies.models import Reply
from switchboard.accounts.reach import Principal
from tests.api.caller import Caller, make_caller
from tests.factories import make_human
from tests.mcp_bridge.agents import Agent
from tests.replies.conftest import OpenConversation
from tests.replies.stage import SECRET, Conversation, answering
from tests.stand_in import Behaviour, Fault, Respond

ANSWER_TEXT = "planted-answer-of-the-provider"
SAID = "planted-text-of-the-agent"


def test_a_reply_row_carries_all_that_the_specification_asks_for(converse: OpenConversation) -> None:
    conversation = converse(connection={"name": "our forge"})
    conversation.reply("Done.", idempotency_key="done-1")
    row = conversation.row

    assert (row.todo, row.endpoint, row.connection) == (
        conversation.todo,
        conversation.endpoint,
        conversation.connection,
    )
    assert (row.connection_name, row.connection_fingerprint) == ("our forge", conversation.connection.fingerprint)
    assert (row.owner_human, row.owner_team) == (conversation.human, None)
    assert (row.address_kind, row.display) == ("forge_comment", "gitea acme/widgets#7")
    assert (row.idempotency_key, row.text) == ("done-1", "Done.")
    assert row.text_sha256 == hashlib.sha256(b"Done.").hexdigest()
    assert (row.state, row.error_class, row.error_code) == ("sent", "", "")
    assert (row.provider, row.account, row.object_id) == ("gitea", conversation.place.address.account, "99001")
    assert row.permalink.endswith("#issuecomment-99001")
    assert row.taken_at is not None
    assert row.finished_at is not None
    assert row.created_at < row.taken_at < row.finished_at


def test_the_row_is_committed_before_anything_is_dialled(conversation: Conversation, monkeypatch: Any) -> None:
    seen: list[str] = []
    monkeypatch.setattr(submit, "dispatch", lambda reply_id: seen.append(Reply.objects.get(pk=reply_id).state))

    conversation.submit()

    assert seen == ["pending"]
    assert conversation.posts == []


@pytest.mark.django_db(transaction=True)
def test_a_caller_may_not_hold_a_transaction_open_around_a_dial(conversation: Conversation) -> None:
    from django.db import transaction

    with pytest.raises(RuntimeError, match="durable"), transaction.atomic():
        conversation.submit()


def test_a_reply_outlives_its_connection(conversation: Conversation) -> None:
    conversation.reply()
    delete_connection(
        principal=Principal.of_human(conversation.human),
        acting=conversation.human,
        connection_id=str(conversation.connection.pk),
    )
    row = conversation.row

    assert row.connection is None
    assert (row.connection_name, row.connection_fingerprint) == (
        conversation.connection.name,
        conversation.connection.fingerprint,
    )


def test_a_connection_that_is_deleted_before_the_dial_fails_the_reply(
    conversation: Conversation, monkeypatch: Any
) -> None:
    from replies.dial import dial_reply

    with monkeypatch.context() as patched:
        patched.setattr(submit, "dispatch", lambda reply_id: None)
        reply = conversation.submit().reply
    conversation.connection.delete()
    dial_reply(reply.pk)

    assert (conversation.row.state, conversation.row.error_code) == ("failed", "connection_deleted")
    assert conversation.server.connections == 0


def test_replies_are_deleted_with_their_todo(conversation: Conversation) -> None:
    conversation.reply()
    conversation.todo.delete()

    assert not Reply.objects.exists()


def test_drawer_shows_replies(conversation: Conversation) -> None:
    conversation.reply("one")
    conversation.server.next(answering({}, status=403))
    conversation.reply("two")
    caller = caller_of(conversation)

    newest, oldest = caller.get(f"/todos/{conversation.todo.pk}/replies")["replies"]
    shown = caller.get(f"/todos/{conversation.todo.pk}")["replies"]

    assert (oldest["text"], oldest["state"], oldest["class"]) == ("one", "sent", None)
    assert (newest["text"], newest["state"], newest["class"], newest["code"]) == (
        "two",
        "failed",
        "forbidden",
        "http_403",
    )
    assert oldest["permalink"].startswith("https://")
    assert oldest["display"] == "gitea acme/widgets#7"
    assert oldest["created_at"]
    assert SECRET not in json.dumps([newest, oldest])
    assert shown == {"count": 2, "last_state": "failed", "last_permalink": None}


def test_a_connections_replies_are_listed_for_its_owner_alone(conversation: Conversation) -> None:
    conversation.reply()
    path = f"/connections/{conversation.connection.pk}/replies"
    stranger = make_caller("stranger")

    [row] = caller_of(conversation).get(path)["replies"]
    absent = stranger.call("GET", "/connections/00000000-0000-7000-8000-000000000000/replies")

    assert row["reply_id"] == str(conversation.row.pk)
    assert stranger.call("GET", path).content == absent.content
    assert stranger.call("GET", f"/todos/{conversation.todo.pk}/replies").status_code == 404


def test_replies_are_within_reach_of_their_owner_alone(conversation: Conversation) -> None:
    from tests.factories import make_endpoint

    conversation.reply()
    colleague = make_endpoint(conversation.human, name="other").endpoint
    reach = {
        "owner": Principal.of_human(conversation.human),
        "stranger": Principal.of_human(make_human("stranger")),
        "agent": Principal.of_endpoint(conversation.endpoint),
        "another agent": Principal.of_endpoint(colleague),
    }

    seen = {who: Reply.objects.within_reach(principal).count() for who, principal in reach.items()}

    assert seen == {"owner": 1, "stranger": 0, "agent": 1, "another agent": 0}


def test_provider_adapter_failure_is_structured(conversation: Conversation, caplog: pytest.LogCaptureFixture) -> None:
    conversation.server.next(answering({"message": ANSWER_TEXT}, status=401))

    result = conversation.reply(SAID)
    [line] = [record.msg for record in caplog.records if "reply.failed" in str(record.msg)]

    assert (conversation.row.state, conversation.row.error_class) == ("failed", "auth")
    assert result["class"] == "auth"
    assert ANSWER_TEXT not in json.dumps(result)
    assert isinstance(line, dict)
    assert line["reply_id"] == str(conversation.row.pk)
    assert line["todo_id"] == str(conversation.todo.pk)
    assert line["endpoint"] == conversation.endpoint.slug
    assert line["connection_id"] == str(conversation.connection.pk)
    assert (line["provider"], line["error_class"], line["error_code"]) == ("gitea", "auth", "http_401")


def test_a_fault_of_our_own_is_recorded_and_never_quoted(
    conversation: Conversation, monkeypatch: Any, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise ValueError(f"{SECRET} {SAID}")

    monkeypatch.setattr("replies.dial.perform", broken)
    result = conversation.reply(SAID)

    assert (result["state"], result["class"], result["code"]) == ("unknown", "server", "internal_error")
    assert conversation.row.state == "unknown"
    assert SECRET not in caplog.text
    assert SAID not in caplog.text


BEHAVIOURS: list[Behaviour] = [
    Respond(201, body=b'{"id": 5}'),
    answering({"message": ANSWER_TEXT, "echo": SECRET}, status=401),
    answering({"message": ANSWER_TEXT, "error": SECRET}, status=500),
    answering({"html_url": f"https://x/{SECRET}", "user": {"login": ANSWER_TEXT}}, status=201),
    answering({"error": ANSWER_TEXT}, status=429, retry_after=ANSWER_TEXT),
    Respond(302, {"Location": f"https://{ANSWER_TEXT}.example/{SECRET}"}),
    Fault.HANG,
    Fault.RESET,
    Fault.RUBBISH,
    Fault.HALF_HEADER,
]


def test_a_planted_secret_shows_nowhere(
    conversation: Conversation, quick: Patience, monkeypatch: Any, settings: Any
) -> None:
    """Every kind of ending, under DEBUG logging: the log, the rows, both surfaces and the command line stay clean."""
    settings.DEBUG = True
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    root = logging.getLogger()
    root.addHandler(handler)
    monkeypatch.setattr(root, "level", logging.DEBUG)
    agent, caller = Agent(conversation.vended), caller_of(conversation)
    monkeypatch.setattr("replies.limits.take", lambda *_, **__: None)
    from connections.models import Connection

    answers = []
    for number, behaviour in enumerate(BEHAVIOURS):
        Connection.objects.update(throttled_until=None)
        conversation.server.next(*[behaviour] * 1)
        result = agent.call("reply", todo_id=str(conversation.todo.pk), text=f"{SAID} {number}")
        answers.append(json.dumps(result.text))
    root.removeHandler(handler)
    shown = [
        caller.call("GET", f"/todos/{conversation.todo.pk}/replies").content.decode(),
        caller.call("GET", f"/connections/{conversation.connection.pk}/replies").content.decode(),
        caller.call("GET", f"/connections/{conversation.connection.pk}").content.decode(),
        caller.call("GET", f"/todos/{conversation.todo.pk}").content.decode(),
    ]
    rows = json.dumps(list(Reply.objects.values()), default=str)

    log = written.getvalue()
    assert conversation.rows == len(BEHAVIOURS)
    assert "reply.sent" in log
    assert "reply.unknown" in log
    assert not [place for place in (log, rows, *answers, *shown, command_lines()) if SECRET in place]
    assert not [place for place in (log, rows, *answers, *shown) if ANSWER_TEXT in place]
    assert not [place for place in (log, *answers) if SAID in place]


def command_lines() -> str:
    """The command lines of all processes, without those that have ended meanwhile."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.append(path.read_bytes().decode(errors="replace"))
        except OSError:
            continue
    return "\n".join(found)


def caller_of(conversation: Conversation) -> Caller:
    return make_caller(conversation.human.username, human=conversation.human)
