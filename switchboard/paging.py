"""Keyset pages: newest first by time-ordered id, with an opaque cursor and limits that are refused, not clamped."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar
from uuid import UUID

from django.db.models import Model, QuerySet

from switchboard.errors import InvalidArgument

MAX_LIMIT = 200
DEFAULT_LIMIT = 50
Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True)
class Page(Generic[Row]):
    """The rows of one page and the cursor of the next, which is None on the last."""

    rows: Sequence[Row]
    next_cursor: str | None


def page(
    rows: QuerySet[Row], *, limit: object = None, cursor: object = None, default: int = DEFAULT_LIMIT
) -> Page[Row]:
    """Return the page of `rows` behind `cursor`, at most `limit` (1–200) rows, by id descending.

    `limit` may be a whole number or its decimal text; anything else, and a cursor that this function did not
    make, raises InvalidArgument.
    """
    count = read_limit(limit, default=default)
    ordered = rows.order_by("-pk")
    if cursor is not None and cursor != "":
        ordered = ordered.filter(pk__lt=_read_cursor(cursor))
    found = list(ordered[: count + 1])
    following = _write_cursor(found[count - 1].pk) if len(found) > count else None
    return Page(found[:count], following)


def read_limit(limit: object, *, default: int = DEFAULT_LIMIT) -> int:
    """Return `limit` as a number from 1 to 200, `default` when it is None; raise InvalidArgument otherwise."""
    if limit is None:
        return default
    number = int(limit) if isinstance(limit, str) and limit.isascii() and limit.isdigit() and len(limit) < 5 else limit
    if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= MAX_LIMIT:
        raise InvalidArgument(f"limit must be a whole number from 1 to {MAX_LIMIT}.", field="limit")
    return number


def _write_cursor(last: UUID) -> str:
    return base64.urlsafe_b64encode(last.bytes).decode().rstrip("=")


def _read_cursor(cursor: object) -> UUID:
    try:
        raw = base64.b64decode(str(cursor) + "==", altchars=b"-_", validate=True)
    except ValueError:
        raw = b""
    if len(raw) != 16 or _write_cursor(UUID(bytes=raw)) != cursor:
        raise InvalidArgument("cursor must be the next_cursor of an earlier page.", field="cursor")
    return UUID(bytes=raw)
