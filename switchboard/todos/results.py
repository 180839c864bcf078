"""The result that a finished todo may carry: any JSON value that both databases can keep."""

import json
import math
from collections.abc import Iterable

from switchboard.errors import InvalidArgument

MAX_RESULT_BYTES = 64 * 1024
MAX_RESULT_DEPTH = 64


def read_result(value: object) -> object:
    """Return the JSON value `value`, which is at most 64 KiB of UTF-8 in its compact form, nested 64 deep at most.

    Raises InvalidArgument naming `result` for anything else: NUL, a lone surrogate and a number that is not finite
    are JSON values that PostgreSQL cannot keep.
    """
    if not _is_storable(value):
        raise InvalidArgument(
            "result must be a JSON value without NUL, lone surrogates and non-finite numbers, "
            f"nested at most {MAX_RESULT_DEPTH} deep.",
            field="result",
        )
    if _encoded_size(value) > MAX_RESULT_BYTES:
        raise InvalidArgument(
            f"result must be at most {MAX_RESULT_BYTES} bytes of JSON; store more elsewhere and give its address.",
            field="result",
        )
    return value


def _is_storable(value: object, depth: int = 0) -> bool:
    match value:
        case str():
            return not any(letter == "\0" or "\ud800" <= letter <= "\udfff" for letter in value)
        case float():
            return math.isfinite(value)
        case dict():
            texts = all(isinstance(key, str) and _is_storable(key) for key in value)
            return texts and _are_storable(value.values(), depth + 1)
        case list():
            return _are_storable(value, depth + 1)
    return value is None or isinstance(value, (bool, int))


def _are_storable(values: Iterable[object], depth: int) -> bool:
    return depth <= MAX_RESULT_DEPTH and all(_is_storable(value, depth) for value in values)


def _encoded_size(value: object) -> int:
    try:
        return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())
    except ValueError:  # a whole number of more digits than Python writes out
        return MAX_RESULT_BYTES + 1
