"""Read a request body as one strict JSON object: bounded, and never read more leniently than it was written."""

import json
import math
import sys
from typing import Any

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest
from django.http.request import UnreadablePostError

from switchboard.api.errors import UnsupportedMediaType
from switchboard.errors import InvalidArgument, TooLarge

MAX_BODY_BYTES = 1024 * 1024


def read_json_object(http: HttpRequest, *, max_bytes: int = MAX_BODY_BYTES) -> dict[str, Any]:
    """Return the JSON object in the body, `{}` when there is no body.

    Another value, invalid UTF-8, NaN and Infinity, a key twice in one object, endless nesting and integers of
    thousands of digits raise InvalidArgument. A number too large for a double becomes the largest one, as jq
    reads it. Raises TooLarge over `max_bytes` and UnsupportedMediaType.
    """
    body = _read_bytes(http, max_bytes)
    if not body:
        return {}
    if http.content_type != "application/json" or http.headers.get("Content-Encoding"):
        raise UnsupportedMediaType
    value = _parse(body)
    if not isinstance(value, dict):
        raise InvalidArgument("The body must be a JSON object.")
    return value


def _read_bytes(http: HttpRequest, max_bytes: int) -> bytes:
    try:
        body = http.body
    except RequestDataTooBig:
        raise TooLarge from None
    except UnreadablePostError:
        raise InvalidArgument("The body ended early.") from None
    if len(body) > max_bytes:
        raise TooLarge(f"The body may be at most {max_bytes} bytes.")
    return body


def _parse(body: bytes) -> Any:
    try:
        return json.loads(
            body.decode("utf-8"), parse_constant=_refuse, parse_float=_finite, object_pairs_hook=_distinct
        )
    except RecursionError:
        raise InvalidArgument("The body is nested too deeply.") from None
    except ValueError:
        raise InvalidArgument("The body is not valid JSON.") from None


def _refuse(constant: str) -> Any:
    raise ValueError(constant)


def _finite(digits: str) -> float:
    number = float(digits)
    return number if math.isfinite(number) else math.copysign(sys.float_info.max, number)


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise InvalidArgument("The body has a key twice in one object.")
    return found
