"""What GitHub's and Gitea's bodies share: tell the event by its shape, read the place and the comment."""

from collections.abc import Mapping
from typing import Final

from routing.document import Document
from routing.fields import Json, mapping_at, text_at, value_at
from switchboard.reply_address import ForgeComment, Provider
from switchboard.web_address import read_web_address

# What an event is about stands in its body under these names, and the set of them tells which event it is:
# https://docs.github.com/webhooks/webhook-events-and-payloads
# https://github.com/go-gitea/gitea/blob/main/modules/structs/hook.go
_PARTS: Final = ("issue", "pull_request", "comment", "review", "thread", "discussion")
ISSUE_COMMENT: Final = frozenset({"issue", "comment"})
PULL_REQUEST_COMMENT: Final = frozenset({"issue", "comment", "pull_request"})
REVIEW_COMMENT: Final = frozenset({"pull_request", "comment"})
# The events that can be answered, and where each one's number stands.
_NUMBERED_BY: Final[Mapping[frozenset[str], str]] = {
    frozenset({"issue"}): "issue",
    ISSUE_COMMENT: "issue",
    PULL_REQUEST_COMMENT: "issue",
    frozenset({"pull_request"}): "pull_request",
    frozenset({"pull_request", "review"}): "pull_request",
    REVIEW_COMMENT: "pull_request",
}


def derive_forge_comment(provider: Provider, document: Document) -> ForgeComment | None:
    """Return the issue or pull request that the body is about, None for any other event or an unsafe field."""
    body = document.value
    item = _NUMBERED_BY.get(shape_of(body))
    if item is None:
        return None
    return ForgeComment.of(
        provider=provider,
        host=host_of(body),
        repo=value_at(body, "repository", "full_name"),
        number=value_at(body, item, "number"),
    )


def host_of(body: Json) -> str | None:
    """Return the canonical host of the repository's page, None when that is no plain http(s) URL."""
    page = read_web_address(text_at(body, "repository", "html_url"))
    return page.host if page else None


def shape_of(body: Json) -> frozenset[str]:
    """Return the names of what the body is about; Gitea writes null for what there is not."""
    members = mapping_at(body) or {}
    return frozenset(part for part in _PARTS if members.get(part) is not None)
