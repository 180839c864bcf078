"""The Celery application: in process without a broker, on Redis with one."""

import os
from typing import Any

from celery import Celery
from celery.signals import setup_logging, worker_init
from django.conf import settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "switchboard.settings")

app = Celery("switchboard")
app.conf.update(
    broker_url=settings.REDIS_URL or "memory://",
    task_always_eager=settings.REDIS_URL is None,
    task_eager_propagates=True,
    task_ignore_result=True,
    task_store_errors_even_if_ignored=False,
    task_default_queue="default",
    task_routes={"replies.tasks.dial": {"queue": "dial"}},
    task_serializer="json",
    accept_content=["json"],
    task_publish_retry=False,
    task_acks_late=False,
    broker_connection_timeout=1,
    broker_connection_retry_on_startup=True,
    broker_transport_options={
        "socket_timeout": 2,
        "socket_connect_timeout": 1,
        "visibility_timeout": 3600,
    },
    worker_prefetch_multiplier=1,
    worker_hijack_root_logger=False,
    worker_pool_start_method="spawn",
    worker_enable_remote_control=False,
    worker_send_task_events=False,
    beat_schedule={
        "reap-todos": {"task": "switchboard.todos.tasks.reap", "schedule": 10.0, "options": {"expires": 30}},
        "sweep-replies": {"task": "replies.tasks.sweep", "schedule": 15.0, "options": {"expires": 30}},
    },
    timezone="UTC",
)
app.autodiscover_tasks(["switchboard.todos", "replies"])


@worker_init.connect
def _evaluate_rules_too(sender: Any, **_: Any) -> None:
    """Give the worker the step that evaluates rules; Django's models are ready only here."""
    from routing.worker import EvaluationStep  # noqa: PLC0415

    sender.app.steps["consumer"].add(EvaluationStep)


@setup_logging.connect
def _keep_djangos_logging(**_: Any) -> None:
    """Celery would install handlers of its own; Django's logging configuration stands."""
