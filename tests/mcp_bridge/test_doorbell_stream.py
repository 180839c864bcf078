"""What one stream sends of the bells: the oldest todos first, then each bell once, whatever other streams do."""

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import async_to_sync, sync_to_async
from django.utils import timezone

from mcp_bridge import views
from mcp_bridge.hub import HUB
from mcp_bridge.listener import MOST_WAITING_BELLS, Bell, Listener
from mcp_bridge.stream import doorbell_stream, frame_of
from switchboard.accounts.models import Endpoint
from switchboard.accounts.vend import VendedEndpoint
from switchboard.todos.doorbell import Doorbell, ring
from switchboard.todos.models import Todo
from tests.factories import make_endpoint, make_human, make_todo
from tests.mcp_bridge.agents import make_agent

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


@pytest.fixture(autouse=True)
def _keep_the_tests_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("stream", "authenticate"):
        monkeypatch.setattr(f"mcp_bridge.{module}.close_old_connections", lambda: None)


@pytest.fixture
def vended(db: None) -> VendedEndpoint:
    return make_endpoint(make_human())


def opened(vended: VendedEndpoint) -> AsyncIterator[bytes]:
    return doorbell_stream(vended.endpoint, vended.credential, keep_alive_seconds=0.5, max_age_seconds=30)


def message_of(frame: bytes) -> dict[str, Any]:
    """Return the JSON of one event; fails unless it is framed exactly as promised."""
    event, data, *end = frame.decode().split("\n")
    assert event == "event: message"
    assert end == ["", ""]
    return dict(json.loads(data.removeprefix("data: ")))


def todo_of(frame: bytes) -> str:
    return str(message_of(frame)["params"]["meta"]["todo_id"])


def rung_until_quiet(stream: AsyncIterator[bytes]) -> list[str]:
    """Return the ids of the todos that ring before the first keep-alive."""

    async def run() -> list[str]:
        return [todo_of(frame) async for frame in _bells(stream)]

    return async_to_sync(run)()


async def _bells(stream: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    assert (await anext(stream)).startswith(b"retry: 15000\n:")
    async for chunk in stream:
        if chunk.startswith(b":"):
            return
        yield chunk


async def next_bell(stream: AsyncIterator[bytes]) -> str:
    """Return the id of the next todo that rings."""
    async with asyncio.timeout(5):
        while (chunk := await anext(stream)).startswith(b":"):
            pass
    return todo_of(chunk)


def make_and_ring(endpoint: Endpoint) -> str:
    todo = make_todo(endpoint)
    ring([todo])
    return str(todo.pk)


def test_a_frame_is_one_notification_without_an_id() -> None:
    frame = frame_of(Doorbell("Todo waiting in work: Größe \u2028", {"todo_id": "1", "queue": "work"}))
    assert frame.startswith(b"event: message\ndata: {")
    assert message_of(frame) == {
        "jsonrpc": "2.0",
        "method": "notifications/claude/channel",
        "params": {
            "content": "Todo waiting in work: Größe \u2028",
            "meta": {"todo_id": "1", "queue": "work"},
        },
    }


def test_opening_it_rings_the_three_oldest_pending_todos(vended: VendedEndpoint) -> None:
    waiting = [str(make_todo(vended.endpoint).pk) for _ in range(5)]
    assert rung_until_quiet(opened(vended)) == waiting[:3]
    assert [todo.ring_count for todo in Todo.objects.order_by("pk")] == [1, 1, 1, 0, 0]


def test_opening_it_again_rings_what_is_still_unclaimed(vended: VendedEndpoint) -> None:
    todo = make_todo(vended.endpoint, rung_at=timezone.now() - timedelta(hours=9), ring_count=5)
    assert rung_until_quiet(opened(vended)) == rung_until_quiet(opened(vended)) == [str(todo.pk)]


def test_opening_it_without_a_todo_rings_nothing(vended: VendedEndpoint) -> None:
    make_todo(make_endpoint(make_human("stranger")).endpoint)
    assert rung_until_quiet(opened(vended)) == []


def test_a_todo_that_came_after_the_first_bytes_rings(vended: VendedEndpoint) -> None:
    for _ in range(4):
        make_todo(vended.endpoint)

    async def run() -> list[str]:
        stream = opened(vended)
        await anext(stream)
        todo = await sync_to_async(make_todo)(vended.endpoint)
        rung = [await next_bell(stream) for _ in range(4)]
        assert str(todo.pk) in rung
        return rung

    assert len(set(async_to_sync(run)())) == 4


@pytest.mark.django_db(transaction=True)
def test_each_bell_rings_once_on_every_stream() -> None:
    vended = make_endpoint(make_human())

    async def run() -> None:
        streams = [opened(vended) for _ in range(3)]
        for stream in streams:
            await anext(stream)
            await anext(stream)
        for _ in range(3):
            todo_id = await sync_to_async(make_and_ring)(vended.endpoint)
            assert [await next_bell(stream) for stream in streams] == [todo_id] * 3

    async_to_sync(run)()


@pytest.mark.django_db(transaction=True)
def test_a_stream_that_is_not_read_holds_nobody_up() -> None:
    vended = make_endpoint(make_human())

    async def run() -> None:
        unread, read = opened(vended), opened(vended)
        await anext(unread), await anext(read), await anext(read)
        for _ in range(5):
            todo_id = await sync_to_async(make_and_ring)(vended.endpoint)
            assert await next_bell(read) == todo_id

    async_to_sync(run)()


def test_a_stream_that_is_not_read_keeps_the_newest_bells_only() -> None:
    async def run() -> list[str]:
        listener = Listener(Endpoint(scope_queues=["work"]))
        for number in range(MOST_WAITING_BELLS + 50):
            listener.ring(Bell((Endpoint().pk, timezone.now()), Doorbell(str(number), {})))
        found = []
        while bell := await listener.next_bell(within=0.01):
            found.append(bell.doorbell.content)
        return found

    assert async_to_sync(run)() == [str(number) for number in range(50, MOST_WAITING_BELLS + 50)]


def test_a_stream_that_is_to_end_sends_no_more_bells() -> None:
    async def run() -> None:
        listener = Listener(Endpoint(scope_queues=["work"]))
        listener.ring(Bell((Endpoint().pk, timezone.now()), Doorbell("late", {})))
        listener.end()
        assert await listener.next_bell(within=5) is None

    async_to_sync(run)()


def test_the_watching_thread_ends_with_the_last_stream(vended: VendedEndpoint) -> None:
    async def run() -> None:
        stream = opened(vended)
        await anext(stream)
        thread = HUB._thread
        assert thread is not None
        await stream.aclose()  # type: ignore[attr-defined]
        await asyncio.to_thread(thread.join, 5)
        assert not thread.is_alive()
        assert HUB._thread is None

    async_to_sync(run)()


@pytest.mark.django_db
def test_too_many_openings_are_answered_429(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views, "STREAMS_PER_MINUTE", 2)
    agent, other = make_agent(), make_agent(make_human("other"))
    statuses = [agent.send("GET", Accept="text/event-stream").status_code for _ in range(3)]
    assert statuses == [200, 200, 429]
    assert other.send("GET", Accept="text/event-stream").status_code == 200


@pytest.mark.django_db
def test_too_many_calls_are_answered_429_with_when_to_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views, "CALLS_PER_MINUTE", 2)
    agent = make_agent()
    assert [agent.post(PING).status_code for _ in range(2)] == [200, 200]
    refused = agent.post(PING)
    assert refused.status_code == 429
    assert 1 <= int(refused.headers["Retry-After"]) <= 60
    assert refused.json()["error"] == "rate_limited"
    assert refused.json()["retry_after"] == int(refused.headers["Retry-After"])
