"""The queue's periodic work, as Celery runs it."""

from celery import shared_task

from switchboard.todos import lifecycle


@shared_task(name="switchboard.todos.tasks.reap", ignore_result=True)
def reap() -> None:
    """End lapsed leases and make due retries pending again."""
    lifecycle.reap()
