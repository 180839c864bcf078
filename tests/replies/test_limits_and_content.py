"""How often and what may be posted (SPEC-0028 REQ-10, REQ-12)."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from replies import submit
from replies.models import Reply
from replies.scan import scan
from switchboard.accounts.reach import Principal
from switchboard.errors import InvalidArgument, NotFound, RateLimited, SecretDetected
from switchboard.sealing import mint_token
from switchboard.todos.reply_cap import set_reply_cap
from tests.factories import make_endpoint, make_human
from tests.mcp_bridge.agents import Agent
from tests.replies.conftest import OpenConversation
from tests.replies.stage import Conversation, make_claimed_todo
from tests.replies.test_idempotency import fill

GITHUB_TOKEN = "ghp_" + "wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx"


def test_looping_agent(conversation: Conversation) -> None:
    fill(conversation, 20)

    with pytest.raises(RateLimited) as refusal:
        conversation.submit("the 21st")

    assert refusal.value.extra["retry_after"] > 0
    assert conversation.posts == []
    assert conversation.rows == 20


def test_the_owner_may_raise_the_cap_to_a_hundred(conversation: Conversation) -> None:
    fill(conversation, 20)
    principal, todo_id = Principal.of_human(conversation.human), str(conversation.todo.pk)

    for refused in (19, 101, -1, True, "50"):
        with pytest.raises(InvalidArgument):
            set_reply_cap(principal=principal, todo_id=todo_id, reply_cap=refused)  # type: ignore[arg-type]
    with pytest.raises(NotFound):
        set_reply_cap(principal=Principal.of_human(make_human("b")), todo_id=todo_id, reply_cap=30)
    set_reply_cap(principal=principal, todo_id=todo_id, reply_cap=21)

    assert conversation.reply("the 21st")["state"] == "sent"
    with pytest.raises(RateLimited):
        conversation.submit("the 22nd")


def test_an_endpoint_may_reply_ten_times_at_once_and_then_every_other_second(conversation: Conversation) -> None:
    def loop() -> None:
        for number in range(15):
            conversation.submit(f"reply {number}")

    with pytest.raises(RateLimited) as refusal:
        loop()

    assert 1 <= refusal.value.extra["retry_after"] <= 2
    assert 10 <= conversation.rows <= 12


def test_the_limit_of_one_endpoint_is_not_anothers(converse: OpenConversation) -> None:
    busy, other = converse(), converse(human=make_human("b"))
    for number in range(12):
        try:
            busy.submit(f"reply {number}")
        except RateLimited:
            break

    assert other.reply()["state"] == "sent"


def test_an_owner_may_have_eight_replies_under_way(converse: OpenConversation, monkeypatch: pytest.MonkeyPatch) -> None:
    first = converse()
    second = make_claimed_todo(make_endpoint(first.human, verbs="all").endpoint, first.place)
    with monkeypatch.context() as patched:
        patched.setattr(submit, "dispatch", lambda reply_id: None)
        for number in range(8):
            first.submit(f"reply {number}")

    options: dict[str, Any] = {"endpoint": second.endpoint, "todo_id": str(second.pk), "text": "one too many"}
    with pytest.raises(RateLimited) as refusal:
        submit.submit_reply(**options)
    assert refusal.value.extra["retry_after"] == 5
    assert not Reply.objects.filter(todo=second).exists()
    assert converse(human=make_human("b")).reply()["state"] == "sent"
    assert submit.submit_reply(**options, now=timezone.now() + timedelta(seconds=61)).reply.state == "sent"


def test_replies_that_have_ended_are_not_under_way(conversation: Conversation) -> None:
    for number in range(9):
        conversation.submit(f"reply {number}")

    assert conversation.rows == 9


def test_a_refused_call_spends_no_key(conversation: Conversation) -> None:
    with pytest.raises(InvalidArgument):
        conversation.submit("", idempotency_key="k")

    assert conversation.reply("now with text", idempotency_key="k")["duplicate"] is False


def test_an_unavailable_limit_refuses(conversation: Conversation, settings: Any) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"

    answer = Agent(conversation.vended).call("reply", todo_id=str(conversation.todo.pk), text="x")

    assert answer.code == "unavailable"
    assert conversation.rows == 0


@pytest.mark.parametrize("text", ["", " ", "\n\t\r\n", "\u00a0\u2003"])
def test_a_text_that_says_nothing_is_refused(conversation: Conversation, text: str) -> None:
    refuse_text(conversation, text)


@pytest.mark.parametrize("text", ["a\0b", "\ud800", "a\udfffb"])
def test_a_text_that_is_no_unicode_is_refused(conversation: Conversation, text: str) -> None:
    refuse_text(conversation, text)


@pytest.mark.parametrize("text", ["a" * 16_385, "🚀" * 5000, "é" * 8193])
def test_a_text_over_16_kib_is_refused(conversation: Conversation, text: str) -> None:
    refuse_text(conversation, text)


def refuse_text(conversation: Conversation, text: str) -> None:
    with pytest.raises(InvalidArgument) as refusal:
        conversation.submit(text)
    assert refusal.value.extra == {"field": "text"}
    assert not Reply.objects.exists()
    assert conversation.server.connections == 0


@pytest.mark.parametrize("provider_name", ["gitea", "github", "slack", "cairn"])
def test_a_text_of_exactly_16_kib_is_posted(converse: OpenConversation, provider_name: str) -> None:
    conversation = converse(provider=provider_name)

    assert conversation.reply("a" * 16_384)["state"] == "sent"
    assert conversation.posts == ["a" * 16_384]


def test_a_text_of_16_kib_may_be_all_emoji(conversation: Conversation) -> None:
    assert conversation.reply("🚀" * 4096)["state"] == "sent"


@pytest.mark.parametrize(
    "text", ["  @all  https://example.com  ", "a\r\nb\n", "\u202e<script>&amp;", "\ufeffx\u200d", "```\ncode\n```"]
)
def test_a_text_is_posted_as_given(conversation: Conversation, text: str) -> None:
    conversation.reply(text)

    assert conversation.posts == [text]
    assert conversation.row.text == text


def test_a_signature_line_stands_below_the_text(converse: OpenConversation) -> None:
    conversation = converse(connection={"signature_line": "— worker, for Ada"})

    conversation.reply("Done.")

    assert conversation.posts == ["Done.\n\n— worker, for Ada"]
    assert (conversation.row.text, conversation.row.signature_line) == ("Done.", "— worker, for Ada")
    assert conversation.reply("Done.")["duplicate"] is True


def test_a_signature_line_counts_towards_the_limit(converse: OpenConversation) -> None:
    conversation = converse(connection={"signature_line": "- me"})

    refuse_text(conversation, "a" * (16_384 - 5))
    assert conversation.reply("a" * (16_384 - 6))["state"] == "sent"


def test_a_token_in_the_reply(conversation: Conversation) -> None:
    with pytest.raises(SecretDetected) as refusal:
        conversation.submit(f"The token is {GITHUB_TOKEN}, use it.")

    assert refusal.value.extra == {"rule": "betterleaks.github-pat"}
    assert "betterleaks.github-pat" in refusal.value.message
    assert GITHUB_TOKEN not in json.dumps([refusal.value.message, refusal.value.extra])
    assert not Reply.objects.exists()
    assert conversation.server.connections == 0


@pytest.mark.parametrize(
    ("secret", "rule"),
    [
        (GITHUB_TOKEN, "betterleaks.github-pat"),
        ("xoxb-" + "263594206564-2343594206574-FGqddMF8t08v8N7Oq4i57vs1", "betterleaks.slack-bot-token"),
        ("glpat-" + "ABCDEFGHIJKLMNOPQRST", "betterleaks.gitlab-pat"),
        (
            "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEAx" + "A" * 100 + "\n-----END RSA PRIVATE KEY-----",
            "betterleaks.private-key",
        ),
    ],
)
def test_well_known_secrets_are_found(secret: str, rule: str) -> None:
    assert scan(f"before {secret} after") == [rule]


@pytest.mark.parametrize(
    ("prefix", "rule"),
    [
        ("sbk_", "switchboard.endpoint-credential"),
        ("sb_", "switchboard.api-token"),
        ("lt_", "switchboard.lease-token"),
        ("whsec_", "switchboard.signing-secret"),
        ("https://switchboard.example/webhooks/w/", "switchboard.ingest-url"),
    ],
)
def test_our_own_tokens_are_found(prefix: str, rule: str) -> None:
    assert rule in scan(f"it is `{mint_token(prefix)}`.")


@pytest.mark.parametrize(
    "text",
    [
        "Fixed in 4b825dc642cb6eb9a060e54bf8d69288fbee4904, see todo 0192f0c1-8a3e-7c11-9d52-3f6e1b7a4c20.",
        "sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "Set `SWITCHBOARD_SECRET_ENCRYPTION_KEY`, then `password: hunter2`; it is sb_some_name_of_a_variable.",
        "A credential starts with sbk_ and a token with sb_…; whsec_ is a signing secret.",
        "ICAgIGJhc2U2NCBvZiBhIHNtYWxsIHRleHQsIG5vdCBhIHNlY3JldA==",
        "word and text " * 1170,
    ],
)
def test_ordinary_answers_hold_no_secret(text: str) -> None:
    assert scan(text) == []


def test_limits_hold_for_a_todo_that_is_finished_too(conversation: Conversation) -> None:
    fill(conversation, 20)
    other = make_claimed_todo(conversation.endpoint, conversation.place)
    later = timezone.now() + timedelta(seconds=1)

    assert conversation.reply("x", todo_id=str(other.pk), now=later)["state"] == "sent"
