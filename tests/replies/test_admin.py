"""Replies in the admin: read only, and the one thing that an operator may raise."""

import pytest
from django.contrib.auth.models import Permission
from django.test import Client

from replies.models import Reply
from switchboard.todos.models import Todo
from tests.admin.paths import list_path, page_path
from tests.factories import make_human
from tests.replies.stage import SECRET, Conversation


@pytest.fixture
def signed_in(conversation: Conversation) -> Client:
    conversation.human.is_staff = True
    conversation.human.save()
    conversation.human.user_permissions.set(Permission.objects.all())
    client = Client()
    client.force_login(conversation.human)
    return client


def test_a_reply_is_shown_and_cannot_be_changed(conversation: Conversation, signed_in: Client) -> None:
    conversation.reply("Done: <b>bold</b>")
    path = page_path(conversation.row, "change")

    page = signed_in.get(path).content.decode()
    signed_in.post(path, {"state": "failed", "text": "other"})

    assert "Done: &lt;b&gt;bold&lt;/b&gt;" in page
    assert SECRET not in page
    assert conversation.row.state == "sent"
    assert signed_in.get(f"{list_path(Reply)}?q=widgets").context["cl"].result_count == 1


def test_an_operator_raises_the_cap(conversation: Conversation, signed_in: Client) -> None:
    chosen = {"action": "raise_reply_cap", "_selected_action": [str(conversation.todo.pk)]}
    signed_in.post(list_path(Todo), chosen)
    conversation.todo.refresh_from_db()

    assert conversation.todo.reply_cap == 100


def test_a_stranger_raises_nothing(conversation: Conversation) -> None:
    stranger = make_human("stranger", is_staff=True)
    stranger.user_permissions.set(Permission.objects.all())
    client = Client()
    client.force_login(stranger)
    client.post(list_path(Todo), {"action": "raise_reply_cap", "_selected_action": [str(conversation.todo.pk)]})
    conversation.todo.refresh_from_db()

    assert conversation.todo.reply_cap == 20
