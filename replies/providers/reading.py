"""Read a provider's answer without trusting it: JSON, statuses, waiting times, links."""

import json
import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final

from replies.providers.call import ErrorClass, Failed, ProviderAnswer, Unclear
from switchboard.reply_address import ReplyAddress
from switchboard.web_address import read_web_address

MAX_RETRY_AFTER_SECONDS: Final = 86_400
UNREADABLE: Final = "unreadable_answer"
NO_OBJECT_ID: Final = "no_object_id"
_CLASSES: Final[Mapping[int, ErrorClass]] = {
    401: ErrorClass.AUTH,
    403: ErrorClass.FORBIDDEN,
    404: ErrorClass.NOT_FOUND,
    410: ErrorClass.NOT_FOUND,
    423: ErrorClass.FORBIDDEN,
    429: ErrorClass.RATE_LIMITED,
    451: ErrorClass.FORBIDDEN,
}
_CODE = re.compile(r"[a-z][a-z0-9_]{0,63}")
_SECONDS = re.compile(r"(-?)([0-9]+)(?:\.([0-9]+))?")


def json_object(answer: ProviderAnswer) -> dict[str, Any]:
    """Return the JSON object in the answer's body, an empty one when it holds anything else."""
    try:
        value = json.loads(answer.body.decode("utf-8"))
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def member(value: object, *path: str) -> object:
    """Return what stands in `value` under the keys of `path`, None where a step is missing or no object."""
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def name_at(value: object, *path: str) -> str | None:
    """Return the printable text of 1 to 200 characters under `path`, else None."""
    found = member(value, *path)
    return found if isinstance(found, str) and found.isprintable() and 0 < len(found) <= 200 else None


def code_at(value: object, *path: str) -> str | None:
    """Return a provider's error code, None for anything that does not look like one: prose stays out of rows."""
    found = member(value, *path)
    return found if isinstance(found, str) and _CODE.fullmatch(found) else None


def failure(
    answer: ProviderAnswer, *, now: datetime, error_class: ErrorClass | None = None, code: str | None = None
) -> Failed:
    """Return what an unsuccessful answer means, by its status unless told better; `now` is an aware time."""
    found = error_class or class_of(answer.status)
    waiting = retry_after(answer, now=now) if found is ErrorClass.RATE_LIMITED else None
    return Failed(found, code or f"http_{answer.status}", waiting)


def unsuccessful(answer: ProviderAnswer, failed: Failed) -> Failed | Unclear:
    """Return the failure of a call that posts: after a 5xx the post may have been made all the same (REQ-8)."""
    refused = 300 <= answer.status < 500
    return failed if refused else Unclear(ErrorClass.SERVER, failed.code)


def class_of(status: int) -> ErrorClass:
    """Return the error class of an HTTP status; a redirect is `invalid`, because it is not followed (REQ-7)."""
    if status >= 500 or status < 300:
        return ErrorClass.SERVER
    return _CLASSES.get(status, ErrorClass.INVALID)


def retry_after(answer: ProviderAnswer, *, now: datetime) -> int | None:
    """Return the Retry-After header in whole seconds from 0 to a day, None when it is absent or says nothing.

    https://www.rfc-editor.org/rfc/rfc9110#field.retry-after: seconds or an HTTP date.
    """
    text = answer.headers.get("retry-after", "").strip()
    parts = _SECONDS.fullmatch(text)
    if not parts:
        return _seconds_until(text, now)
    negative, whole, fraction = parts.groups()
    if negative:
        return 0
    return (
        clamped(int(whole) + (1 if (fraction or "").strip("0") else 0)) if len(whole) < 9 else MAX_RETRY_AFTER_SECONDS
    )


def clamped(seconds: float) -> int:
    """Return a waiting time in whole seconds from 0 to a day."""
    return math.ceil(min(max(seconds, 0), MAX_RETRY_AFTER_SECONDS))


def permalink(value: object, *, address: ReplyAddress, api_base: str) -> str | None:
    """Return a link to the reply if it leads to the address's host over https, else None.

    Plain http passes only to the very origin that the connection calls, so where an operator allowed it.
    """
    page, called = read_web_address(value), read_web_address(api_base)
    if page is None or page.host != address.account:
        return None
    trusted = page.scheme == "https" or (called is not None and called.origin == page.origin)
    return str(value) if trusted else None


def _seconds_until(text: str, now: datetime) -> int | None:
    try:
        moment = parsedate_to_datetime(text)
        aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return clamped((aware - now).total_seconds())
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
