"""What arrives at a provider, and what each thing that it can do makes of the reply (SPEC-0028 REQ-7, REQ-8)."""

import json
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from connections.manage import delete_connection, rotate_connection
from connections.models import Connection
from connections.throttling import note_throttled
from replies import dial, dispatch
from replies.dial import PATIENCE, Patience
from switchboard.accounts.reach import Principal
from switchboard.errors import RateLimited
from switchboard.outbound import perform
from switchboard.sealing import Secret
from tests.factories import make_human
from tests.replies.conftest import OpenConversation
from tests.replies.stage import PLACES, SECRET, Conversation, answering, open_conversation
from tests.stand_in import Behaviour, Certificate, Fault, Respond, StandIn, redirect, stand_in

EVERY_PROVIDER = pytest.mark.parametrize("provider_name", PLACES)
AUTHORIZATION = {
    "gitea": f"token {SECRET}",
    "github": f"Bearer {SECRET}",
    "slack": f"Bearer {SECRET}",
    "cairn": f"Bearer {SECRET}",
}
BODIES = {
    "gitea": {"body": "Done: <b>&</b> @all 🚀"},
    "github": {"body": "Done: <b>&</b> @all 🚀"},
    "slack": {"channel": "C0123", "thread_ts": "1726990000.000100", "text": "Done: <b>&</b> @all 🚀"},
    "cairn": {"body": "Done: <b>&</b> @all 🚀"},
}


@EVERY_PROVIDER
def test_exactly_one_call_arrives_as_the_specification_says(converse: OpenConversation, provider_name: str) -> None:
    conversation = converse(provider=provider_name)

    result = conversation.reply("Done: <b>&</b> @all 🚀")
    [seen] = conversation.server.requests

    assert result["state"] == "sent"
    assert (seen.method, seen.path) == ("POST", conversation.place.path)
    assert seen.headers["authorization"] == AUTHORIZATION[provider_name]
    assert json.loads(seen.body) == BODIES[provider_name]
    assert conversation.row.object_id == conversation.place.object_id


def answers(conversation: Conversation, *behaviours: Behaviour) -> dict[str, Any]:
    """Reply while the provider behaves so, twice with one key, and return what the first call said.

    The second one must dial nothing, and say the same again.
    """
    conversation.server.next(*behaviours)
    started = time.monotonic()
    first = conversation.reply(idempotency_key="one")
    assert time.monotonic() - started < 4
    seen = len(conversation.server.requests), conversation.server.connections
    again = conversation.reply(idempotency_key="one")
    assert (len(conversation.server.requests), conversation.server.connections) == seen
    assert again["duplicate"] is True
    unchanged = {"duplicate", "message"}
    assert {k: v for k, v in again.items() if k not in unchanged} == {
        k: v for k, v in first.items() if k not in unchanged
    }
    row = conversation.row
    assert (row.state, row.error_class, row.error_code) == (
        first["state"],
        first.get("class", ""),
        first.get("code", ""),
    )
    assert row.finished_at is not None
    return first


def outcome(result: dict[str, Any]) -> tuple[str, str | None, str | None]:
    return result["state"], result.get("class"), result.get("code")


@EVERY_PROVIDER
@pytest.mark.parametrize(
    ("status", "state", "error_class"),
    [
        (400, "failed", "invalid"),
        (401, "failed", "auth"),
        (403, "failed", "forbidden"),
        (404, "failed", "not_found"),
        (422, "failed", "invalid"),
        (500, "unknown", "server"),
        (502, "unknown", "server"),
        (503, "unknown", "server"),
    ],
)
def test_a_status_tells_what_became_of_the_reply(
    converse: OpenConversation, provider_name: str, status: int, state: str, error_class: str
) -> None:
    conversation = converse(provider=provider_name)
    leaky = answering({"message": "the-provider-said-this"}, status=status)

    result = answers(conversation, leaky)

    assert outcome(result) == (state, error_class, f"http_{status}")
    assert len(conversation.server.requests) == 1
    assert "the-provider-said-this" not in json.dumps(result)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirect(conversation: Conversation, status: int) -> None:
    elsewhere = redirect(f"https://localhost:{conversation.server.port}/elsewhere", status)

    assert outcome(answers(conversation, elsewhere)) == ("failed", "invalid", f"http_{status}")
    assert len(conversation.server.requests) == 1


@pytest.mark.parametrize(
    ("fault", "error_class", "code"),
    [
        (Fault.HANG_UNREAD, "network", "answer_timeout"),
        (Fault.HANG, "network", "answer_timeout"),
        (Fault.CLOSE, "network", "connection_lost"),
        (Fault.RESET, "network", "connection_lost"),
        (Fault.HALF_HEADER, "network", "malformed_answer"),
        (Fault.DRIP_HEADERS, "network", "answer_timeout"),
        (Fault.DRIP_BODY, "network", "answer_timeout"),
        (Fault.SHORT_BODY, "network", "connection_lost"),
        (Fault.RUBBISH, "network", "malformed_answer"),
        (Fault.HUGE, "server", "no_object_id"),
    ],
    ids=lambda value: value.name if isinstance(value, Fault) else value,
)
def test_whatever_happens_after_the_request_may_have_left_is_unknown(
    conversation: Conversation, quick: Patience, fault: Fault, error_class: str, code: str
) -> None:
    assert outcome(answers(conversation, fault)) == ("unknown", error_class, code)
    assert conversation.server.connections == 1
    assert conversation.server.bytes_sent < 20_000_000


def test_timeout_after_write(conversation: Conversation, quick: Patience) -> None:
    result = answers(conversation, Fault.HANG)

    assert result["state"] == "unknown"
    assert "Look at the conversation" in result["message"]
    assert len(conversation.server.requests) == 1


def test_a_silent_handshake_is_tried_three_times_and_nothing_was_sent(
    conversation: Conversation, quick: Patience
) -> None:
    silence = [Fault.SILENT_HANDSHAKE] * 3

    assert outcome(answers(conversation, *silence)) == ("failed", "network", "tls_timeout")
    assert conversation.server.connections == 3
    assert conversation.server.requests == []


def test_a_call_that_was_not_sent_is_made_again(conversation: Conversation, quick: Patience) -> None:
    assert answers(conversation, Fault.SILENT_HANDSHAKE, Fault.SILENT_HANDSHAKE)["state"] == "sent"
    assert len(conversation.server.requests) == 1


def test_a_port_that_nobody_listens_on_is_a_failure_of_the_network(converse: OpenConversation, quick: Patience) -> None:
    conversation = converse()
    conversation.server.close()

    assert outcome(conversation.reply()) == ("failed", "network", "connect_failed")


@pytest.mark.parametrize("certificate", [Certificate.WRONG_NAME, Certificate.EXPIRED])
def test_a_bad_certificate_is_a_failure_of_the_network(
    converse: OpenConversation, provider: StandIn, quick: Patience, certificate: Certificate
) -> None:
    with stand_in(certificate=certificate) as impostor:
        conversation = open_conversation(impostor)

        assert outcome(conversation.reply()) == ("failed", "network", "certificate_refused")
        assert impostor.requests == []


def test_private_gitea_not_allowlisted(conversation: Conversation, settings: Any) -> None:
    settings.SWITCHBOARD_PRIVATE_HOSTS = ()

    assert outcome(answers(conversation)) == ("failed", "network", "private_address")
    assert conversation.server.connections == 0


def test_plain_http_is_refused_unless_the_operator_allows_it(conversation: Conversation, settings: Any) -> None:
    settings.SWITCHBOARD_ALLOW_HTTP = True
    with stand_in(tls=False) as server:
        plain = open_conversation(
            server,
            human=make_human("plain"),
            connection={"account_key": f"http://localhost:{server.port}"},
        )
        settings.SWITCHBOARD_ALLOW_HTTP = False

        assert outcome(plain.reply()) == ("failed", "network", "plain_http")
        assert server.connections == 0


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (answering({"ok": False, "error": "not_in_channel"}), ("failed", "forbidden", "not_in_channel")),
        (answering({"ok": False, "error": "invalid_auth"}), ("failed", "auth", "invalid_auth")),
        (answering({"ok": False, "error": "internal_error"}), ("unknown", "server", "internal_error")),
        (answering({"ok": "false", "error": "x"}), ("unknown", "server", "x")),
        (answering({"ok": True}), ("unknown", "server", "no_object_id")),
        (Respond(200, body=b"<html>maintenance</html>"), ("unknown", "server", "unreadable_answer")),
        (Respond(200), ("unknown", "server", "unreadable_answer")),
    ],
    ids=repr,
)
def test_slack_returns_ok_false(converse: OpenConversation, answer: Respond, expected: tuple[str, str, str]) -> None:
    conversation = converse(provider="slack")

    assert outcome(answers(conversation, answer)) == expected
    assert len(conversation.server.requests) == 1


@EVERY_PROVIDER
def test_a_good_status_without_an_id_is_not_silently_sent(converse: OpenConversation, provider_name: str) -> None:
    conversation = converse(provider=provider_name)
    silent = answering({"ok": True, "html_url": "https://github.com/x"}, status=201)

    assert outcome(answers(conversation, silent)) == ("unknown", "server", "no_object_id")


def test_a_429_is_tried_again_after_the_time_that_it_names(conversation: Conversation, quick: Patience) -> None:
    busy = answering({}, status=429, retry_after="0")

    assert answers(conversation, busy, busy)["state"] == "sent"
    assert len(conversation.server.requests) == 3


def test_a_429_is_tried_three_times_in_all(conversation: Conversation, quick: Patience) -> None:
    busy = answering({}, status=429, retry_after="0")

    assert outcome(answers(conversation, busy, busy, busy))[:2] == ("failed", "rate_limited")
    assert len(conversation.server.requests) == 3


def test_a_reply_waits_for_the_pause_that_a_provider_asked_for(conversation: Conversation) -> None:
    conversation.server.next(answering({}, status=429, retry_after="1"))
    started = time.monotonic()

    assert conversation.reply()["state"] == "sent"
    assert time.monotonic() - started >= 0.9


def between_attempts(conversation: Conversation, monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> Any:
    """Reply; the provider is busy at first, and `act` happens before the second attempt."""
    conversation.server.next(answering({}, status=429, retry_after="0"))
    waits: list[float] = []

    def wait(seconds: float) -> None:
        waits.append(seconds)
        if waits.count(dial.PATIENCE.pause) == 1 and seconds == dial.PATIENCE.pause:
            act()

    monkeypatch.setattr("replies.dial.time.sleep", wait)
    return conversation.reply()


def test_a_connection_that_is_deleted_between_two_attempts_is_used_no_more(
    conversation: Conversation, quick: Patience, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = between_attempts(conversation, monkeypatch, lambda: delete(conversation))

    assert outcome(result) == ("failed", "auth", "connection_deleted")
    assert len(conversation.server.requests) == 1


def test_a_secret_that_is_rotated_between_two_attempts_is_used_at_once(
    conversation: Conversation, quick: Patience, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = between_attempts(conversation, monkeypatch, lambda: rotate(conversation))

    assert result["state"] == "sent"
    used = [seen.headers["authorization"] for seen in conversation.server.requests]
    assert used == [f"token {SECRET}", "token brand-new-secret"]
    assert Connection.objects.get().login == "switchboard-bot"


def test_what_an_answer_says_of_a_secret_that_was_rotated_meanwhile_is_not_kept(
    conversation: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    def rotating(*given: Any, **named: Any) -> Any:
        rotate(conversation)
        return perform(*given, **named)

    monkeypatch.setattr("replies.dial.perform", rotating)

    assert conversation.reply()["state"] == "sent"
    stored = Connection.objects.get()
    assert (stored.login, stored.bot_id, stored.last_used_at) == ("", "", None)


def delete(conversation: Conversation) -> None:
    principal = Principal.of_human(conversation.human)
    delete_connection(principal=principal, acting=conversation.human, connection_id=str(conversation.connection.pk))


def rotate(conversation: Conversation) -> None:
    principal = Principal.of_human(conversation.human)
    rotate_connection(
        principal=principal,
        acting=conversation.human,
        connection_id=str(conversation.connection.pk),
        secret=Secret("brand-new-secret"),
    )


@pytest.mark.parametrize(("header", "seconds"), [({"retry_after": "20"}, 20), ({}, 30), ({"retry_after": "soon"}, 30)])
def test_provider_throttles(converse: OpenConversation, header: dict[str, str], seconds: int) -> None:
    conversation = converse(provider="slack")
    busy = answering({"ok": False, "error": "ratelimited"}, status=429, **header)
    conversation.server.next(busy)
    now = timezone.now()

    first = conversation.reply("one")
    with pytest.raises(RateLimited) as refusal:
        conversation.submit("two")
    other = converse(human=conversation.human)

    assert outcome(first)[:2] == ("failed", "rate_limited")
    assert seconds - 3 <= refusal.value.extra["retry_after"] <= seconds
    assert conversation.rows == 1
    assert len(conversation.server.requests) == 1
    assert other.reply()["state"] == "sent"
    assert conversation.reply("three", now=now + timedelta(seconds=seconds + 3))["state"] == "failed"


def test_a_dial_does_not_call_while_the_provider_wants_to_be_left_alone(conversation: Conversation) -> None:
    """Another reply may have met the 429 after this one was admitted."""
    note_throttled(conversation.connection, retry_after=60, now=timezone.now())

    with pytest.raises(RateLimited):
        conversation.submit()
    late = conversation.reply(now=timezone.now() + timedelta(seconds=61))

    assert outcome(late) == ("failed", "rate_limited", "throttled")
    assert conversation.server.connections == 0


def test_a_secret_that_no_key_opens_is_a_failure_of_the_credential(conversation: Conversation, settings: Any) -> None:
    settings.SWITCHBOARD_ENCRYPTION_KEY = b"2" * 32

    assert outcome(answers(conversation)) == ("failed", "auth", "secret_unreadable")
    assert conversation.server.connections == 0


def test_what_the_provider_says_of_the_credential_is_kept(converse: OpenConversation) -> None:
    conversation = converse(provider="slack")
    conversation.reply()
    conversation.connection.refresh_from_db()

    assert (conversation.connection.login, conversation.connection.bot_id) == ("U0999", "B0999")
    assert conversation.connection.last_used_at is not None


def test_a_link_that_leads_elsewhere_is_not_kept(conversation: Conversation) -> None:
    for link in ("javascript:alert(1)", "https://evil.example/acme", "http://localhost/acme"):
        conversation.server.next(answering({"id": 5, "html_url": link}, status=201))
        assert "permalink" not in conversation.reply(link)


def test_an_answer_of_any_kind_ends_within_the_time_that_an_agent_waits() -> None:
    assert PATIENCE.attempt <= 10
    assert PATIENCE.retries == 2
    assert dispatch.PICK_UP_SECONDS + max(dispatch.ANSWER_SECONDS, PATIENCE.total) <= 25


def test_no_attempt_begins_when_too_little_time_is_left(
    conversation: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    hurried = Patience(total=1.0, attempt=0.5, least=0.7, pause=0.01)
    monkeypatch.setattr(dial, "PATIENCE", hurried)
    conversation.server.next(Fault.SILENT_HANDSHAKE)

    assert outcome(conversation.reply()) == ("failed", "network", "tls_timeout")
    assert conversation.server.connections == 1


def test_the_clock_and_the_dialler_know_their_tasks() -> None:
    from switchboard.celery import app

    app.loader.import_default_modules()
    scheduled = {entry["task"] for entry in app.conf.beat_schedule.values()}

    assert {"replies.tasks.sweep", "replies.tasks.dial"} <= scheduled | set(app.conf.task_routes)
    assert scheduled | set(app.conf.task_routes) <= set(app.tasks)
    assert app.conf.task_routes["replies.tasks.dial"] == {"queue": "dial"}
