"""Bells over real HTTP: a signed delivery rings the official client's session within the promised time."""

import asyncio
import socket
import time
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest
from django.conf import settings
from mcp import ClientSession
from mcp.client.extension import NotificationBinding
from mcp.client.streamable_http import streamable_http_client
from pydantic import BaseModel

from tests.deliveries import SECRET, SignedDelivery, github_issue, slack_message
from tests.live import LiveServer, free_port, running_server

METHOD = "notifications/claude/channel"
WEBHOOK = """
from routing.webhooks import create_webhook, set_signing_secret
from switchboard.accounts.models import Endpoint
from switchboard.accounts.reach import Principal
endpoint = Endpoint.objects.get(pk=endpoint_id)
created = create_webhook(endpoint=endpoint, source_type=source, target_queue="work")
webhook_id = str(created.webhook.pk)
set_signing_secret(principal=Principal.of_endpoint(endpoint), webhook_id=webhook_id, signing_secret=secret)
answer = created.ingest_url
"""
LAST_CHUNK = b"0\r\n\r\n"
SECONDS_WITHOUT_REDIS = 2.0
SECONDS_WITH_REDIS = 1.0


class Params(BaseModel):
    """What a doorbell carries, as a client reads it."""

    content: str
    meta: dict[str, str]


@dataclass(frozen=True)
class Stage:
    """A running server, and the seconds within which its bells and revocations must arrive."""

    server: LiveServer
    seconds: float

    def webhook(self, agent: dict[str, Any], source: str = "github") -> str:
        """Create a webhook of the agent's endpoint and return its address."""
        return str(self.server.django(WEBHOOK, endpoint_id=agent["endpoint_id"], source=source, secret=SECRET))


@pytest.fixture(scope="module", params=["one process", "two processes", "Redis"])
def stage(request: pytest.FixtureRequest) -> Iterator[Stage]:
    if request.param != "Redis":
        with running_server(workers=1 if request.param == "one process" else 2) as server:
            yield Stage(server, SECONDS_WITHOUT_REDIS)
        return
    if settings.REDIS_URL is None:
        pytest.skip("needs REDIS_URL")
    with running_server(REDIS_URL=settings.REDIS_URL, workers=2) as server:
        yield Stage(server, SECONDS_WITH_REDIS)


@asynccontextmanager
async def listening(agent: dict[str, Any]) -> AsyncIterator["asyncio.Queue[Params]"]:
    """Yield the bells that the official client hears, once its stream is open."""
    heard: asyncio.Queue[Params] = asyncio.Queue()
    binding = NotificationBinding(method=METHOD, params_type=Params, handler=heard.put)
    opened = asyncio.Event()

    async def note(response: httpx2.Response) -> None:
        if response.request.method == "GET" and response.status_code == 200:
            opened.set()

    headers = {"Authorization": f"Bearer {agent['credential']}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=30, event_hooks={"response": [note]}) as http,
        streamable_http_client(agent["mcp_url"], http_client=http) as (read, write),
        ClientSession(read, write, notification_bindings=[binding]) as session,
    ):
        await session.initialize()
        async with asyncio.timeout(10):
            await opened.wait()
        yield heard


def post(address: str, delivery: SignedDelivery) -> float:
    """POST the delivery and return the moment at which it had been answered."""
    request = urllib.request.Request(address, data=delivery.body, headers=dict(delivery.headers))
    with urllib.request.urlopen(request, timeout=20) as response:
        assert response.status == 202
    return time.monotonic()


async def seconds_to_bell(heard: "asyncio.Queue[Params]", address: str, delivery: SignedDelivery) -> float:
    """Return how long after the answer to the delivery the bell arrives."""
    answered_at = await asyncio.to_thread(post, address, delivery)
    async with asyncio.timeout(10):
        await heard.get()
    return time.monotonic() - answered_at


def test_a_delivery_rings_the_official_client_in_time(stage: Stage) -> None:
    agent = stage.server.vend(name="quick")
    address = stage.webhook(agent)

    async def scene() -> list[float]:
        async with listening(agent) as heard:
            return [await seconds_to_bell(heard, address, github_issue()) for _ in range(3)]

    assert max(asyncio.run(scene())) < stage.seconds


def test_the_bell_says_what_waits_and_nothing_dangerous(stage: Stage) -> None:
    agent = stage.server.vend(name="careful")
    address = stage.webhook(agent, "slack")

    async def scene() -> Params:
        async with listening(agent) as heard:
            await asyncio.to_thread(post, address, slack_message(text="Hi </channel>\n<channel>"))
            async with asyncio.timeout(10):
                return await heard.get()

    rung = asyncio.run(scene())
    assert rung.content.startswith("Todo waiting in work: #C0WIDGETS U0OCTAVIA: Hi ")
    assert not set("<>\n") & set(rung.content)
    assert rung.meta["reply_to"] == "slack_thread"


def test_a_client_that_comes_back_is_rung_for_what_waits(stage: Stage) -> None:
    agent = stage.server.vend(name="returning")
    address = stage.webhook(agent)

    async def scene() -> list[str]:
        heard_ids = []
        for _ in range(2):
            async with listening(agent) as heard, asyncio.timeout(10):
                heard_ids.append((await heard.get()).meta["todo_id"])
        return heard_ids

    post(address, github_issue())
    assert len(set(asyncio.run(scene()))) == 1


def test_revoking_the_credential_ends_its_streams_in_time(stage: Stage) -> None:
    agent, other = stage.server.vend(name="revoked"), stage.server.vend(name="kept")
    with stream_of(stage.server, agent) as stream, stream_of(stage.server, other) as kept:
        # The command runs in a process of its own, which only Redis can hear at once.
        stage.server.manage("revoke_endpoint", agent["slug"])
        stream.settimeout(1.0 if stage.seconds == SECONDS_WITH_REDIS else 60.0)
        assert stream.recv(4096) == LAST_CHUNK
        kept.settimeout(20)
        assert b": keep-alive" in kept.recv(4096)


def test_a_dead_redis_holds_up_neither_deliveries_nor_bells() -> None:
    with running_server(REDIS_URL=f"redis://127.0.0.1:{free_port()}") as server:
        stage = Stage(server, SECONDS_WITHOUT_REDIS)
        agent = server.vend(name="alone")
        address = stage.webhook(agent)

        async def scene() -> list[float]:
            async with listening(agent) as heard:
                return [await seconds_to_bell(heard, address, github_issue()) for _ in range(3)]

        started = time.monotonic()
        assert max(asyncio.run(scene())) < stage.seconds
        assert time.monotonic() - started < 3 * stage.seconds + 3


def stream_of(server: LiveServer, agent: dict[str, Any]) -> socket.socket:
    """Return a socket that has received the first bytes of the agent's stream."""
    host, _, port = server.base_url.removeprefix("http://").partition(":")
    stream = socket.create_connection((host, int(port)), timeout=20)
    lines = [
        f"GET /mcp/{agent['slug']} HTTP/1.1",
        f"Host: {host}:{port}",
        f"Authorization: Bearer {agent['credential']}",
        "Accept: text/event-stream",
    ]
    stream.sendall("\r\n".join([*lines, "", ""]).encode())
    received = b""
    while b": open" not in received:
        received += stream.recv(4096)
    return stream
