"""An agent as the tests play it: JSON-RPC over the promised path, through Django's asynchronous client."""

import json
from dataclasses import dataclass
from itertools import count
from typing import Any

from asgiref.sync import async_to_sync
from django.test import AsyncClient

from switchboard.accounts.models import Human
from switchboard.accounts.vend import VendedEndpoint
from tests.factories import make_endpoint, make_human

_ids = count(1)


@dataclass(frozen=True)
class Result:
    """One tool result: whether it failed, its structured content and its text as JSON."""

    failed: bool
    content: dict[str, Any] | None
    text: dict[str, Any]

    @property
    def code(self) -> str | None:
        """The error code of a failed call."""
        return self.text["error"]["code"] if self.failed else None


@dataclass(frozen=True)
class Agent:
    """A caller with one endpoint's credential."""

    vended: VendedEndpoint

    @property
    def path(self) -> str:
        return f"/mcp/{self.vended.endpoint.slug}"

    def send(
        self,
        method: str,
        body: Any = b"",
        *,
        path: str | None = None,
        content_type: str = "application/json",
        **headers: str | None,
    ) -> Any:
        """Send one request and return the response; a header of None is left out."""
        sent = {
            "Authorization": f"Bearer {self.vended.credential}",
            "Accept": "application/json, text/event-stream",
            **{name.replace("_", "-"): value for name, value in headers.items()},
        }
        given = {name: value for name, value in sent.items() if value is not None}
        data = body if isinstance(body, bytes) else json.dumps(body).encode()

        async def run() -> Any:
            client = AsyncClient()
            return await client.generic(method, path or self.path, data, content_type=content_type, headers=given)

        return async_to_sync(run)()

    def post(self, body: Any, **options: Any) -> Any:
        """POST one message and return the response."""
        return self.send("POST", body, **options)

    def request(self, method: str, params: dict[str, Any] | None = None, **options: Any) -> dict[str, Any]:
        """Send one JSON-RPC request and return the message that answers it."""
        message = {"jsonrpc": "2.0", "id": next(_ids), "method": method, "params": params or {}}
        answer = json.loads(self.post(message, **options).content)
        assert answer["id"] == message["id"]
        return dict(answer)

    def call(self, tool: str, **arguments: Any) -> Result:
        """Call a tool and return its result; a protocol error fails the test."""
        result = self.request("tools/call", {"name": tool, "arguments": arguments})["result"]
        [block] = result["content"]
        return Result(result["isError"], result.get("structuredContent"), json.loads(block["text"]))

    def get(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool that must succeed and return its structured content."""
        result = self.call(tool, **arguments)
        assert not result.failed, result.text
        assert result.content is not None
        return result.content


def make_agent(human: Human | None = None, *, verbs: Any = "basics", **options: Any) -> Agent:
    """Vend an endpoint, of a new human unless one is given, and return the agent that holds its credential."""
    return Agent(make_endpoint(human or make_human(), verbs=verbs, **options))


def initialize_params(revision: str) -> dict[str, Any]:
    """Return the parameters with which a client of that revision opens."""
    return {"protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
