"""One key, one post: repeated, parallel, late and lost calls (SPEC-0028 REQ-8)."""

import hashlib
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import connections
from django.utils import timezone

from replies import submit
from replies.dial import dial_reply
from replies.ledger import sweep_replies, take_reply
from replies.models import Reply
from replies.shapes import reply_result_shape
from switchboard.errors import NotFound, RateLimited, SwitchboardError
from switchboard.todos import lifecycle
from tests.replies.conftest import OpenConversation
from tests.replies.stage import Conversation, open_conversation
from tests.stand_in import Respond, StandIn


def test_retried_tool_call(conversation: Conversation) -> None:
    first = conversation.reply("Done.", idempotency_key="done-1")
    second = conversation.reply("Done.", idempotency_key="done-1")

    assert conversation.posts == ["Done."]
    assert (second["state"], second["duplicate"]) == ("sent", True)
    assert (second["reply_id"], second["permalink"]) == (first["reply_id"], first["permalink"])


def test_a_repeat_after_the_window_has_closed_still_returns_the_outcome(conversation: Conversation) -> None:
    first = conversation.reply("Done.", idempotency_key="done-1")
    done_at = timezone.now()
    lifecycle.complete(endpoint=conversation.endpoint, todo_id=str(conversation.todo.pk), now=done_at)
    late = conversation.reply("Done.", idempotency_key="done-1", now=done_at + timedelta(hours=2))

    assert (late["reply_id"], late["state"], late["duplicate"]) == (first["reply_id"], "sent", True)
    assert conversation.posts == ["Done."]


def test_without_a_key_the_same_text_is_the_same_reply(conversation: Conversation) -> None:
    conversation.reply("one")
    assert conversation.reply("one")["duplicate"] is True
    assert conversation.reply("one ")["duplicate"] is False

    assert conversation.posts == ["one", "one "]
    keys = Reply.objects.filter(text="one").values_list("idempotency_key", flat=True)
    assert list(keys) == [hashlib.sha256(f"{conversation.todo.pk}\0one".encode()).hexdigest()]


def test_the_same_key_with_another_text_says_that_the_text_differed(conversation: Conversation) -> None:
    conversation.reply("one", idempotency_key="k")
    second = conversation.reply("two", idempotency_key="k")

    assert conversation.posts == ["one"]
    assert second["duplicate"] is True
    assert "this text was not posted" in second["message"]
    assert "text" not in conversation.reply("one", idempotency_key="k")["message"]


def test_the_same_key_on_another_todo_is_another_reply(converse: OpenConversation) -> None:
    first = converse()
    second = converse(human=first.human, connection={"kind": "slack", "account_key": "T0123"})
    first.reply(idempotency_key="k")

    assert second.reply(idempotency_key="k")["duplicate"] is False


def test_a_duplicate_is_answered_when_every_limit_is_exhausted(conversation: Conversation) -> None:
    conversation.reply("one")
    for _ in range(30):
        with_limits(conversation)

    assert conversation.reply("one")["duplicate"] is True


def with_limits(conversation: Conversation) -> None:
    from switchboard.ratelimit import take

    try:
        take(f"reply:{conversation.endpoint.pk}", rate_per_minute=30, burst=10)
    except RateLimited:
        return


def test_a_call_waits_for_the_outcome_of_the_first_one(conversation: Conversation, monkeypatch: Any) -> None:
    """The first call has its row and is being dialled elsewhere."""
    pending = submitted_without_a_dial(conversation, monkeypatch)
    polls: list[float] = []

    def dial_meanwhile(seconds: float) -> None:
        polls.append(seconds)
        if len(polls) == 2:
            dial_reply(pending.pk)

    monkeypatch.setattr("replies.waiting.time.sleep", dial_meanwhile)
    second = conversation.reply()

    assert len(polls) >= 2
    assert (second["state"], second["duplicate"]) == ("sent", True)
    assert len(conversation.posts) == 1


def test_a_call_that_waited_in_vain_says_how_to_go_on(conversation: Conversation, monkeypatch: Any) -> None:
    submitted_without_a_dial(conversation, monkeypatch)
    monkeypatch.setattr(submit, "DUPLICATE_SECONDS", 0.1)

    second = conversation.reply()

    assert (second["state"], second["class"], second["code"]) == ("unknown", "network", "under_way")
    assert "Call again with the same idempotency_key" in second["message"]
    assert conversation.row.state == "pending"


def test_a_call_does_not_wait_for_what_a_dead_process_left(conversation: Conversation, monkeypatch: Any) -> None:
    submitted_without_a_dial(conversation, monkeypatch, now=timezone.now() - timedelta(seconds=61))
    started = time.monotonic()

    second = conversation.reply()

    assert (second["state"], second["code"]) == ("unknown", "interrupted")
    assert time.monotonic() - started < 1
    assert conversation.posts == []


def submitted_without_a_dial(conversation: Conversation, monkeypatch: Any, **options: Any) -> Reply:
    with monkeypatch.context() as patched:
        patched.setattr(submit, "dispatch", lambda reply_id: None)
        conversation.submit(**options)
    return conversation.row


def test_a_task_that_is_delivered_twice_dials_once(conversation: Conversation, monkeypatch: Any) -> None:
    reply = submitted_without_a_dial(conversation, monkeypatch)

    assert [dial_reply(reply.pk), dial_reply(reply.pk)] == [True, False]
    assert len(conversation.posts) == 1


def test_a_late_task_finds_a_swept_row_closed(conversation: Conversation, monkeypatch: Any) -> None:
    reply = submitted_without_a_dial(conversation, monkeypatch)

    assert sweep_replies(now=timezone.now() + timedelta(seconds=61)) == 1
    assert not dial_reply(reply.pk)
    assert conversation.posts == []
    assert conversation.row.state == "unknown"


def test_the_sweeper_leaves_a_young_row_alone(conversation: Conversation, monkeypatch: Any) -> None:
    submitted_without_a_dial(conversation, monkeypatch)

    assert sweep_replies(now=timezone.now() + timedelta(seconds=55)) == 0
    assert conversation.row.state == "pending"


def test_the_sweeper_tells_the_todo(conversation: Conversation, monkeypatch: Any) -> None:
    submitted_without_a_dial(conversation, monkeypatch)
    conversation.todo.refresh_from_db()
    before = conversation.todo.last_reply_state
    sweep_replies(now=timezone.now() + timedelta(seconds=61))
    conversation.todo.refresh_from_db()

    assert (before, conversation.todo.last_reply_state) == ("pending", "unknown")


def test_who_took_the_row_records_what_came_of_it_even_after_a_sweep(
    conversation: Conversation, monkeypatch: Any
) -> None:
    """A process that stood still for a minute knows better than the sweeper."""
    reply = submitted_without_a_dial(conversation, monkeypatch)

    def slow_answer(*_: Any, **__: Any) -> Respond:
        sweep_replies(now=timezone.now() + timedelta(seconds=61))
        return Respond(201, body=b'{"id": 5}')

    monkeypatch.setattr("replies.dial.perform", slow_answer)
    dial_reply(reply.pk)

    assert (conversation.row.state, conversation.row.object_id) == ("sent", "5")


def test_a_todo_that_is_deleted_while_the_call_runs_leaves_nothing(
    conversation: Conversation, monkeypatch: Any
) -> None:
    monkeypatch.setattr(submit, "dispatch", lambda reply_id: conversation.todo.delete())

    with pytest.raises(NotFound):
        conversation.submit()


@pytest.mark.django_db(transaction=True)
def test_fifty_parallel_calls_with_one_key_post_once(provider: StandIn) -> None:
    conversation = open_conversation(provider)
    provider.on(conversation.place.path, Respond(201, body=b'{"id": 5}', delay_seconds=0.3))

    results = in_parallel([lambda: conversation.reply(idempotency_key="k")] * 50)

    assert len(conversation.posts) == 1
    assert [result["state"] for result in results] == ["sent"] * 50
    assert sorted(result["duplicate"] for result in results) == [False] + [True] * 49
    assert conversation.rows == 1


@pytest.mark.django_db(transaction=True)
def test_two_parallel_calls_at_nineteen_of_twenty_post_once(provider: StandIn) -> None:
    conversation = open_conversation(provider)
    fill(conversation, 19)

    results = in_parallel([lambda: conversation.reply("a"), lambda: conversation.reply("b")])

    assert len(conversation.posts) == 1
    assert sorted(str(result if isinstance(result, str) else result["state"]) for result in results) == [
        "rate_limited",
        "sent",
    ]
    assert conversation.rows == 20


@pytest.mark.django_db(transaction=True)
def test_ten_parallel_tasks_for_one_row_dial_once(provider: StandIn, monkeypatch: Any) -> None:
    conversation = open_conversation(provider)
    monkeypatch.setattr(submit, "dispatch", lambda reply_id: None)
    reply = conversation.submit().reply

    taken = in_parallel([lambda: dial_reply(reply.pk)] * 10)

    assert sorted(taken) == [False] * 9 + [True]
    assert len(conversation.posts) == 1


def test_an_ended_row_cannot_be_taken(conversation: Conversation) -> None:
    conversation.reply()

    assert take_reply(conversation.row.pk, now=timezone.now()) is None


def fill(conversation: Conversation, count: int) -> None:
    """Give the todo `count` replies that were sent."""
    first = conversation.submit("first").reply
    for number in range(count - 1):
        first.pk, first.idempotency_key = None, f"key-{number}"
        first.id = Reply._meta.pk.get_default()
        first.save(force_insert=True)
    conversation.server.requests.clear()


def in_parallel(calls: list[Callable[[], Any]]) -> list[Any]:
    """Run the calls in a thread each, started together; a refusal is its code."""
    together = threading.Barrier(len(calls))

    def run(call: Callable[[], Any]) -> Any:
        together.wait()
        try:
            return call()
        except SwitchboardError as refusal:
            return refusal.code
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))


def test_the_result_of_a_call_is_the_one_of_the_contract(conversation: Conversation) -> None:
    shape = reply_result_shape(conversation.submit())

    assert set(shape) == {"reply_id", "state", "duplicate", "display", "permalink", "message"}
