"""Write the JSON Schemas of arguments and results in few words."""

from collections.abc import Mapping, Sequence
from typing import Any

Schema = dict[str, Any]

QUEUE = r"^[A-Za-z0-9][A-Za-z0-9._:/-]{0,63}$"


def text(description: str, *, example: str, **keywords: Any) -> Schema:
    """Return the schema of a text argument; `keywords` are further ones, such as `maxLength`."""
    return {"type": "string", "description": description, **keywords, "examples": [example]}


def identifier(description: str, *, example: str = "0192f0c1-8a3e-7c11-9d52-3f6e1b7a4c20") -> Schema:
    """Return the schema of an id. Ids have no bounds: a malformed one is unknown, not a malformed argument."""
    return text(description, example=example)


def choice(description: str, values: Sequence[str]) -> Schema:
    """Return the schema of an argument that is one of `values`."""
    return text(description, example=values[0], enum=list(values))


def queue(description: str, *, example: str = "triage") -> Schema:
    """Return the schema of a queue name."""
    return text(description, example=example, pattern=QUEUE)


def whole_number(description: str, *, low: int, high: int, example: int) -> Schema:
    """Return the schema of a whole number from `low` to `high`."""
    return {
        "type": "integer",
        "description": description,
        "minimum": low,
        "maximum": high,
        "examples": [example],
    }


def flag(description: str) -> Schema:
    """Return the schema of a true-or-false argument."""
    return {"type": "boolean", "description": description, "examples": [True]}


def record(description: str, *, example: Mapping[str, Any], **keywords: Any) -> Schema:
    """Return the schema of an object argument."""
    return {"type": "object", "description": description, **keywords, "examples": [dict(example)]}


def closed(arguments: Mapping[str, Schema], *, required: Sequence[str]) -> Schema:
    """Return the schema of an object with these members and no others."""
    return {
        "type": "object",
        "properties": dict(arguments),
        "required": list(required),
        "additionalProperties": False,
    }


def result(required: Mapping[str, Any], **optional: Any) -> Schema:
    """Return the schema of a result object: its members by JSON type, further ones allowed."""
    members = {**required, **optional}
    return {
        "type": "object",
        "properties": {name: {"type": kind} for name, kind in members.items()},
        "required": list(required),
    }


PAGE: dict[str, Schema] = {
    "limit": whole_number("Rows of a page; 20 when left out.", low=1, high=200, example=50),
    "cursor": text("next_cursor of the page before.", example="AZLwwYo-fBGdUj9uG3pMIA", maxLength=64),
}
