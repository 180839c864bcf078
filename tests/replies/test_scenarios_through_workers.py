"""The scenarios of posting, both ways: dialled in the agent's own process, and by a Celery dialler on Redis."""

import json
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from replies.dial import Patience
from replies.models import Reply
from switchboard.todos import lifecycle
from tests.mcp_bridge.agents import Agent
from tests.replies.both_ways import Dialler
from tests.replies.both_ways import broker_url as broker_url  # noqa: PLC0414 - the fixtures
from tests.replies.both_ways import dialler as dialler  # noqa: PLC0414
from tests.replies.both_ways import provider as provider  # noqa: PLC0414
from tests.replies.conftest import OpenConversation
from tests.replies.stage import SECRET, Conversation, answering
from tests.stand_in import Fault, redirect, stand_in

pytestmark = pytest.mark.django_db(transaction=True)
SAID = "planted-text-of-the-agent"
ANSWERED = "planted-text-of-the-provider"
GITHUB_TOKEN = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"


def test_reply_while_holding_the_claim(conversation: Conversation) -> None:
    result = reply(conversation, "Picked this up.")

    assert conversation.posts == ["Picked this up."]
    assert (result["state"], result["display"]) == ("sent", "gitea acme/widgets#7")
    assert result["permalink"].endswith("/acme/widgets/issues/7#issuecomment-99001")
    assert conversation.row.object_id == "99001"


def test_outcome_after_complete(conversation: Conversation) -> None:
    complete(conversation, minutes_ago=3)

    assert reply(conversation, "Done.")["state"] == "sent"
    assert conversation.posts == ["Done."]


def test_window_closed(conversation: Conversation) -> None:
    complete(conversation, minutes_ago=20)

    assert refusal(conversation, "Done.")["code"] == "reply_window_closed"


def test_slack_returns_ok_false(converse: OpenConversation) -> None:
    conversation = converse(provider="slack")
    conversation.server.next(answering({"ok": False, "error": "not_in_channel"}))

    assert outcome(reply(conversation)) == ("failed", "forbidden", "not_in_channel")
    assert conversation.row.error_code == "not_in_channel"


def test_private_gitea_not_allowlisted(converse: OpenConversation) -> None:
    with stand_in(address="127.0.0.2") as unlisted:
        address = {"kind": "forge_comment", "provider": "gitea", "repo": "acme/widgets", "number": 7}
        conversation = converse(
            connection={"account_key": unlisted.url}, reply_to={**address, "host": f"127.0.0.2:{unlisted.port}"}
        )

        assert outcome(reply(conversation)) == ("failed", "network", "private_address")
        assert unlisted.connections == conversation.server.connections == 0


def test_redirect(conversation: Conversation) -> None:
    conversation.server.next(redirect(f"{conversation.server.url_for('localhost')}/elsewhere"))

    assert outcome(reply(conversation)) == ("failed", "invalid", "http_302")
    assert [seen.path for seen in conversation.server.requests] == [conversation.place.path]


def test_retried_tool_call(conversation: Conversation) -> None:
    first = reply(conversation, "Done.", idempotency_key="done-1")
    second = reply(conversation, "Done.", idempotency_key="done-1")

    assert conversation.posts == ["Done."]
    assert (second["state"], second["duplicate"], second["reply_id"]) == ("sent", True, first["reply_id"])


def test_timeout_after_write(conversation: Conversation, quick: Patience) -> None:
    """The dialler has the patience of production: ten seconds."""
    conversation.server.next(Fault.HANG)

    assert outcome(reply(conversation)) == ("unknown", "network", "answer_timeout")
    assert outcome(reply(conversation)) == ("unknown", "network", "answer_timeout")
    assert conversation.row.state == "unknown"
    assert len(conversation.server.requests) == 1


def test_looping_agent(conversation: Conversation) -> None:
    reply(conversation, "first")
    first = conversation.row
    for number in range(19):
        first.pk, first.idempotency_key = uuid4(), f"earlier-{number}"
        first.save(force_insert=True)

    refused = refusal(conversation, "the 21st")

    assert (refused["code"], refused["retry_after"] > 0) == ("rate_limited", True)
    assert conversation.posts == ["first"]


def test_provider_throttles(converse: OpenConversation) -> None:
    conversation = converse(provider="slack")
    other = converse(human=conversation.human)
    conversation.server.next(answering({"ok": False, "error": "ratelimited"}, status=429, retry_after="20"))

    assert outcome(reply(conversation, "one"))[:2] == ("failed", "rate_limited")
    refused = Agent(conversation.vended).call("reply", todo_id=str(conversation.todo.pk), text="two")

    assert refused.code == "rate_limited"
    assert 15 <= refused.text["error"]["retry_after"] <= 20
    assert conversation.rows == 1
    assert reply(other)["state"] == "sent"


def test_a_token_in_the_reply(conversation: Conversation) -> None:
    error = refusal(conversation, f"The token is {GITHUB_TOKEN}, use it.")

    assert (error["code"], error["rule"]) == ("secret_detected", "betterleaks.github-pat")
    assert GITHUB_TOKEN not in json.dumps(error)


def test_provider_adapter_failure_is_structured(
    conversation: Conversation, request: pytest.FixtureRequest, broker_url: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    conversation.server.next(answering({"message": ANSWERED}, status=401))

    result = reply(conversation, SAID)
    log: Dialler | None = request.getfixturevalue("dialler") if broker_url else None
    logged = log.log_path.read_text() if log else caplog.text
    [line] = [line for line in logged.splitlines() if "reply.failed" in line and result["reply_id"] in line]

    assert (conversation.row.state, conversation.row.error_class) == ("failed", "auth")
    assert result["class"] == "auth"
    for told in (conversation.todo.pk, conversation.connection.pk, conversation.endpoint.slug, "http_401", "auth"):
        assert str(told) in line
    assert ANSWERED not in json.dumps(result)
    for planted in (SECRET, SAID, ANSWERED):
        assert planted not in logged


def reply(conversation: Conversation, text: str = "Done.", **arguments: Any) -> dict[str, Any]:
    """Reply over MCP and return the result, which must not be an error."""
    return Agent(conversation.vended).get("reply", todo_id=str(conversation.todo.pk), text=text, **arguments)


def refusal(conversation: Conversation, text: str) -> dict[str, Any]:
    """Return the error of a reply that must be refused, and leave neither a row nor a request."""
    before = Reply.objects.count(), conversation.server.connections
    result = Agent(conversation.vended).call("reply", todo_id=str(conversation.todo.pk), text=text)
    assert result.failed
    assert (Reply.objects.count(), conversation.server.connections) == before
    return dict(result.text["error"])


def outcome(result: dict[str, Any]) -> tuple[str, str | None, str | None]:
    return result["state"], result.get("class"), result.get("code")


def complete(conversation: Conversation, *, minutes_ago: int) -> None:
    done_at = timezone.now() - timedelta(minutes=minutes_ago)
    lifecycle.complete(endpoint=conversation.endpoint, todo_id=str(conversation.todo.pk), now=done_at)
