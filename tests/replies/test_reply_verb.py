"""Who may reply, when, and what every refusal leaves behind: nothing (SPEC-0028 REQ-6, REQ-5)."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from connections.models import Connection
from replies import submit
from replies.models import Reply
from switchboard.accounts.models import Human
from switchboard.errors import (
    InvalidArgument,
    NoConnection,
    NoReplyAddress,
    NotClaimed,
    NotFound,
    ReplyWindowClosed,
    SwitchboardError,
    TargetNotAllowed,
)
from switchboard.ids import new_id
from switchboard.todos import lifecycle
from tests.factories import make_connection, make_endpoint, make_event, make_human, make_todo
from tests.mcp_bridge.agents import Agent, make_agent
from tests.replies.conftest import OpenConversation
from tests.replies.stage import Conversation, make_claimed_todo


def refused(conversation: Conversation, error: type[SwitchboardError], **options: Any) -> SwitchboardError:
    with pytest.raises(error) as caught:
        conversation.submit(**options)
    assert not Reply.objects.exists()
    assert not conversation.server.connections
    return caught.value


def test_reply_while_holding_the_claim(conversation: Conversation) -> None:
    result = conversation.reply("Picked this up.")

    assert conversation.posts == ["Picked this up."]
    assert result == {
        "reply_id": str(conversation.row.pk),
        "state": "sent",
        "duplicate": False,
        "display": "gitea acme/widgets#7",
        "permalink": f"https://localhost:{conversation.server.port}/acme/widgets/issues/7#issuecomment-99001",
        "message": "Posted.",
    }


def test_outcome_after_complete(conversation: Conversation) -> None:
    done_at = timezone.now()
    lifecycle.complete(endpoint=conversation.endpoint, todo_id=str(conversation.todo.pk), now=done_at)

    assert conversation.reply(now=done_at + timedelta(minutes=3))["state"] == "sent"


def test_window_closed(conversation: Conversation) -> None:
    done_at = timezone.now()
    lifecycle.complete(endpoint=conversation.endpoint, todo_id=str(conversation.todo.pk), now=done_at)

    refused(conversation, ReplyWindowClosed, now=done_at + timedelta(minutes=20))


def test_the_window_is_as_long_as_the_operator_says(conversation: Conversation, settings: Any) -> None:
    settings.SWITCHBOARD_REPLY_GRACE_SECONDS = 60
    done_at = timezone.now()
    lifecycle.fail(endpoint=conversation.endpoint, todo_id=str(conversation.todo.pk), now=done_at)

    refused(conversation, ReplyWindowClosed, now=done_at + timedelta(seconds=61))
    assert conversation.reply(now=done_at + timedelta(seconds=60))["state"] == "sent"


def test_a_todo_that_an_operator_closed_cannot_be_answered(conversation: Conversation) -> None:
    from switchboard.accounts.reach import Principal

    principal = Principal.of_human(conversation.human)
    lifecycle.complete_todo(principal=principal, todo_id=str(conversation.todo.pk))

    refused(conversation, ReplyWindowClosed)


def test_another_endpoints_todo(conversation: Conversation) -> None:
    other = make_endpoint(conversation.human, name="other", verbs="all").endpoint

    refused(conversation, NotFound, endpoint=other)


@pytest.mark.parametrize("todo_id", ["", "x", "00000000-0000-7000-8000-000000000000"])
def test_an_unknown_todo_is_not_found(conversation: Conversation, todo_id: str) -> None:
    refused(conversation, NotFound, todo_id=todo_id)


def test_verb_not_granted(db: None) -> None:
    agent = make_agent(verbs="basics")

    assert agent.call("reply", todo_id=str(new_id()), text="x").code == "forbidden"
    assert "reply" not in [tool["name"] for tool in agent.request("tools/list")["result"]["tools"]]


def test_a_todo_without_an_address_cannot_be_answered(converse: OpenConversation) -> None:
    refused(converse(reply_to=None), NoReplyAddress)


def test_a_pending_todo_is_not_claimed(converse: OpenConversation) -> None:
    refused(converse(state="pending", lease_expires_at=None), NotClaimed)


@pytest.mark.parametrize("attempt", [1, 5])
def test_a_lapsed_lease_cannot_reply(converse: OpenConversation, attempt: int) -> None:
    refused(converse(lease_expires_at=timezone.now() - timedelta(seconds=1), attempt=attempt), NotClaimed)


def test_a_todo_that_failed_for_want_of_a_heartbeat_cannot_be_answered(converse: OpenConversation) -> None:
    conversation = converse(lease_expires_at=timezone.now() - timedelta(seconds=1), attempt=5)
    lifecycle.reap()

    refused(conversation, ReplyWindowClosed)


@pytest.mark.parametrize("key", ["", "a" * 129, "naïve", "tab\t", "line\n", "\x7f"])
def test_a_key_is_printable_ascii_of_at_most_128_bytes(conversation: Conversation, key: str) -> None:
    assert refused(conversation, InvalidArgument, idempotency_key=key).extra == {"field": "idempotency_key"}


def test_a_key_of_128_bytes_is_taken(conversation: Conversation) -> None:
    assert conversation.reply(idempotency_key="~" * 127 + " ")["state"] == "sent"


def test_refusals_come_in_the_order_of_the_specification(converse: OpenConversation) -> None:
    conversation = converse(state="pending", lease_expires_at=None, reply_to=None)
    hopeless = {"text": "", "idempotency_key": ""}
    Connection.objects.all().delete()

    refused(conversation, NotFound, todo_id="x", **hopeless)
    refused(conversation, NoReplyAddress, **hopeless)
    pending = make_todo(conversation.endpoint, reply_to=conversation.place.address.as_json())
    refused(conversation, NotClaimed, todo_id=str(pending.pk), **hopeless)
    held = make_claimed_todo(conversation.endpoint, conversation.place)
    refused(conversation, InvalidArgument, todo_id=str(held.pk), **hopeless)
    refused(conversation, NoConnection, todo_id=str(held.pk), text="")
    make_connection(
        conversation.human,
        kind="gitea",
        account_key=conversation.place.account_key,
        targets=["acme/*"],
    )
    refused(conversation, InvalidArgument, todo_id=str(held.pk), text="")


def test_cross_owner_fan_out(converse: OpenConversation) -> None:
    of_a = converse()
    friend = make_human("b")
    of_b = make_endpoint(friend, verbs="all").endpoint
    todo = make_claimed_todo(of_b, of_a.place)

    refused(of_a, NoConnection, endpoint=of_b, todo_id=str(todo.pk))


def test_each_owner_answers_a_fan_out_with_a_connection_of_its_own(converse: OpenConversation) -> None:
    of_a, of_b = converse(), converse(human=make_human("b"), connection={"secret": "b-s-own-credential"})

    of_a.reply()
    of_b.reply()

    sent = [seen.headers["authorization"] for seen in of_a.server.requests]
    assert sent == ["token planted-credential-9f8e7d6c5b4a", "token b-s-own-credential"]
    assert of_b.row.connection == of_b.connection


def test_host_mismatch(converse: OpenConversation) -> None:
    address = {"kind": "forge_comment", "provider": "gitea", "host": "git.attacker.example", "repo": "a/b", "number": 1}

    refused(converse(reply_to=address), NoConnection)


def test_allowlist_refuses(converse: OpenConversation) -> None:
    refused(converse(connection={"targets": ["other/*"]}), TargetNotAllowed)


def test_an_endpoints_allowlist_refuses_the_others(converse: OpenConversation) -> None:
    human = make_human()
    other = make_endpoint(human, name="other").endpoint

    refused(converse(human=human, connection={"endpoints": [str(other.pk)]}), TargetNotAllowed)


def test_a_cairn_allowlist_asks_for_the_tags_of_the_todo(converse: OpenConversation) -> None:
    listed = {"targets": ["handoff"]}
    conversation = converse(provider="cairn", connection=listed, reply_tags=["handoff", "x"])
    assert conversation.reply()["state"] == "sent"
    other = make_claimed_todo(conversation.endpoint, conversation.place, reply_tags=["x"])

    with pytest.raises(TargetNotAllowed):
        conversation.submit(todo_id=str(other.pk))


@pytest.mark.parametrize("given", [{"url": "https://x"}, {"address": {}}, {"connection": "x"}, {"provider": "x"}])
def test_the_verb_takes_no_place_to_post_to(conversation: Conversation, given: dict[str, Any]) -> None:
    answer = Agent(conversation.vended).call("reply", todo_id=str(conversation.todo.pk), text="x", **given)

    assert answer.code == "invalid_argument"
    assert not conversation.server.connections


@pytest.mark.parametrize("given", [{"text": 5}, {"text": None}, {"text": "x", "idempotency_key": 7}])
def test_arguments_that_are_no_texts_are_refused(conversation: Conversation, given: dict[str, Any]) -> None:
    assert Agent(conversation.vended).call("reply", todo_id=str(conversation.todo.pk), **given).code == (
        "invalid_argument"
    )


def test_an_agent_replies_over_mcp_and_sees_it_on_the_todo(conversation: Conversation) -> None:
    agent = Agent(conversation.vended)
    before = agent.get("get_todo", id=str(conversation.todo.pk))["todo"]
    sent = agent.get("reply", todo_id=str(conversation.todo.pk), text="Done.")
    after = agent.get("get_todo", id=str(conversation.todo.pk))["todo"]

    assert before["reply_to"] == conversation.place.address.as_json()
    assert before["replies"] == {"count": 0, "last_state": None, "last_permalink": None}
    assert sent["state"] == "sent"
    assert after["replies"] == {"count": 1, "last_state": "sent", "last_permalink": sent["permalink"]}


def test_refusals_are_errors_that_a_model_reads(conversation: Conversation) -> None:
    agent = Agent(conversation.vended)
    todo = make_todo(conversation.endpoint, event=make_event(conversation.endpoint))

    answer = agent.call("reply", todo_id=str(todo.pk), text="x")

    assert answer.failed
    assert answer.content is None
    assert answer.code == "no_reply_address"


def test_a_reply_that_fails_is_a_result_and_no_error(converse: OpenConversation) -> None:
    conversation = converse()
    conversation.server.on(conversation.place.path)

    sent = Agent(conversation.vended).get("reply", todo_id=str(conversation.todo.pk), text="x")

    assert (sent["state"], sent["class"]) == ("failed", "not_found")
    assert "Nothing was posted" in sent["message"]


def test_the_tool_says_that_the_text_is_public(db: None) -> None:
    agent = make_agent(verbs=["reply"])
    [tool] = agent.request("tools/list")["result"]["tools"]

    assert "posted publicly" in tool["description"]
    assert tool["annotations"]["openWorldHint"] is True
    assert list(tool["inputSchema"]["properties"]) == ["todo_id", "text", "idempotency_key", "lease_token"]


def test_the_instructions_tell_of_reply(db: None) -> None:
    from tests.mcp_bridge.agents import initialize_params

    told = make_agent().request("initialize", initialize_params("2025-11-25"))["result"]["instructions"]

    assert "can be answered with reply" in told
    assert "todo_id" in told
    assert "posted publicly" in told


def test_the_address_is_shown_whether_or_not_a_connection_exists(db: None, human: Human) -> None:
    from tests.replies.answers import THREAD

    endpoint = make_endpoint(human)
    make_todo(endpoint.endpoint, reply_to=THREAD.as_json())
    [listed] = Agent(endpoint).get("list_todos")["todos"]

    assert listed["reply_to"] == {
        "kind": "slack_thread",
        "team_id": "T0123",
        "channel": "C0123",
        "thread_ts": "1726980000.000200",
        "display": "slack #C0123 thread 1726980000.000200",
    }


@pytest.fixture
def human(db: None) -> Human:
    return make_human()


def test_a_session_that_lost_its_claim_cannot_reply(conversation: Conversation) -> None:
    """Trap 27."""
    todo_id, begun = str(conversation.todo.pk), timezone.now()
    fenced: dict[str, Any] = {"endpoint": conversation.endpoint, "todo_id": todo_id, "require_fence": True}
    lifecycle.release(endpoint=conversation.endpoint, todo_id=todo_id)
    stale = lifecycle.claim(**fenced, lease_ttl_seconds=60, now=begun)
    present = lifecycle.claim(**fenced, now=begun + timedelta(seconds=61))
    later = begun + timedelta(seconds=62)

    for token in (stale.lease_token, None, "", "lt_é", "\ud800", f"{present.lease_token}x"):
        refused(conversation, NotClaimed, lease_token=token, now=later)
    assert conversation.reply(lease_token=present.lease_token, now=later)["state"] == "sent"


def test_a_token_for_a_claim_without_one_is_a_stale_one(conversation: Conversation) -> None:
    refused(conversation, NotClaimed, lease_token="lt_of-an-earlier-claim")


def test_an_agent_presents_its_token_over_mcp_also_after_it_has_finished(conversation: Conversation) -> None:
    agent, todo_id = Agent(conversation.vended), str(conversation.todo.pk)
    agent.get("release", id=todo_id)
    token = agent.get("claim", id=todo_id, require_fence=True)["lease_token"]

    assert agent.call("reply", todo_id=todo_id, text="one").code == "not_claimed"
    assert agent.get("reply", todo_id=todo_id, text="one", lease_token=token)["state"] == "sent"
    agent.get("complete", id=todo_id, lease_token=token)
    assert agent.get("reply", todo_id=todo_id, text="two", lease_token=token)["state"] == "sent"


def test_a_connection_that_is_deleted_while_a_reply_is_judged_is_none(
    conversation: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(submit, "check_secrets", lambda _: Connection.objects.all().delete())

    refused(conversation, NoConnection)
