"""The doorbell stream: what opens it, what keeps it, and what ends it."""

import time
from collections.abc import AsyncIterator
from functools import partial

import pytest
from asgiref.sync import async_to_sync
from django.utils import timezone

from mcp_bridge.stream import KEEP_ALIVE_SECONDS, MAX_AGE_SECONDS, doorbell_stream
from switchboard.accounts.models import Endpoint
from tests.mcp_bridge.agents import Agent, make_agent

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def given_back(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Keep the test's own connection open, and note when the stream would have given it back."""
    noted: list[str] = []
    for module in ("stream", "authenticate"):
        monkeypatch.setattr(f"mcp_bridge.{module}.close_old_connections", partial(noted.append, module))
    return noted


def stream_of(agent: Agent, **clocks: float) -> AsyncIterator[bytes]:
    return doorbell_stream(agent.vended.endpoint, agent.vended.credential, **clocks)


def collect(stream: AsyncIterator[bytes]) -> list[bytes]:
    """Return all chunks of a stream, once it has ended."""

    async def run() -> list[bytes]:
        return [chunk async for chunk in stream]

    return async_to_sync(run)()


def first_of(stream: AsyncIterator[bytes]) -> bytes:
    async def run() -> bytes:
        return await anext(aiter(stream))

    return async_to_sync(run)()


def test_the_first_bytes_say_when_to_come_back() -> None:
    response = make_agent().send("GET", Accept="text/event-stream")
    assert response.status_code == 200
    assert first_of(response.streaming_content).startswith(b"retry: 15000\n:")


def test_the_stream_is_neither_cached_nor_buffered() -> None:
    response = make_agent().send("GET", Accept="text/event-stream")
    assert response.headers["Content-Type"] == "text/event-stream"
    assert response.headers["Cache-Control"] == "no-cache, no-transform"
    assert response.headers["X-Accel-Buffering"] == "no"


def test_a_client_that_takes_no_event_stream_is_answered_406() -> None:
    assert make_agent().send("GET", Accept="application/json").status_code == 406


def test_a_comment_keeps_it_alive_until_its_age_ends_it() -> None:
    started = time.monotonic()
    opening, *rest = collect(stream_of(make_agent(), keep_alive_seconds=0.1, max_age_seconds=0.45))
    assert opening.startswith(b"retry: 15000\n")
    assert len(rest) >= 2
    assert all(chunk.startswith(b":") and chunk.endswith(b"\n\n") for chunk in rest)
    assert time.monotonic() - started < 2


def test_no_database_connection_is_held_while_it_waits(given_back: list[str]) -> None:
    stream = stream_of(make_agent(), keep_alive_seconds=0.05, max_age_seconds=30)

    async def run() -> None:
        await anext(stream)
        assert given_back == ["stream"]
        await anext(stream)
        assert given_back == ["stream", "stream", "authenticate"]

    async_to_sync(run)()


def test_its_clocks_are_those_of_the_contract() -> None:
    assert 15 <= KEEP_ALIVE_SECONDS <= 20
    assert MAX_AGE_SECONDS == 900


def test_a_revoked_credential_ends_it_at_the_next_keep_alive() -> None:
    agent = make_agent()
    Endpoint.objects.update(revoked_at=timezone.now())
    chunks = collect(stream_of(agent, keep_alive_seconds=0.05, max_age_seconds=30))
    assert len(chunks) == 1


def test_several_streams_of_one_endpoint_live_side_by_side() -> None:
    agent = make_agent()

    async def run() -> bool:
        older = stream_of(agent, keep_alive_seconds=0.05, max_age_seconds=30)
        newer = stream_of(agent, keep_alive_seconds=0.05, max_age_seconds=30)
        await anext(older), await anext(newer)
        return (await anext(older)).startswith(b":") and (await anext(newer)).startswith(b":")

    assert async_to_sync(run)()
