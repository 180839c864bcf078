"""Read one field of an untrusted JSON value, or nothing when it is not what it should be."""

from typing import TypeAlias

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"


def value_at(value: Json, *path: str) -> Json:
    """Return what stands in `value` under the keys of `path`, None where a step is missing or no object."""
    for key in path:
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value


def text_at(value: Json, *path: str) -> str | None:
    """Return the string under `path`, or None; an empty string is a string."""
    found = value_at(value, *path)
    return found if isinstance(found, str) else None


def integer_at(value: Json, *path: str) -> int | None:
    """Return the integer under `path`, or None: `true`, `7.0` and `"7"` are not integers."""
    found = value_at(value, *path)
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def list_at(value: Json, *path: str) -> list[Json] | None:
    """Return the list under `path`, or None."""
    found = value_at(value, *path)
    return found if isinstance(found, list) else None


def mapping_at(value: Json, *path: str) -> dict[str, Json] | None:
    """Return the object under `path`, or None."""
    found = value_at(value, *path)
    return found if isinstance(found, dict) else None
