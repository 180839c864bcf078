"""The part of a Celery worker that evaluates: threads that take calls from Redis while the worker runs.

A worker that consumes the queue `evaluate` gets this step; it answers the calls of `routing/remote.py`.
"""

import threading
import time
from collections.abc import Mapping
from typing import Any

import redis
import structlog
from celery import bootsteps

from routing.evaluate import evaluate_here, limits
from routing.remote import answer_call, next_call, take_call
from routing.sandbox.client import Evaluation, Fault

log = structlog.get_logger(__name__)
QUEUE = "evaluate"
PAUSE_SECONDS = 0.5
# Beside the evaluations that may run, calls of one tenant may wait for each other without keeping others waiting.
SPARE = 2


class EvaluationStep(bootsteps.StartStopStep):
    """Starts the threads that take calls, and lets them finish when the worker stops."""

    def __init__(self, parent: Any, **options: Any) -> None:
        super().__init__(parent, **options)
        self.enabled = QUEUE in parent.app.amqp.queues.consume_from
        self._stopping = threading.Event()
        self._threads: list[threading.Thread] = []

    def start(self, _parent: Any) -> None:
        """Begin to take calls."""
        self._stopping.clear()
        self._threads = [
            threading.Thread(target=_serve, args=(self._stopping,), daemon=True) for _ in range(limits().slots + SPARE)
        ]
        for thread in self._threads:
            thread.start()

    def stop(self, _parent: Any) -> None:
        """Take no more calls; the ones that run are answered."""
        self._stopping.set()
        for thread in self._threads:
            thread.join()


def _serve(stopping: threading.Event) -> None:
    while not stopping.is_set():
        try:
            _serve_one()
        except (redis.RedisError, OSError) as error:
            log.warning("evaluation.broker_failed", error=type(error).__name__)
            time.sleep(PAUSE_SECONDS)


def _serve_one() -> None:
    call = next_call()
    content = take_call(call) if call else None
    if call and content is not None:
        answer_call(call, _evaluate(content))


def _evaluate(content: Mapping[str, Any]) -> Evaluation:
    """Evaluate a call; one of another release, which this one cannot read, fails alone and not the thread."""
    try:
        return evaluate_here(**content)
    except Exception:
        log.exception("evaluation.failed")
        return Evaluation(None, (Fault(-1, "sandbox_failure", "the worker could not read the call"),))
