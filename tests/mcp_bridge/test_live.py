"""The whole bridge over real HTTP: the official Python client, raw sockets, and a server that stops."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client

from tests.live import LiveServer, running_server

MAKE_TODOS = """
from switchboard.accounts.models import Endpoint
from tests.factories import make_event, make_todo
endpoint = Endpoint.objects.get(pk=endpoint_id)
events = [make_event(endpoint, title=title, delivery_id=f"{endpoint_id} {title}") for title in titles]
answer = [str(make_todo(endpoint, event=event).pk) for event in events]
"""
REVOKE = """
from django.utils import timezone
from switchboard.accounts.models import Endpoint
answer = Endpoint.objects.filter(pk=endpoint_id).update(revoked_at=timezone.now())
"""
STATE = """
from switchboard.todos.models import Todo
todo = Todo.objects.get(pk=todo_id)
answer = [todo.state, todo.result]
"""
LAST_CHUNK = b"0\r\n\r\n"  # the response is complete
PING = b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}'


@pytest.fixture(scope="module")
def server() -> Iterator[LiveServer]:
    with running_server() as running:
        yield running


@asynccontextmanager
async def connected(agent: dict[str, Any]) -> AsyncIterator[ClientSession]:
    """Yield the official client's session, initialized, with the agent's credential."""
    headers = {"Authorization": f"Bearer {agent['credential']}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=30) as http,
        streamable_http_client(agent["mcp_url"], http_client=http) as (read, write),
        ClientSession(read, write) as session,
    ):
        await session.initialize()
        yield session


def as_client(agent: dict[str, Any], scene: Callable[[ClientSession], Awaitable[None]]) -> None:
    """Play the scene with a connected client."""

    async def play() -> None:
        async with connected(agent) as session:
            await scene(session)

    asyncio.run(play())


def opened(server: LiveServer, head: str, agent: dict[str, Any]) -> socket.socket:
    """Return a socket on which the head of a request has been sent, with the agent's credential."""
    host, _, port = server.base_url.removeprefix("http://").partition(":")
    connection = socket.create_connection((host, int(port)), timeout=20)
    lines = [head, f"Host: {host}:{port}", f"Authorization: Bearer {agent['credential']}", "", ""]
    connection.sendall("\r\n".join(lines).encode())
    return connection


def opened_stream(server: LiveServer, agent: dict[str, Any]) -> socket.socket:
    """Return a socket that has received the first bytes of the agent's stream."""
    stream = opened(server, f"GET /mcp/{agent['slug']} HTTP/1.1\r\nAccept: text/event-stream", agent)
    received = b""
    while b": open" not in received:
        chunk = stream.recv(4096)
        assert chunk
        received += chunk
    assert b"retry: 15000\n" in received
    return stream


def test_an_agent_initializes_lists_claims_and_completes(server: LiveServer) -> None:
    agent = server.vend(name="worker")
    [todo_id] = server.django(MAKE_TODOS, endpoint_id=agent["endpoint_id"], titles=["Mend the fence"])

    async def scene(session: ClientSession) -> None:
        listed = await session.call_tool("list_todos", {})
        assert [row["title"] for row in listed.structured_content["todos"]] == ["Mend the fence"]
        claimed = await session.call_tool("claim_next", {"require_fence": True})
        assert claimed.structured_content["todo"]["id"] == todo_id
        token = claimed.structured_content["lease_token"]
        done = await session.call_tool(
            "complete", {"id": todo_id, "lease_token": token, "result": {"summary": "mended"}}
        )
        assert done.structured_content["todo"]["state"] == "done"
        assert (await session.call_tool("claim_next", {})).structured_content == {"empty": True}

    as_client(agent, scene)
    assert server.django(STATE, todo_id=todo_id) == ["done", {"summary": "mended"}]


def test_the_client_sees_only_the_verbs_of_its_endpoint(server: LiveServer) -> None:
    async def scene(session: ClientSession) -> None:
        tools = (await session.list_tools()).tools
        assert [tool.name for tool in tools] == ["claim_next", "complete"]
        refused = await session.call_tool("delete_webhook", {"webhook_id": "x"})
        assert refused.is_error
        assert "forbidden" in refused.content[0].model_dump()["text"]

    as_client(server.vend(name="narrow", verbs=["claim_next", "complete"]), scene)


def test_many_workers_share_a_queue_without_sharing_a_todo(server: LiveServer) -> None:
    agent = server.vend(name="crowd")
    made = server.django(MAKE_TODOS, endpoint_id=agent["endpoint_id"], titles=[f"Todo {n}" for n in range(8)])

    async def claim() -> str:
        async with connected(agent) as session:
            claimed = await session.call_tool("claim_next", {})
            return str(claimed.structured_content["todo"]["id"])

    async def all_at_once() -> list[str]:
        return await asyncio.gather(*(claim() for _ in made))

    assert sorted(asyncio.run(all_at_once())) == sorted(made)


def test_a_chunked_body_over_a_mebibyte_is_answered_413(server: LiveServer) -> None:
    agent = server.vend(name="chunky")
    head = f"POST /mcp/{agent['slug']} HTTP/1.1\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked"
    connection = opened(server, head, agent)
    block = b"%x\r\n%s\r\n" % (65536, b" " * 65536)
    connection.sendall(block * 17 + b"0\r\n\r\n")
    assert b" 413 " in connection.recv(4096).splitlines()[0]


def test_a_chunked_body_is_read(server: LiveServer) -> None:
    agent = server.vend(name="small-chunks")
    head = (
        f"POST /mcp/{agent['slug']} HTTP/1.1\r\nContent-Type: application/json\r\n"
        "Accept: application/json\r\nTransfer-Encoding: chunked"
    )
    connection = opened(server, head, agent)
    connection.sendall(b"".join(b"1\r\n%c\r\n" % byte for byte in PING) + b"0\r\n\r\n")
    assert b" 200 " in connection.recv(4096).splitlines()[0]


def test_a_lease_outlives_the_session_that_took_it(server: LiveServer) -> None:
    """A session holds nothing: its id from before works in any process, and so does its claim."""
    agent = server.vend(name="patient")
    [todo_id] = server.django(MAKE_TODOS, endpoint_id=agent["endpoint_id"], titles=["Wait"])

    async def claim(session: ClientSession) -> None:
        await session.call_tool("claim", {"id": todo_id})

    async def complete(session: ClientSession) -> None:
        assert not (await session.call_tool("complete", {"id": todo_id})).is_error

    as_client(agent, claim)
    as_client(agent, complete)


def test_a_revoked_credential_ends_its_stream_within_a_minute(server: LiveServer) -> None:
    agent, other = server.vend(name="revoked"), server.vend(name="kept")
    with opened_stream(server, agent) as stream, opened_stream(server, other) as kept:
        server.django(REVOKE, endpoint_id=agent["endpoint_id"])
        stream.settimeout(60)
        assert stream.recv(4096) == LAST_CHUNK
        kept.settimeout(20)
        assert b": keep-alive" in kept.recv(4096)


def test_a_stopping_server_ends_its_streams_at_once() -> None:
    with running_server() as server:
        stream = opened_stream(server, server.vend())
        assert server.stop() < 8
        assert stream.recv(4096) == LAST_CHUNK
        assert "Forcing close" not in server.log()
        assert "Traceback" not in server.log()
