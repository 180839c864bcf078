"""How often may be replied: by an endpoint, to a todo, through a connection (SPEC-0028 REQ-10)."""

from datetime import datetime
from typing import Final

from connections.models import Connection
from connections.throttling import refuse_while_throttled
from replies.models import Reply
from switchboard.accounts.models import Endpoint
from switchboard.errors import RateLimited
from switchboard.ratelimit import take
from switchboard.todos.models import Todo

CALLS_PER_MINUTE: Final = 30
BURST: Final = 10
# No waiting lifts a todo's cap, but a refusal says when to ask again: by then an owner may have raised it.
CAP_RETRY_SECONDS: Final = 86_400


def check_limits(*, endpoint: Endpoint, todo: Todo, connection: Connection, now: datetime) -> None:
    """Raise RateLimited with `retry_after` when a limit is exhausted, else take one of the endpoint's tokens.

    Call it while the todo's row is locked: its replies are counted. Raises Unavailable while the shared buckets do not
    answer.
    """
    refuse_while_throttled(connection, now=now)
    _check_cap(todo)
    take(f"reply:{endpoint.pk}", rate_per_minute=CALLS_PER_MINUTE, burst=BURST)


def _check_cap(todo: Todo) -> None:
    """Raise RateLimited when the todo has had all its replies."""
    if Reply.objects.filter(todo=todo).count() >= todo.reply_cap:
        raise RateLimited(
            f"This todo has been answered {todo.reply_cap} times, which is its cap; only its owner can raise it.",
            retry_after=CAP_RETRY_SECONDS,
        )
