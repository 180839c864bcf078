"""Wait until a reply has ended, here or in another process, and tell who waits."""

import time
from functools import cache
from typing import cast
from uuid import UUID

import redis
import structlog
from django.conf import settings
from redis.backoff import NoBackoff
from redis.retry import Retry

from replies.models import Reply, ReplyState
from switchboard.database import release_connection

log = structlog.get_logger(__name__)
POLL_SECONDS = 0.2
LISTEN_SECONDS = 2.0
KEPT_SECONDS = 30


def wait_for_end(reply_id: UUID, *, seconds: float, listen: bool = False) -> bool:
    """Return whether the reply has ended, waiting at most `seconds` for that.

    The one who sent the reply to the dialler may `listen` for its word in Redis; everybody else reads the row
    again and again. No database connection is held while waiting.
    """
    ends_at = time.monotonic() + seconds
    while not has_ended(reply_id):
        left = ends_at - time.monotonic()
        if left <= 0:
            return False
        release_connection()
        if not (listen and _listen(reply_id, min(left, LISTEN_SECONDS))):
            time.sleep(min(left, POLL_SECONDS))
    return True


def has_ended(reply_id: UUID) -> bool:
    """Return whether the reply is no longer pending; one that is gone has ended too."""
    return not Reply.objects.filter(pk=reply_id, state=ReplyState.PENDING).exists()


def announce(reply_id: UUID) -> None:
    """Tell whoever listens that the reply has ended; a broker that fails costs the listener two seconds."""
    try:
        pipeline = _connection().pipeline(transaction=False)
        pipeline.rpush(_key(reply_id), "ended")
        pipeline.expire(_key(reply_id), KEPT_SECONDS)
        pipeline.execute()
    except (redis.RedisError, OSError) as error:
        log.error("reply.announce_failed", reply_id=str(reply_id), error=type(error).__name__)


def _listen(reply_id: UUID, seconds: float) -> bool:
    """Wait for the dialler's word; return False when the broker fails."""
    try:
        _connection().blpop([_key(reply_id)], timeout=seconds)
    except (redis.RedisError, OSError) as error:
        log.error("reply.listen_failed", reply_id=str(reply_id), error=type(error).__name__)
        return False
    return True


@cache
def _connection() -> redis.Redis:
    """Return this process's Redis client; a call fails at once instead of trying again."""
    return redis.Redis.from_url(
        cast("str", settings.REDIS_URL),
        socket_timeout=LISTEN_SECONDS + 3,
        socket_connect_timeout=1,
        retry=Retry(NoBackoff(), 0),
    )


def _key(reply_id: UUID) -> str:
    return f"switchboard:reply:{reply_id}:ended"
