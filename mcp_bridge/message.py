"""Read a request's body as exactly one JSON-RPC message, strictly, with a JSON-RPC error for anything else."""

import json
import math
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest

from mcp_bridge.errors import INVALID_REQUEST, PARSE_ERROR, ProtocolRefusal
from switchboard.body import read_body
from switchboard.errors import InvalidArgument, TooLarge

MAX_BODY_BYTES = 1024 * 1024


@dataclass(frozen=True)
class Message:
    """One JSON-RPC message: its bytes as sent, its method (None for a response), its id (None: none)."""

    body: bytes
    method: str | None
    request_id: str | int | None


def read_message(request: HttpRequest) -> Message:
    """Return the request's message; raise ProtocolRefusal (415, 413, parse error or invalid request)."""
    if request.content_type != "application/json":
        raise ProtocolRefusal(415, INVALID_REQUEST, "Send the message as Content-Type: application/json.")
    body = _read_body(request)
    value = _parse(body)
    if isinstance(value, list):
        raise _invalid("Send one message a request; batches are not supported.")
    if not isinstance(value, dict) or value.get("jsonrpc") != "2.0":
        raise _invalid('A message is an object with "jsonrpc": "2.0".')
    return Message(body, _read_method(value), _read_id(value))


def _read_body(request: HttpRequest) -> bytes:
    try:
        return read_body(request, max_bytes=MAX_BODY_BYTES)
    except TooLarge:
        raise ProtocolRefusal(413, INVALID_REQUEST, "The request body is larger than 1 MiB.") from None
    except InvalidArgument:
        raise _unreadable("the body ended early or is malformed") from None


def _parse(body: bytes) -> Any:
    try:
        text = body.decode("utf-8")
        value = json.loads(
            text, parse_float=_finite, parse_constant=_refuse_constant, object_pairs_hook=_without_repeats
        )
        if "\\ud" in text.lower():
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeError:
        raise _unreadable("the text is not valid Unicode") from None
    except RecursionError:
        raise _unreadable("it is nested too deep") from None
    except _Refused as refused:
        raise _unreadable(str(refused)) from None
    except ValueError:
        raise _unreadable("it is not JSON") from None
    return value


class _Refused(ValueError):
    """Something that Python's parser takes for JSON."""


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise _Refused("a number is out of range")
    return number


def _refuse_constant(constant: str) -> float:
    raise _Refused(f"{constant} is not JSON")


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise _Refused("an object names a member twice")
    return members


def _read_id(value: dict[str, Any]) -> str | int | None:
    if "id" not in value:
        return None
    identifier = value["id"]
    if isinstance(identifier, bool) or not isinstance(identifier, (str, int)):
        raise _invalid("id must be a text or a whole number.")
    return identifier


def _read_method(value: dict[str, Any]) -> str | None:
    """Return the method; a message without one must be a response."""
    if "method" not in value:
        if "id" in value and ("result" in value or "error" in value):
            return None
        raise _invalid("A message has a method, or an id with a result or an error.")
    if not isinstance(value["method"], str) or not isinstance(value.get("params", {}), dict):
        raise _invalid("method must be a text and params an object.")
    return str(value["method"])


def _invalid(reason: str) -> ProtocolRefusal:
    return ProtocolRefusal(400, INVALID_REQUEST, f"Invalid request: {reason}")


def _unreadable(reason: str) -> ProtocolRefusal:
    return ProtocolRefusal(400, PARSE_ERROR, f"Parse error: {reason}.")
