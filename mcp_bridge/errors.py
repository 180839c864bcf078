"""Refusals as each layer of the protocol says them: HTTP, JSON-RPC, and the result of a failed tool call."""

import secrets
from collections.abc import Mapping
from typing import Any

from switchboard.errors import SwitchboardError

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
UNSUPPORTED_PROTOCOL_VERSION = -32022


class HttpRefusal(Exception):
    """The request is refused before any tool runs: a status, a JSON body and further headers."""

    def __init__(self, status: int, body: Mapping[str, Any], *, headers: Mapping[str, str] | None = None) -> None:
        self.status = status
        self.body = dict(body)
        self.headers = dict(headers or {})
        super().__init__(status)


class ProtocolRefusal(HttpRefusal):
    """The request is refused as a JSON-RPC error; `request_id` is the message's id where it has a usable one."""

    def __init__(
        self,
        status: int,
        code: int,
        message: str,
        *,
        request_id: str | int | None = None,
        data: Mapping[str, Any] | None = None,
    ) -> None:
        error = {"code": code, "message": message} | ({"data": dict(data)} if data else {})
        super().__init__(status, {"jsonrpc": "2.0", "id": request_id, "error": error})


class UnknownTool(Exception):
    """The call names no tool that this bridge has: a protocol error, not a result."""


def refusal_shape(refusal: SwitchboardError) -> dict[str, Any]:
    """Return the result of a call that was refused: code, message and what else the error carries."""
    return {"error": {"code": refusal.code, "message": refusal.message, **refusal.extra}}


def internal_shape(reference: str) -> dict[str, Any]:
    """Return the result of a call that failed on our side; the log tells more under the reference."""
    message = (
        f"Switchboard failed on its side (reference {reference}). Try once more; if it fails again, give your "
        "operator the reference."
    )
    return {"error": {"code": "internal", "message": message, "reference": reference}}


def new_reference() -> str:
    """Return a short random text that connects an answer with a line of the log."""
    return secrets.token_hex(4)
