"""The rows of replies: inserted before a dial, taken once, ended; and what their todo tells of them."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import structlog
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from connections.models import Connection
from replies.models import Reply, ReplyState
from replies.providers.call import ErrorClass, Identity
from switchboard.errors import NoConnection, NotFound
from switchboard.todos.models import Todo

log = structlog.get_logger(__name__)
ABANDONED_AFTER = timedelta(seconds=60)
SWEEP_BATCH = 500
NOBODY = Identity()


@dataclass(frozen=True)
class Ending:
    """How a reply ended; `identity` is whose credential it was, as far as the provider said."""

    state: ReplyState
    error_class: str = ""
    error_code: str = ""
    object_id: str = ""
    permalink: str = ""
    identity: Identity = NOBODY

    @classmethod
    def failed(cls, error_class: ErrorClass, code: str) -> "Ending":
        """Return the ending of a reply that does not stand."""
        return cls(ReplyState.FAILED, error_class.value, code)

    @classmethod
    def unknown(cls, error_class: ErrorClass, code: str) -> "Ending":
        """Return the ending of a reply that may stand or not."""
        return cls(ReplyState.UNKNOWN, error_class.value, code)


ABANDONED = Ending.unknown(ErrorClass.NETWORK, "interrupted")


def lock_todo(todo_id: UUID) -> Todo:
    """Return the todo with its endpoint, locked until the transaction ends; raise NotFound when it was deleted."""
    todos = Todo.objects.select_related("endpoint").select_for_update(of=("self",))
    todo = todos.filter(pk=todo_id).first()
    if todo is None:
        raise NotFound
    return todo


def insert_reply(reply: Reply) -> None:
    """Insert the row, in the transaction that has locked its todo.

    Raises NoConnection when its connection has been deleted; a deletion from now on waits for the transaction.
    """
    used = reply.connection
    if used is None or not Connection.objects.select_for_update(no_key=True).filter(pk=used.pk):
        raise NoConnection
    reply.save(force_insert=True)
    _tell_todo(reply.todo_id)


def take_reply(reply_id: UUID, *, now: datetime) -> Reply | None:
    """Take the row for dialling; return None when it was taken or ended before, so that it is dialled once."""
    taken = Reply.objects.filter(pk=reply_id, state=ReplyState.PENDING, taken_at=None).update(taken_at=now)
    return Reply.objects.select_related("todo", "endpoint", "connection").get(pk=reply_id) if taken else None


def end_taken(reply: Reply, ending: Ending, *, now: datetime) -> bool:
    """Record the ending of the row that the caller has taken, also after a sweep, and what the connection learnt.

    `reply.connection` is the connection as it was dialled with: whose the former secret was says nothing about one that
    has replaced it meanwhile.
    """
    ended = _end(Reply.objects.filter(pk=reply.pk, taken_at=reply.taken_at), reply.todo_id, ending, now)
    used = reply.connection
    if used is not None:
        identity = {"login": ending.identity.login, "bot_id": ending.identity.bot_id}
        known = {column: value for column, value in identity.items() if value}
        same = Connection.objects.filter(pk=used.pk, secret_sealed=used.secret_sealed)
        same.update(last_used_at=now, **known)
    return ended


def end_untaken(reply_id: UUID, ending: Ending, *, now: datetime) -> bool:
    """Record the ending of a row that nobody has taken; return False when somebody has, or it has ended."""
    rows = Reply.objects.filter(pk=reply_id, state=ReplyState.PENDING, taken_at=None)
    todo_id = rows.values_list("todo_id", flat=True).first()
    return todo_id is not None and _end(rows, todo_id, ending, now)


def sweep_replies(*, now: datetime | None = None, batch: int = SWEEP_BATCH) -> int:
    """Make `unknown` the rows that have been pending for 60 s, at most `batch`; return how many."""
    moment = now or timezone.now()
    left = Reply.objects.filter(state=ReplyState.PENDING, created_at__lte=moment - ABANDONED_AFTER)
    found = list(left.order_by("created_at").values_list("pk", "todo_id")[:batch])
    swept = sum(_end(left.filter(pk=reply_id), todo_id, ABANDONED, moment) for reply_id, todo_id in found)
    if swept:
        log.warning("reply.swept", count=swept, reply_ids=[str(reply_id) for reply_id, _ in found])
    return swept


def _end(rows: QuerySet[Reply], todo_id: UUID, ending: Ending, now: datetime) -> bool:
    columns = {
        "state": ending.state,
        "error_class": ending.error_class,
        "error_code": ending.error_code,
        "object_id": ending.object_id,
        "permalink": ending.permalink,
        "finished_at": now,
    }
    with transaction.atomic():
        # A todo that was deleted took its replies with it.
        Todo.objects.select_for_update().filter(pk=todo_id).first()
        ended = rows.update(**columns)
        if ended:
            _tell_todo(todo_id)
    return bool(ended)


def _tell_todo(todo_id: UUID) -> None:
    """Write the count and the newest reply to the locked todo, for those who may not read this table."""
    replies = Reply.objects.filter(todo=todo_id)
    newest = replies.only("state", "permalink").latest("pk")
    Todo.objects.filter(pk=todo_id).update(
        reply_count=replies.count(), last_reply_state=newest.state, last_reply_permalink=newest.permalink
    )
