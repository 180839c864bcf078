"""The three who talk to Switchboard: an operator (HTTP API), a producer (signed webhooks), an agent (MCP)."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx2
import requests
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client

from demonstration.deliveries import Delivery

TIMEOUT_SECONDS = 30.0


class CallFailedError(Exception):
    """A request got no answer that can be read; the message says which one and why."""


@dataclass(frozen=True)
class Answer:
    """An HTTP answer: its status and its JSON, an empty object when there is none."""

    status: int
    content: dict[str, Any]


@dataclass(frozen=True)
class Operator:
    """A human who calls the operator API with a bearer token."""

    base_url: str
    token: str

    def call(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Answer:
        """Return the answer of one API call; `path` is below /api/v1. Raises CallFailedError."""
        url, headers = f"{self.base_url}/api/v1{path}", {"Authorization": f"Bearer {self.token}"}
        return _send(method, url, headers=headers, json=body)


def deliver(delivery: Delivery, *, ingest_url: str, secret: str) -> Answer:
    """POST a delivery to a webhook's address as its producer, signed with `secret`; raise CallFailedError."""
    return _send("POST", ingest_url, headers=delivery.headers(secret), data=delivery.body)


def _send(method: str, url: str, **request: Any) -> Answer:
    try:
        with requests.Session() as session:
            session.trust_env = False  # a proxy of the caller's shell has no business here
            response = session.request(method, url, timeout=TIMEOUT_SECONDS, **request)
            return Answer(response.status_code, response.json() if response.content else {})
    except requests.RequestException as error:
        # Neither the address nor the error's own text: both would hold the ingest token.
        raise CallFailedError(f"{method} {url.partition('/w/')[0]}: {type(error).__name__}") from None


@dataclass(frozen=True)
class Result:
    """What a verb answered: its structured content, or the error (`code`, `message`) when it was refused."""

    refused: bool
    content: dict[str, Any]


@dataclass(frozen=True)
class Agent:
    """A connected MCP client: the official one, driven from ordinary code."""

    client: Client
    portal: BlockingPortal

    @property
    def introduction(self) -> str:
        """The server's name and the protocol revision that both agreed on."""
        server = self.client.server_info
        return f"{server.name if server else 'a nameless server'}, MCP {self.client.protocol_version}"

    def verbs(self) -> list[str]:
        """Return the names of the tools that this agent is shown; raise CallFailedError."""
        try:
            return [tool.name for tool in self.portal.call(self.client.list_tools).tools]
        except (MCPError, httpx2.HTTPError) as error:
            raise CallFailedError(f"tools/list: {error}") from None

    def call(self, verb: str, **arguments: Any) -> Result:
        """Return what the verb answered, also when it refused; raise CallFailedError when nothing came back."""
        try:
            result = self.portal.call(self.client.call_tool, verb, arguments)
        except (MCPError, httpx2.HTTPError) as error:
            raise CallFailedError(f"tools/call {verb}: {error}") from None
        if result.is_error:
            return Result(refused=True, content=json.loads(result.content[0].text)["error"])
        return Result(refused=False, content=dict(result.structured_content or {}))


@contextmanager
def connected(mcp_url: str, credential: str) -> Iterator[Agent]:
    """Connect the official MCP client to an endpoint while the block lasts; raise CallFailedError."""
    headers = {"Authorization": f"Bearer {credential}"}
    http_client = httpx2.AsyncClient(headers=headers, timeout=TIMEOUT_SECONDS, trust_env=False)
    client = Client(streamable_http_client(mcp_url, http_client=http_client))
    with start_blocking_portal() as portal:
        try:
            with portal.wrap_async_context_manager(client) as entered:
                yield Agent(entered, portal)
        except (MCPError, httpx2.HTTPError, ExceptionGroup) as error:
            cause = _innermost(error)
            if isinstance(cause, MCPError | httpx2.HTTPError):
                raise CallFailedError(f"MCP at {mcp_url}: {cause}") from None
            raise cause from None


def _innermost(error: Exception) -> Exception:
    """Return what really happened: the client's task groups wrap it, the exceptions of our own block too."""
    return _innermost(error.exceptions[0]) if isinstance(error, ExceptionGroup) else error
