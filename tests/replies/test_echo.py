"""Our own replies when they come back, and everybody else's words that look like them (SPEC-0028 REQ-11)."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from connections.models import Connection
from replies import submit
from replies.echo import is_own_echo
from replies.models import Reply
from tests.factories import make_human
from tests.replies.conftest import OpenConversation
from tests.replies.stage import TEXT, Conversation, answering

NOTHING: dict[str, Any] = {"object_id": None, "bot_id": None, "author": None, "text": None}


def is_echo(conversation: Conversation, **seen: Any) -> bool:
    address = conversation.place.address
    facts = {
        "owner_human_id": conversation.human.pk,
        "owner_team_id": None,
        "provider": conversation.place.provider,
        "account": address.account,
        "address": address,
        "now": timezone.now(),
        **NOTHING,
        **seen,
    }
    return is_own_echo(**facts)


@pytest.mark.parametrize("provider_name", ["gitea", "github", "slack", "cairn"])
def test_our_own_comment_comes_back(converse: OpenConversation, provider_name: str) -> None:
    conversation = converse(provider=provider_name)
    conversation.reply()

    assert is_echo(conversation, object_id=conversation.place.object_id)
    assert not is_echo(conversation, object_id="4711")
    assert not is_echo(conversation)


def test_another_owners_reply_is_no_echo(conversation: Conversation) -> None:
    conversation.reply()
    stranger = make_human("stranger")

    assert not is_echo(conversation, object_id="99001", owner_human_id=stranger.pk)
    assert not is_echo(conversation, author="switchboard-bot", text=TEXT, owner_human_id=stranger.pk)


def test_the_same_number_of_another_host_is_no_echo(conversation: Conversation) -> None:
    conversation.reply()

    assert not is_echo(conversation, object_id="99001", account="git.example.net")
    assert not is_echo(conversation, object_id="99001", account=None)


def test_an_echo_is_known_for_a_day(conversation: Conversation) -> None:
    conversation.reply()
    day = timezone.now() + timedelta(hours=24)

    assert is_echo(conversation, object_id="99001", now=day - timedelta(minutes=1))
    assert not is_echo(conversation, object_id="99001", now=day + timedelta(minutes=1))
    assert not is_echo(conversation, author="switchboard-bot", text=TEXT, now=day + timedelta(minutes=1))


def test_the_day_of_an_echo_begins_when_the_reply_was_sent(conversation: Conversation) -> None:
    conversation.reply()
    sent_at = timezone.now()
    Reply.objects.update(created_at=sent_at - timedelta(minutes=5), finished_at=sent_at)
    late = sent_at + timedelta(hours=24) - timedelta(minutes=1)

    assert is_echo(conversation, object_id="99001", now=late)
    assert is_echo(conversation, author="switchboard-bot", text=TEXT, now=late)


def test_a_slack_event_of_our_own_bot_is_an_echo(converse: OpenConversation) -> None:
    conversation = converse(provider="slack")
    assert not is_echo(conversation, bot_id="B0999")
    conversation.reply()

    assert is_echo(conversation, bot_id="B0999")
    assert not is_echo(conversation, bot_id="B0000")
    assert not is_echo(conversation, bot_id="B0999", owner_human_id=make_human("stranger").pk)


def test_a_human_answers_in_the_thread(converse: OpenConversation) -> None:
    conversation = converse(provider="slack")
    conversation.reply()

    assert not is_echo(conversation, object_id="C0123:1726990009.000100", author="U0001", text="Thanks!")


def test_the_echo_may_come_before_the_answer_is_recorded(conversation: Conversation, monkeypatch: Any) -> None:
    conversation.reply("an earlier one")
    with monkeypatch.context() as patched:
        patched.setattr(submit, "dispatch", lambda reply_id: None)
        conversation.submit("Done.")

    assert is_echo(conversation, object_id="99002", author="switchboard-bot", text="Done.")
    assert is_echo(conversation, object_id="99002", author="Switchboard-Bot", text="Done.\r\n")
    assert not is_echo(conversation, object_id="99002", author="switchboard-bot", text="Done?")
    assert not is_echo(conversation, object_id="99002", author="ada", text="Done.")


def test_the_very_first_echo_may_come_before_anybody_knows_our_login(
    conversation: Conversation, monkeypatch: Any
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(submit, "dispatch", lambda reply_id: None)
        conversation.submit("Done.")

    assert is_echo(conversation, author="switchboard-bot", text="Done.")
    assert not is_echo(conversation, author="switchboard-bot", text="Something else")


def test_an_unknown_reply_that_stands_is_known_by_its_text(conversation: Conversation) -> None:
    Connection.objects.update(login="switchboard-bot")
    conversation.server.next(answering({}, status=502))
    conversation.reply("Done.")

    assert is_echo(conversation, object_id="5", author="switchboard-bot", text="Done.")


def test_a_reply_that_failed_has_no_echo(conversation: Conversation) -> None:
    Connection.objects.update(login="switchboard-bot")
    conversation.server.next(answering({}, status=403))
    conversation.reply("Done.")

    assert not is_echo(conversation, author="switchboard-bot", text="Done.")


def test_the_same_text_at_another_address_is_no_echo(conversation: Conversation) -> None:
    from switchboard.reply_address import ForgeComment, Provider

    conversation.reply("Done.")
    elsewhere = ForgeComment(Provider.GITEA, conversation.place.address.account, "acme/widgets", 8)

    assert is_echo(conversation, author="switchboard-bot", text="Done.")
    assert not is_echo(conversation, author="switchboard-bot", text="Done.", address=elsewhere)


def test_artifacts_that_are_shown_alike_are_told_apart(converse: OpenConversation) -> None:
    from switchboard.reply_address import CairnComment

    conversation = converse(provider="cairn")
    conversation.reply("Done.")
    other = CairnComment(conversation.place.address.account, "another1")

    assert is_echo(conversation, author="agent-1", text="Done.")
    assert not is_echo(conversation, author="agent-1", text="Done.", address=other)


def test_the_signature_line_is_part_of_the_echo(converse: OpenConversation) -> None:
    conversation = converse(connection={"signature_line": "— worker"})
    conversation.reply("Done.")

    assert is_echo(conversation, author="switchboard-bot", text="Done.\n\n— worker")
    assert not is_echo(conversation, author="switchboard-bot", text="Done.")


def test_a_long_comment_that_cairn_cut_is_an_echo(converse: OpenConversation) -> None:
    conversation = converse(provider="cairn")
    long = "Zeile äöü\n" * 600
    conversation.reply(long)
    cut = long.encode()[:4096].decode(errors="ignore")

    assert is_echo(conversation, author="agent-1", text=cut)
    assert not is_echo(conversation, author="agent-1", text=cut[:2000])
    assert not is_echo(conversation, author="agent-1", text="x" + cut[1:])


def test_a_link_that_slack_wrote_into_our_text_is_still_our_text(
    converse: OpenConversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    conversation = converse(provider="slack")
    with monkeypatch.context() as patched:
        patched.setattr(submit, "dispatch", lambda reply_id: None)
        conversation.submit("See https://example.com/a?b=c and <https://example.com|this>.")

    seen = "See <https://example.com/a?b=c> and <https://example.com|this>."
    assert is_echo(conversation, author="U0999", text=seen)
    assert not is_echo(conversation, author="U0999", text=seen.replace("a?b", "x?b"))
