"""Whether an endpoint may answer a todo at this moment (SPEC-0028 REQ-6)."""

from datetime import datetime, timedelta

from django.conf import settings
from django.utils.crypto import constant_time_compare

from switchboard.accounts.models import Endpoint
from switchboard.errors import NoReplyAddress, NotClaimed, ReplyWindowClosed
from switchboard.reply_address import ReplyAddress, read_reply_address
from switchboard.sealing import hash_token
from switchboard.todos.models import Todo
from switchboard.todos.standing import Standing, standing_of

FINISHED = (Standing.DONE, Standing.WAITING, Standing.DUE, Standing.DEAD)


def address_of(todo: Todo) -> ReplyAddress:
    """Return where an answer to the todo goes; raise NoReplyAddress when it came from no conversation."""
    if todo.reply_to is None:
        raise NoReplyAddress
    return read_reply_address(todo.reply_to)


def check_may_reply(*, todo: Todo, endpoint: Endpoint, lease_token: str | None, now: datetime) -> None:
    """Pass while the endpoint, whose todo it is, holds a live lease, or shortly after it finished the todo.

    `lease_token` must be the one of the present claim, or None when that has none; afterwards it says nothing: the
    fence fell with the claim. The grace window is SWITCHBOARD_REPLY_GRACE_SECONDS. Raises NotClaimed, also for a lease
    that has lapsed or is another session's, or ReplyWindowClosed.
    """
    standing = standing_of(todo, now)
    if standing in FINISHED:
        if not _within_window(todo, endpoint, now):
            raise ReplyWindowClosed
    elif standing is not Standing.HELD:
        raise NotClaimed
    elif not _fits(lease_token, todo):
        raise NotClaimed("The claim is another session's: present the lease_token that the present claim returned.")


def _fits(lease_token: str | None, todo: Todo) -> bool:
    """Tell whether the token is the claim's own, or both are absent; a token for a claim without one is a stale one."""
    if not lease_token or not todo.lease_token_hash:
        return not lease_token and not todo.lease_token_hash
    return lease_token.isascii() and constant_time_compare(hash_token(lease_token), todo.lease_token_hash)


def _within_window(todo: Todo, endpoint: Endpoint, now: datetime) -> bool:
    if todo.finished_at is None or todo.finished_by_id != endpoint.pk:
        return False
    return now <= todo.finished_at + timedelta(seconds=settings.SWITCHBOARD_REPLY_GRACE_SECONDS)
