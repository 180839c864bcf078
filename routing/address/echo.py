"""Read from a verified body what tells our own reply when it comes back (SPEC-0028 REQ-11)."""

from typing import Final

from routing.address import cairn, forge
from routing.document import Document
from routing.fields import Json, mapping_at, text_at, value_at
from switchboard.object_ids import is_slack_id, numbered_id, slack_message_id
from switchboard.source_types import Source

# GitHub numbers comments in the code apart from those in the conversation, so the numbers may be equal.
_REVIEW_COMMENT_PREFIX: Final = "review_comment:"
_CONVERSATION: Final = frozenset({forge.ISSUE_COMMENT, forge.PULL_REQUEST_COMMENT})
_SLACK_MESSAGES: Final = frozenset({"message", "app_mention"})
# https://docs.slack.dev/messaging/formatting-message-text#escaping
_SLACK_ESCAPES: Final = (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"))


def object_id_of(source: Source, document: Document) -> str | None:
    """Return the provider's id of the comment or message that the delivery is about, None if it is about none.

    A forge's or Cairn's comment: its digits; Slack's message: `<channel>:<ts>`; the same after an edit or a
    deletion. Unique within one provider and account (see `account_of`) only.
    """
    body = document.value
    match source:
        case Source.GITHUB | Source.GITEA:
            return _forge_comment_id(body)
        case Source.SLACK:
            return _slack_message_id(mapping_at(body, "event") or {})
        case Source.CAIRN:
            return numbered_id(value_at(body, "data", "comment", "id"))
        case _:
            return None


def account_of(source: Source, document: Document) -> str | None:
    """Return where the delivery comes from: a forge's host, Slack's team id or Cairn's instance, canonical."""
    body = document.value
    match source:
        case Source.GITHUB | Source.GITEA:
            return forge.host_of(body)
        case Source.SLACK:
            return text_at(body, "team_id")
        case Source.CAIRN:
            return cairn.instance_of(body)
        case _:
            return None


def slack_bot_id_of(document: Document) -> str | None:
    """Return the `bot_id` of a Slack event or of the message that it changed, None when a human wrote it."""
    body = document.value
    ids = (text_at(body, "event", "bot_id"), text_at(body, "event", "message", "bot_id"))
    return next((found for found in ids if is_slack_id(found)), None)


def author_of(source: Source, document: Document) -> str | None:
    """Return who wrote the comment or message: a forge's login, Slack's user id, Cairn's actor id."""
    body = document.value
    match source:
        case Source.GITHUB | Source.GITEA:
            return text_at(body, "comment", "user", "login")
        case Source.SLACK:
            return text_at(body, "event", "user") or text_at(body, "event", "message", "user")
        case Source.CAIRN if mapping_at(body, "data", "comment"):
            return text_at(body, "data", "actor_id")
        case _:
            return None


def text_of(source: Source, document: Document) -> str | None:
    """Return the text of the comment or message as its author sent it.

    Slack's three escapes are undone; Cairn cuts a comment at 4,096 bytes.
    """
    body = document.value
    match source:
        case Source.GITHUB | Source.GITEA if forge.shape_of(body) in _CONVERSATION:
            return text_at(body, "comment", "body")
        case Source.SLACK:
            return _unescaped(text_at(body, "event", "text") or text_at(body, "event", "message", "text"))
        case Source.CAIRN:
            return text_at(body, "data", "comment", "body")
        case _:
            return None


def _forge_comment_id(body: Json) -> str | None:
    shape, number = forge.shape_of(body), numbered_id(value_at(body, "comment", "id"))
    if number and shape == forge.REVIEW_COMMENT:
        return f"{_REVIEW_COMMENT_PREFIX}{number}"
    return number if shape in _CONVERSATION else None


def _slack_message_id(event: dict[str, Json]) -> str | None:
    if text_at(event, "type") not in _SLACK_MESSAGES:
        return None
    match event.get("subtype"):
        case "message_changed":
            timestamp = value_at(event, "message", "ts")
        case "message_deleted":
            timestamp = event.get("deleted_ts")
        case _:
            timestamp = event.get("ts")
    return slack_message_id(event.get("channel"), timestamp)


def _unescaped(text: str | None) -> str | None:
    for escape, character in _SLACK_ESCAPES:
        text = text and text.replace(escape, character)
    return text
