"""The doorbell: what it says of a todo, and ringing it once the todo's transaction has committed (contract §7)."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

from django.db import transaction

from switchboard.broadcast import publish
from switchboard.text import one_line
from switchboard.todos.models import Todo

CONTENT_LIMIT = 200
VALUE_LIMIT = 100
# A client shows a doorbell as `<channel meta…>content</channel>`: no value may end that element or an attribute.
_OPENING, _CLOSING = "\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}", "\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}"
_NO_MARKUP = str.maketrans({"<": _OPENING, ">": _CLOSING, "\uff1c": _OPENING, "\uff1e": _CLOSING})
_NO_QUOTE = str.maketrans({'"': "'"})


@dataclass(frozen=True)
class Doorbell:
    """One line for the agent (at most 200 characters), and facts about the todo as short texts."""

    content: str
    meta: dict[str, str]


def doorbell_of(todo: Todo) -> Doorbell:
    """Return the doorbell of a todo read with its event; a delivery that was not verified lends it no words.

    `reply_to` is the kind of the reply address alone: SPEC-0028 REQ-2.
    """
    verified = todo.event.verified
    content = f"Todo waiting in {todo.queue}: {todo.title}" if verified else f"Todo waiting in {todo.queue}"
    meta = {
        "todo_id": str(todo.pk),
        "queue": todo.queue,
        "kind": (todo.kind or todo.label) if verified else "",
        "source": todo.source,
        "reply_to": str(todo.reply_to["kind"]) if verified and todo.reply_to else "",
    }
    return Doorbell(
        content=neutral(content, limit=CONTENT_LIMIT),
        meta={name: neutral(value, limit=VALUE_LIMIT).translate(_NO_QUOTE) for name, value in meta.items() if value},
    )


def neutral(text: str, *, limit: int) -> str:
    """Return `text` on one line of at most `limit` characters, without anything that markup is made of."""
    return one_line(text, limit=limit).translate(_NO_MARKUP)


def ring(todos: Iterable[Todo]) -> None:
    """Once the transaction has committed, tell the open streams that these todos are pending; never fails.

    A stream that does not hear of it finds the todo by its `rung_at`.
    """
    rung = [{"todo_id": str(todo.pk), "endpoint_id": str(todo.endpoint_id), "queue": todo.queue} for todo in todos]
    if rung:
        transaction.on_commit(partial(publish, {"rung": rung}), robust=True)
