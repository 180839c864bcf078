"""What the dialler and the clock do for replies, as Celery runs it."""

from uuid import UUID

from celery import shared_task
from django.conf import settings

from replies.dial import dial_reply
from replies.ledger import sweep_replies
from replies.waiting import announce


@shared_task(name="replies.tasks.dial", ignore_result=True)
def dial(reply_id: str) -> None:
    """Post a reply and tell the one who waits for it."""
    dial_reply(UUID(reply_id))
    if settings.REDIS_URL is not None:
        announce(UUID(reply_id))


@shared_task(name="replies.tasks.sweep", ignore_result=True)
def sweep() -> None:
    """Close the rows that a dead process left behind."""
    sweep_replies()
