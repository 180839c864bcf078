"""Strict fields and readers: JSON values and query parameters are taken as they are or refused by name."""

import re
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from typing import Any

from django.views.decorators.debug import sensitive_variables
from rest_framework import serializers
from rest_framework.request import Request

from switchboard.api.json_body import MAX_BODY_BYTES, read_json_object
from switchboard.errors import InvalidArgument
from switchboard.sealing import Secret
from switchboard.text import one_line, storable

_RFC3339 = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,6})?([Zz]|[+-]\d\d:\d\d)", re.ASCII)


class Text(serializers.CharField):
    """A JSON string, taken without trimming; the use case judges its content."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"allow_blank": True, "trim_whitespace": False, **options})

    def to_internal_value(self, data: Any) -> str:
        """Return the string; numbers and booleans are refused."""
        if not isinstance(data, str):
            self.fail("invalid")
        return str(data)


class SecretText(serializers.Field[Secret, str, str, Any]):
    """A JSON string that nothing shows once it is read; the use case judges its content."""

    default_error_messages = {"invalid": "Not a valid string."}

    def to_internal_value(self, data: Any) -> Secret:
        """Return the string in its wrapping; numbers and booleans are refused."""
        if not isinstance(data, str):
            self.fail("invalid")
        return Secret(data)


class Number(serializers.IntegerField):
    """A JSON integer: `true`, `7.0` and `"7"` are refused."""

    def to_internal_value(self, data: Any) -> int:
        """Return the integer."""
        if isinstance(data, bool) or not isinstance(data, int):
            self.fail("invalid")
        return int(data)


class Flag(serializers.BooleanField):
    """A JSON boolean: `1` and `"true"` are refused."""

    def to_internal_value(self, data: Any) -> bool:
        """Return the boolean."""
        if not isinstance(data, bool):
            self.fail("invalid", input=data)
        return data


class Moment(serializers.DateTimeField):
    """An RFC 3339 time with its zone, as a JSON string."""

    default_error_messages = {"rfc3339": "must be an RFC 3339 time with its zone."}

    def to_internal_value(self, value: Any) -> datetime:
        """Return the time in UTC."""
        try:
            if isinstance(value, str) and _RFC3339.fullmatch(value):
                return datetime.fromisoformat(value.upper()).astimezone(UTC)
        except (ValueError, OverflowError):
            pass
        return self.fail("rfc3339")


class Texts(serializers.ListField):
    """A JSON list of strings."""

    child = Text()


class Anything(serializers.JSONField):
    """Any JSON value, null too, which a use case reads."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"allow_null": True, **options})

    def to_internal_value(self, data: Any) -> Any:
        """Return the value as it is."""
        return data


class Nothing(serializers.Serializer[None]):
    """The body of a call that takes no arguments."""


@sensitive_variables()
def read_body(
    request: Request, shape: type[serializers.Serializer[Any]], *, max_bytes: int = MAX_BODY_BYTES
) -> dict[str, Any]:
    """Return the body's fields as `shape` reads them, only those that were sent.

    Raises InvalidArgument naming the field that is unknown, missing or malformed, and TooLarge over `max_bytes`;
    fields that `shape` marks as read-only are ignored.
    """
    sent = read_json_object(request._request, max_bytes=max_bytes)
    reader = shape(data=sent)
    if unknown := sorted(set(sent) - set(reader.fields)):
        name = one_line(unknown[0], limit=64)
        raise InvalidArgument(f"Unknown field “{name}”.", field=name)
    if not reader.is_valid():
        field, problem = next(iter(reader.errors.items()))
        raise InvalidArgument(f"{field}: {_first_sentence(problem)}", field=str(field))
    return dict(reader.validated_data)


def read_query(request: Request, *, allowed: Collection[str]) -> dict[str, str]:
    """Return the query parameters; raise InvalidArgument for one that is unknown, repeated or unprintable."""
    parameters = request.query_params
    for name in parameters:
        shown = one_line(name, limit=64)
        if name not in allowed:
            raise InvalidArgument(f"Unknown query parameter “{shown}”.", field=shown)
        values = parameters.getlist(name)
        if len(values) > 1 or storable(values[0]) != values[0]:
            raise InvalidArgument(f"{shown} must be given once, as plain text.", field=shown)
    return {name: str(parameters[name]) for name in parameters}


def _first_sentence(problem: Any) -> str:
    while not isinstance(problem, str):
        problem = next(iter(problem.values() if isinstance(problem, Mapping) else problem))
    return problem
