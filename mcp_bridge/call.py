"""Perform one tool call: the grant, the arguments, the use case, and the result or refusal as JSON."""

import json
import time
from dataclasses import dataclass
from typing import Any

import structlog
from django.views.decorators.debug import sensitive_variables

from mcp_bridge.arguments import check_arguments
from mcp_bridge.errors import UnknownTool, internal_shape, new_reference, refusal_shape
from mcp_bridge.registry import TOOLS
from mcp_bridge.tool import Arguments, Tool
from switchboard.accounts.models import Endpoint
from switchboard.accounts.verbs import AllVerbs
from switchboard.errors import Forbidden, SwitchboardError
from switchboard.sealing import Secret

log = structlog.get_logger(__name__)
# Clients parse JSON nested about 200 deep, and the SDK writes no more than 255; a stored payload may be deeper.
MAX_DEPTH = 100


@dataclass(frozen=True)
class Answer:
    """What a call gives back: the result object and the same as JSON text, or the refusal."""

    content: dict[str, Any]
    text: str
    failed: bool


def granted_tools(endpoint: Endpoint) -> list[Tool]:
    """Return the tools of the endpoint's verbs, in the registry's order."""
    return [tool for tool in TOOLS.values() if tool.name in endpoint.scope_verbs]


@sensitive_variables("arguments")
def call_tool(*, endpoint: Endpoint, name: str, arguments: Arguments) -> Answer:
    """Perform the call for `endpoint` and return its answer, whatever happens.

    Raises UnknownTool for a name that is no verb, or the name of a granted verb that this bridge has no tool for.
    """
    if name not in AllVerbs() or (name in endpoint.scope_verbs and name not in TOOLS):
        raise UnknownTool
    started = time.perf_counter()
    answer = _answer(endpoint, name, arguments)
    log.info(
        "tool.called",
        tool=name,
        endpoint_id=str(endpoint.pk),
        code=answer.content["error"]["code"] if answer.failed else "ok",
        milliseconds=round((time.perf_counter() - started) * 1000, 1),
    )
    return answer


@sensitive_variables("arguments")
def _answer(endpoint: Endpoint, name: str, arguments: Arguments) -> Answer:
    try:
        return _performed(endpoint, name, arguments)
    except Exception:
        reference = new_reference()
        log.exception("tool.failed", tool=name, endpoint_id=str(endpoint.pk), reference=reference)
        return _rendered(internal_shape(reference), failed=True)


@sensitive_variables("arguments")
def _performed(endpoint: Endpoint, name: str, arguments: Arguments) -> Answer:
    try:
        return _rendered(_perform(endpoint, name, arguments), failed=False)
    except SwitchboardError as refusal:
        return _rendered(refusal_shape(refusal), failed=True)


@sensitive_variables("arguments")
def _perform(endpoint: Endpoint, name: str, arguments: Arguments) -> dict[str, Any]:
    if name not in endpoint.scope_verbs:
        raise Forbidden(f"This endpoint was not granted the verb {name}; ask its owner for an endpoint that is.")
    tool = TOOLS[name]
    check_arguments(tool, arguments)
    return tool.handler(endpoint, _hidden(tool, arguments))


@sensitive_variables("arguments")
def _hidden(tool: Tool, arguments: Arguments) -> Arguments:
    """Return the arguments with each secret in its wrapping."""
    return {**arguments, **{name: Secret(arguments[name]) for name in tool.secrets if name in arguments}}


def _rendered(content: dict[str, Any], *, failed: bool) -> Answer:
    shown = _flattened(content, MAX_DEPTH) if _is_deeper(content, MAX_DEPTH) else content
    return Answer(shown, json.dumps(shown, ensure_ascii=False, separators=(",", ":"), allow_nan=False), failed)


def _is_deeper(value: object, limit: int) -> bool:
    level = [value]
    for _ in range(limit):
        level = [member for item in level for member in _members(item)]
        if not level:
            return False
    return True


def _members(value: object) -> list[object]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _flattened(value: Any, limit: int) -> Any:
    """Return `value` with every object and list that lies `limit` deep replaced by its JSON text."""
    if not isinstance(value, (dict, list)):
        return value
    if limit == 0:
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, dict):
        return {name: _flattened(member, limit - 1) for name, member in value.items()}
    return [_flattened(member, limit - 1) for member in value]
