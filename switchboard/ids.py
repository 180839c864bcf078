"""Identifiers: time-ordered UUIDs, read strictly."""

import re
from uuid import UUID

from uuid_utils import compat

_CANONICAL = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def new_id() -> UUID:
    """Return a UUID version 7: later ids sort after earlier ones."""
    return compat.uuid7()


UNKNOWN = UUID(int=0)


def parse_id(text: object) -> UUID | None:
    """Return the UUID that `text` spells canonically, else None: a malformed id is an unknown one."""
    return UUID(text) if isinstance(text, str) and _CANONICAL.fullmatch(text) else None


def lookup_id(text: object) -> UUID:
    """Return the UUID to look up for an id from outside: of a malformed one, an id that no row has."""
    return parse_id(text) or UNKNOWN
