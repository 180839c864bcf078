"""Name a delivery for people: a short label and a one-line title, whatever the body holds."""

from dataclasses import dataclass
from typing import Final

from routing.fields import Json, text_at
from switchboard.text import one_line

LABEL_LIMIT: Final = 100
TITLE_LIMIT: Final = 200


@dataclass(frozen=True)
class Description:
    """`label` says what happened (`issues.opened`), `title` to what; one line each, never empty, storable."""

    label: str
    title: str


def describe_as(source: str, *, label: str | None, headline: str | None) -> Description:
    """Build a description; what is missing or blank becomes `delivery` and `<source> <label>`."""
    name = one_line(label or "", limit=LABEL_LIMIT) or "delivery"
    title = one_line(headline or "", limit=TITLE_LIMIT) or f"{source} {name}"
    return Description(label=name, title=title)


def phrase_at(value: Json, *path: str) -> str | None:
    """Return the string under `path` on one line, None when it is absent or blank."""
    return one_line(text_at(value, *path) or "", limit=TITLE_LIMIT) or None


def joined(*parts: str | None, by: str = " ") -> str:
    """Join the parts that there are."""
    return by.join(part for part in parts if part)
