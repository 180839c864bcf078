"""Have a reply dialled: by the dialler where there is a broker, else in this process; and wait for its end."""

from uuid import UUID

import redis
import structlog
from django.conf import settings
from django.utils import timezone
from kombu.exceptions import OperationalError

from replies import tasks
from replies.ledger import Ending, end_untaken
from replies.providers.call import ErrorClass
from replies.waiting import wait_for_end

log = structlog.get_logger(__name__)
# Together with what a dial may take (`dial.PATIENCE`) this stays below the 25 s within which a call answers.
PICK_UP_SECONDS = 8
ANSWER_SECONDS = 16.5
NOT_DIALLED = Ending.failed(ErrorClass.NETWORK, "not_dialled")


def dispatch(reply_id: UUID) -> None:
    """Have the committed row dialled and return when it has ended, or after about 25 s.

    A reply that no dialler takes within 8 s is closed as `failed`: nothing was posted, and a message that comes late
    finds the row closed.
    """
    if settings.REDIS_URL is None:
        tasks.dial(str(reply_id))
        return
    patience = PICK_UP_SECONDS if _send(reply_id) else 0
    if wait_for_end(reply_id, seconds=patience, listen=True):
        return
    if end_untaken(reply_id, NOT_DIALLED, now=timezone.now()):
        log.error("reply.not_dialled", reply_id=str(reply_id))
        return
    wait_for_end(reply_id, seconds=ANSWER_SECONDS, listen=True)


def _send(reply_id: UUID) -> bool:
    try:
        tasks.dial.apply_async(args=[str(reply_id)], expires=PICK_UP_SECONDS)
    except (OperationalError, redis.RedisError, OSError) as error:
        log.error("reply.broker_failed", reply_id=str(reply_id), error=type(error).__name__)
        return False
    return True
