"""Our own replies come back as deliveries: recorded with the cause `self_reply`, and no todo (SPEC-0028 REQ-11)."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from replies.models import Reply, ReplyState
from routing.models import Event
from switchboard.todos.models import Todo
from tests.deliveries import SignedDelivery, gitea_event, github_event, github_issue, slack_message
from tests.factories import make_connection
from tests.routing.conftest import Line, OpenLine

pytestmark = pytest.mark.django_db


def comment(
    *, number: int = 99001, text: str = "Picked this up.", author: str = "our-bot", **more: Any
) -> SignedDelivery:
    """An `issue_comment` on acme/widgets#17, as GitHub sends it."""
    repository = {"full_name": "acme/widgets", "html_url": "https://github.com/acme/widgets"}
    body = {
        "action": "created",
        "issue": {"number": 17, "title": "Crash on start", "html_url": "https://github.com/acme/widgets/issues/17"},
        "comment": {"id": number, "body": text, "user": {"login": author}},
        "repository": repository,
        "sender": {"login": author},
        **more,
    }
    return github_event(body, event="issue_comment")


def reply_sent(line: Line, **fields: Any) -> Reply:
    """The line's first delivery was answered: a reply row as the dialler leaves it."""
    todo = line.todos[0]
    assert todo.reply_to is not None
    values = {
        "todo": todo,
        "endpoint": line.endpoint,
        "owner_human": line.human,
        "connection_name": "forge",
        "connection_fingerprint": "0" * 12,
        "provider": "github",
        "account": "github.com",
        "address_kind": todo.reply_to["kind"],
        "display": todo.reply_to["display"],
        "idempotency_key": "k",
        "text_sha256": "0" * 64,
        "text": "Picked this up.",
        "state": ReplyState.SENT,
        "object_id": "99001",
    }
    return Reply.objects.create(**values | fields)


def newest(line: Line) -> Event:
    return line.events[-1]


@pytest.mark.parametrize("number", [99001, "99001"])
@pytest.mark.parametrize("action", ["created", "edited"])
def test_our_own_comment_comes_back(line: OpenLine, number: Any, action: str) -> None:
    webhook = line("github")
    webhook.post(github_issue(number=17))
    reply_sent(webhook)
    response = webhook.post(comment(number=number, action=action, text="Whatever it was edited to."))
    assert response.json() == {"todos": [], "created": 0, "dropped": True, "verified": True, "trust_mode": "signed"}
    assert newest(webhook).disposition == "self_reply"
    assert newest(webhook).routing_trace == {"stage": "default", "cause": "self_reply", "action": {"drop": True}}
    assert Todo.objects.count() == 1


def test_a_redelivery_of_our_own_comment_stays_suppressed(line: OpenLine) -> None:
    webhook = line("github")
    webhook.post(github_issue(number=17))
    reply = reply_sent(webhook)
    delivery = comment()
    webhook.post(delivery)
    reply.delete()
    assert webhook.post(delivery).json()["dropped"] is True
    assert Todo.objects.count() == 1


def test_another_comment_is_routed(line: OpenLine) -> None:
    webhook = line("github")
    webhook.post(github_issue(number=17))
    reply_sent(webhook)
    assert webhook.post(comment(number=99002, text="And now?", author="octavia")).json()["created"] == 1


def test_an_echo_before_its_id_is_recorded_is_known_by_account_and_text(line: OpenLine) -> None:
    webhook = line("github")
    webhook.post(github_issue(number=17))
    connection = make_connection(webhook.human, kind="github", account_key="github.com")
    type(connection).objects.filter(pk=connection.pk).update(login="our-bot")
    reply_sent(webhook, connection=connection, state=ReplyState.PENDING, object_id="")
    assert webhook.post(comment(text="Picked this up.")).json()["dropped"] is True
    assert webhook.post(comment(number=5, text="Something else.")).json()["created"] == 1


def test_a_reply_of_yesterday_is_forgotten(line: OpenLine) -> None:
    webhook = line("github")
    webhook.post(github_issue(number=17))
    reply_sent(webhook, created_at=timezone.now() - timedelta(hours=25))
    assert webhook.post(comment()).json()["created"] == 1


def test_another_owners_reply_suppresses_nothing(line: OpenLine) -> None:
    mine, theirs = line("github"), line("gitea")
    mine.post(github_issue(number=17))
    reply_sent(mine, owner_human=theirs.human)
    assert mine.post(comment()).json()["created"] == 1


def test_the_same_number_on_another_forge_is_another_comment(line: OpenLine) -> None:
    mine = line("github")
    mine.post(github_issue(number=17))
    reply_sent(mine)
    gitea = line("gitea", human=mine.human)
    body = {
        "action": "created",
        "issue": {"number": 17, "title": "x", "html_url": "https://git.example.com/acme/widgets/issues/17"},
        "comment": {"id": 99001, "body": "A human's.", "user": {"login": "nils"}},
        "repository": {"full_name": "acme/widgets", "html_url": "https://git.example.com/acme/widgets"},
        "sender": {"login": "nils"},
    }
    assert gitea.post(gitea_event(body, event="issue_comment")).json()["created"] == 1


def test_a_slack_event_of_our_own_bot_is_suppressed_and_a_human_answers_in_the_thread(line: OpenLine) -> None:
    webhook = line("slack")
    connection = make_connection(webhook.human, kind="slack", account_key="T0ACME001", secret="xoxb-not-a-token")
    type(connection).objects.filter(pk=connection.pk).update(bot_id="B0SWBOT001")
    ours = webhook.post(slack_message(bot_id="B0SWBOT001", text="Done."))
    human = webhook.post(slack_message(text="Thanks!", thread_ts="1726980000.000200"))
    assert ours.json()["dropped"] is True
    assert human.json()["created"] == 1
