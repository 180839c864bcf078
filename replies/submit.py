"""The verb `reply`: refuse or insert one row, have it dialled, and say what became of it (SPEC-0028 REQ-6, REQ-8)."""

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.utils import timezone

from connections.models import Connection
from connections.resolve import resolve_connection
from replies.content import check_secrets, check_text, read_key, text_hash
from replies.dispatch import dispatch
from replies.eligibility import address_of, check_may_reply
from replies.ledger import ABANDONED_AFTER, insert_reply, lock_todo, sweep_replies
from replies.limits import check_limits
from replies.models import Reply
from replies.scan import load_rules
from replies.waiting import wait_for_end
from switchboard.accounts.models import Endpoint
from switchboard.errors import InvalidArgument, NotFound
from switchboard.reply_address import Provider
from switchboard.todos.models import Todo
from switchboard.todos.reading import find_agents_todo

DUPLICATE_SECONDS = 24.5


@dataclass(frozen=True)
class ReplyResult:
    """The row of a call; `duplicate` when an earlier call made it, `other_text` when that one's text was another."""

    reply: Reply
    duplicate: bool
    other_text: bool


def submit_reply(
    *,
    endpoint: Endpoint,
    todo_id: str,
    text: str,
    idempotency_key: str | None = None,
    lease_token: str | None = None,
    now: datetime | None = None,
) -> ReplyResult:
    """Post `text` where the endpoint's todo came from, once for each key, and return the row after at most 25 s.

    A key that already has a row dials nothing and returns that row, also when the todo could not be answered any more
    (REQ-8). Without a key, the same text to the same todo is the same reply. Who holds the todo under a claim with a
    fence presents its `lease_token`. Raises, in this order: NotFound, NoReplyAddress, NotClaimed or ReplyWindowClosed,
    InvalidArgument for the key, NoConnection or TargetNotAllowed, RateLimited (Unavailable while the limits cannot be
    asked), InvalidArgument or SecretDetected for the text, and NoConnection when it was deleted meanwhile. A refused
    call leaves no row.
    """
    moment = now or timezone.now()
    found = find_agents_todo(endpoint=endpoint, todo_id=todo_id)
    load_rules()
    # Durable: the row is committed before anything is dialled. What is judged stays so, because the todo is locked.
    with transaction.atomic(durable=True):
        todo = lock_todo(found.pk)
        address_of(todo)
        earlier = _earlier(todo, idempotency_key, text)
        if earlier is None:
            check_may_reply(todo=todo, endpoint=endpoint, lease_token=lease_token, now=moment)
        reply = earlier or _admit(todo, endpoint, idempotency_key=idempotency_key, text=text, now=moment)
    if earlier is not None:
        return _duplicate(earlier, text)
    dispatch(reply.pk)
    return ReplyResult(_read_again(reply), duplicate=False, other_text=False)


def _earlier(todo: Todo, idempotency_key: str | None, text: str) -> Reply | None:
    """Return the row that the key has already, if any; a malformed key has none."""
    try:
        key = read_key(idempotency_key, todo_id=str(todo.pk), text=text)
    except InvalidArgument:
        return None
    return Reply.objects.filter(todo=todo, idempotency_key=key).first()


def _admit(todo: Todo, endpoint: Endpoint, *, idempotency_key: str | None, text: str, now: datetime) -> Reply:
    """Insert the row of a call that nothing speaks against; the connection is of the todo's own owner scope."""
    key = read_key(idempotency_key, todo_id=str(todo.pk), text=text)
    address = address_of(todo)
    connection = resolve_connection(
        address=address,
        owner_human_id=todo.endpoint.owner_human_id,
        owner_team_id=todo.endpoint.owner_team_id,
        endpoint_id=endpoint.pk,
        tags=todo.reply_tags,
    )
    check_limits(endpoint=endpoint, todo=todo, connection=connection, now=now)
    check_text(text, signature_line=connection.signature_line, provider=address.provider)
    check_secrets(text)
    reply = _reply(todo, endpoint, connection, key=key, text=text, now=now)
    insert_reply(reply)
    return reply


def _reply(todo: Todo, endpoint: Endpoint, connection: Connection, *, key: str, text: str, now: datetime) -> Reply:
    address = address_of(todo)
    return Reply(
        todo=todo,
        endpoint=endpoint,
        owner_human_id=todo.endpoint.owner_human_id,
        owner_team_id=todo.endpoint.owner_team_id,
        connection=connection,
        connection_name=connection.name,
        connection_fingerprint=connection.fingerprint,
        signature_line=connection.signature_line,
        provider=Provider(address.provider),
        account=address.account,
        address_kind=address.kind,
        display=address.display,
        idempotency_key=key,
        text_sha256=text_hash(text),
        text=text,
        created_at=now,
    )


def _duplicate(earlier: Reply, text: str) -> ReplyResult:
    """Return the outcome of the call that came first, waiting for it if it is under way."""
    if earlier.created_at <= timezone.now() - ABANDONED_AFTER:
        sweep_replies()
    wait_for_end(earlier.pk, seconds=DUPLICATE_SECONDS)
    found = _read_again(earlier)
    return ReplyResult(found, duplicate=True, other_text=found.text != text)


def _read_again(reply: Reply) -> Reply:
    found = Reply.objects.filter(pk=reply.pk).first()
    if found is None:
        raise NotFound
    return found
