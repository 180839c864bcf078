"""Cairn: answer with a comment on the artifact."""

from typing import Final

from routing.document import Document
from routing.fields import Json, text_at, value_at
from switchboard.reply_address import CairnComment
from switchboard.web_address import read_web_address

# Only these are artifact events. A comment's or reaction's kind starts otherwise, and REQ-1 does not list it.
_KIND_PREFIX: Final = "artifact."


def derive(document: Document) -> CairnComment | None:
    """Return the artifact that an `artifact.*` event is about, else None."""
    body = document.value
    if not (text_at(body, "kind") or "").startswith(_KIND_PREFIX):
        return None
    return CairnComment.of(instance=instance_of(body), artifact_id=value_at(body, "data", "id"))


def instance_of(body: Json) -> str | None:
    """Return the scheme and canonical host of the artifact's page, None when that is no plain http(s) URL."""
    page = read_web_address(text_at(body, "data", "url"))
    return page.origin if page else None
