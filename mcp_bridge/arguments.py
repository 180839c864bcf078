"""Check a call's arguments against its tool's schema, and say in one sentence what is wrong."""

from collections.abc import Callable
from typing import Any

from jsonschema import ValidationError

from mcp_bridge.tool import Arguments, Tool
from switchboard.errors import InvalidArgument
from switchboard.text import one_line

_TYPES = {
    "string": "a text",
    "integer": "a whole number",
    "boolean": "true or false",
    "object": "an object",
    "array": "a list",
    "null": "null",
}


def check_arguments(tool: Tool, arguments: Arguments) -> None:
    """Raise InvalidArgument, naming the first argument that does not fit the tool's schema.

    The message never repeats a value: it may be long, or a secret.
    """
    for error in tool.validator.iter_errors(arguments):
        if not error.absolute_path:
            raise _about_the_whole(tool, error, arguments)
        if error.absolute_path[0] not in tool.judged_later:
            raise InvalidArgument(f"{_path(error)} {_demand(error)}.", field=str(error.absolute_path[0]))


def _about_the_whole(tool: Tool, error: ValidationError, arguments: Arguments) -> InvalidArgument:
    """Return the error for an argument that is missing or that the tool does not have."""
    missing = [name for name in tool.required if name not in arguments]
    if error.validator == "required" and missing:
        return InvalidArgument(f"{missing[0]} is missing.", field=missing[0])
    name = one_line(min(set(arguments) - set(tool.arguments), default=""), limit=40)
    known = ", ".join(tool.arguments) or "none"
    return InvalidArgument(f"There is no argument “{name}”; {tool.name} takes: {known}.", field=name)


def _path(error: ValidationError) -> str:
    return ".".join(one_line(str(step), limit=40) for step in error.absolute_path)


def _demand(error: ValidationError) -> str:
    say = _DEMANDS.get(str(error.validator))
    return say(error.validator_value) if say else "does not fit its description"


def _type(kinds: Any) -> str:
    names = [kinds] if isinstance(kinds, str) else list(kinds)
    return f"must be {' or '.join(_TYPES[name] for name in names)}"


_DEMANDS: dict[str, Callable[[Any], str]] = {
    "type": _type,
    "enum": lambda values: f"must be one of {', '.join(values)}",
    "minimum": lambda low: f"must be at least {low}",
    "maximum": lambda high: f"must be at most {high}",
    "maxLength": lambda most: f"may have at most {most} characters",
    "minLength": lambda least: f"must have at least {least} characters",
    "pattern": lambda _: "has a character that is not allowed there, or is too long",
}
