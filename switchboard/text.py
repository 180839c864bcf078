"""Make untrusted text safe to show in one line or to keep in a text column."""

import unicodedata
from typing import Any

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
JOINER = "\N{ZERO WIDTH JOINER}"  # it makes one emoji of several
_UNPRINTABLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def one_line(text: str, *, limit: int) -> str:
    """Return `text` on one line of at most `limit` characters.

    Control and format characters, lone surrogates and NUL become U+FFFD, runs of white space become one
    space, and a text that is too long ends in an ellipsis. PostgreSQL and UTF-8 accept every result.
    """
    spaced = " ".join(text[: limit * 8].split())
    clean = "".join(char if _printable(char) else REPLACEMENT for char in spaced)
    return clean if len(clean) <= limit else clean[: limit - 1].rstrip() + "…"


def _printable(char: str) -> bool:
    return char == JOINER or unicodedata.category(char) not in _UNPRINTABLE


def storable(value: Any) -> Any:
    """Return the JSON value `value` with each NUL and lone surrogate in its strings and keys made U+FFFD.

    PostgreSQL's text and jsonb refuse both; everything else passes unchanged.
    """
    if isinstance(value, str):
        return "".join(REPLACEMENT if char == "\0" or "\ud800" <= char <= "\udfff" else char for char in value)
    if isinstance(value, dict):
        return {storable(key): storable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [storable(item) for item in value]
    return value
