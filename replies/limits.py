"""How often may be replied: by an endpoint, to a todo, through a connection, for an owner (SPEC-0028 REQ-10)."""

from datetime import datetime
from typing import Final

from connections.models import Connection
from connections.throttling import refuse_while_throttled
from replies.ledger import ABANDONED_AFTER
from replies.models import Reply, ReplyState
from switchboard.accounts.models import Endpoint, Human, Team
from switchboard.accounts.reach import Principal
from switchboard.errors import RateLimited
from switchboard.ratelimit import take
from switchboard.todos.models import Todo

CALLS_PER_MINUTE: Final = 30
BURST: Final = 10
# No waiting lifts a todo's cap, but a refusal says when to ask again: by then an owner may have raised it.
CAP_RETRY_SECONDS: Final = 86_400
# Of the dialler's 32 places: providers that hang for one owner leave room for everybody else.
UNDER_WAY: Final = 8
UNDER_WAY_RETRY_SECONDS: Final = 5


def check_limits(*, endpoint: Endpoint, todo: Todo, connection: Connection, now: datetime) -> None:
    """Raise RateLimited with `retry_after` when a limit is exhausted; one of the endpoint's tokens is taken.

    Call it in the transaction that inserts the reply and has locked the todo: its replies are counted, and so are
    those of its owner that are under way. Raises Unavailable while the shared buckets do not answer.
    """
    refuse_while_throttled(connection, now=now)
    _check_cap(todo)
    take(f"reply:{endpoint.pk}", rate_per_minute=CALLS_PER_MINUTE, burst=BURST)
    _check_under_way(todo, now)


def _check_cap(todo: Todo) -> None:
    """Raise RateLimited when the todo has had all its replies."""
    if Reply.objects.filter(todo=todo).count() >= todo.reply_cap:
        raise RateLimited(
            f"This todo has been answered {todo.reply_cap} times, which is its cap; only its owner can raise it.",
            retry_after=CAP_RETRY_SECONDS,
        )


def _check_under_way(todo: Todo, now: datetime) -> None:
    """Raise RateLimited while as many replies of the todo's owner as may be at once are not answered yet."""
    owner = Principal(human_id=todo.endpoint.owner_human_id, team_id=todo.endpoint.owner_team_id)
    _lock(owner)
    pending = Reply.objects.within_reach(owner).filter(state=ReplyState.PENDING)
    if pending.filter(created_at__gt=now - ABANDONED_AFTER).count() >= UNDER_WAY:
        raise RateLimited(
            f"{UNDER_WAY} replies of this todo's owner are under way; wait until one of them has ended.",
            retry_after=UNDER_WAY_RETRY_SECONDS,
        )


def _lock(owner: Principal) -> None:
    """Let no other reply of the owner be counted or inserted until the transaction ends."""
    if owner.human_id is not None:
        Human.objects.select_for_update(no_key=True).filter(pk=owner.human_id).first()
    if owner.team_id is not None:
        Team.objects.select_for_update(no_key=True).filter(pk=owner.team_id).first()
