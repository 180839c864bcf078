"""Queue names: what they may look like."""

import re
from collections.abc import Iterable

from switchboard.errors import InvalidArgument

QUEUE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/-]{0,63}")
RULE = "A queue name is 1 to 64 of A-Z a-z 0-9 . _ : / - and starts with a letter or digit."


def is_queue(name: object) -> bool:
    """Return whether `name` is a well-formed queue name."""
    return isinstance(name, str) and QUEUE.fullmatch(name) is not None


def read_queues(names: object, *, field: str) -> list[str]:
    """Return the distinct queue names of a list, in order; raise InvalidArgument naming `field`."""
    if not isinstance(names, Iterable) or isinstance(names, (str, bytes, dict)):
        raise InvalidArgument(f"{field} must be a list of queue names.", field=field)
    found = list(names)
    if not all(is_queue(name) for name in found):
        raise InvalidArgument(f"{field}: {RULE}", field=field)
    return list(dict.fromkeys(found))
