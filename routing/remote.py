"""Evaluation in the worker: the web side leaves a call in Redis and waits for the answer that comes back there.

A call's content stands under a key of its own that the worker takes away when it starts, so a call that was given
up is never evaluated; its id stands in a list that the worker's threads wait at. A Celery message for each
delivery would cost more than the evaluation itself.
"""

import json
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import count
from typing import Any, cast

import redis
import structlog
from django.conf import settings
from redis.backoff import NoBackoff
from redis.exceptions import LockError
from redis.lock import Lock
from redis.retry import Retry

from routing.sandbox.client import Evaluation, Fault
from switchboard.ids import new_id

log = structlog.get_logger(__name__)
CALLS = "switchboard:evaluations"
PICK_UP_SECONDS = 1
# Slack gives a delivery three seconds in all.
GIVE_UP_SECONDS = 2.8
TURN_POLL_SECONDS = 0.005
TURNS = 2
_calls = count()
_turns = [threading.Lock() for _ in range(256)]
ANSWER_SECONDS = 10
LISTEN_SECONDS = 2


def evaluate_in_worker(
    *, owner: str, tenant: str, expressions: Sequence[str], params_text: str, envelope_text: str
) -> Evaluation:
    """Return the worker's evaluation; `sandbox_busy` when no worker takes the call within a second.

    A broker that does not answer, or a worker that dies, is `sandbox_failure`: the delivery takes its default.
    """
    call = str(new_id())
    content = {
        "owner": owner,
        "tenant": tenant,
        "expressions": list(expressions),
        "params_text": params_text,
        "envelope_text": envelope_text,
    }
    try:
        with _turn_of(tenant):
            pipeline = connection().pipeline(transaction=False)
            pipeline.set(_call_key(call), json.dumps(content), ex=ANSWER_SECONDS)
            pipeline.rpush(CALLS, call)
            pipeline.execute()
            return _wait(call)
    except LockError:
        return _fault("sandbox_busy")
    except (redis.RedisError, OSError) as error:
        log.error("evaluation.broker_failed", owner=owner, error=type(error).__name__)
        return _fault("sandbox_failure")


def next_call() -> str | None:
    """Wait up to two seconds for a call and return its id."""
    found = cast("tuple[bytes, bytes] | None", connection().blpop([CALLS], timeout=LISTEN_SECONDS))
    return found[1].decode() if found else None


def take_call(call: str) -> dict[str, Any] | None:
    """Take a call's content away, None when it was given up or taken before."""
    content = cast("bytes | None", connection().getdel(_call_key(call)))
    return json.loads(content) if content else None


def answer_call(call: str, evaluation: Evaluation) -> None:
    """Leave the answer where the web side waits for it."""
    faults = [[fault.rule_index, fault.cause, fault.detail] for fault in evaluation.faults]
    pipeline = connection().pipeline(transaction=False)
    pipeline.rpush(_answer_key(call), json.dumps([evaluation.matched, faults]))
    pipeline.expire(_answer_key(call), ANSWER_SECONDS)
    pipeline.execute()


@cache
def connection() -> redis.Redis:
    """Return this process's Redis client; a call fails at once instead of trying again."""
    return redis.Redis.from_url(
        cast("str", settings.REDIS_URL),
        socket_timeout=5,
        socket_connect_timeout=1,
        retry=Retry(NoBackoff(), 0),
    )


@contextmanager
def _turn_of(tenant: str) -> Iterator[None]:
    """Hold one of the tenant's two turns, so that others are not behind many of its calls.

    One call is evaluated while the other is on its way. The threads of a process wait for each other first, so that
    few of them ask Redis. Raises LockError when the turn does not come within a second.
    """
    place = f"{tenant}:{next(_calls) % TURNS}"
    mine = _turns[hash(place) % len(_turns)]
    if not mine.acquire(timeout=PICK_UP_SECONDS):
        raise LockError("another thread has the tenant's turn")
    try:
        with _lock_of(place):
            yield
    finally:
        mine.release()


def _lock_of(place: str) -> Lock:
    key = f"switchboard:evaluation:turn:{place}"
    lock: Lock = connection().lock(
        key, timeout=GIVE_UP_SECONDS + 1, sleep=TURN_POLL_SECONDS, blocking_timeout=PICK_UP_SECONDS, thread_local=False
    )
    return lock


def _wait(call: str) -> Evaluation:
    started = time.monotonic()
    answer = connection().blpop([_answer_key(call)], timeout=PICK_UP_SECONDS)
    if answer is None:
        if connection().getdel(_call_key(call)) is not None:
            connection().lrem(CALLS, 1, call)
            return _fault("sandbox_busy")
        remaining = max(0.1, started + GIVE_UP_SECONDS - time.monotonic())
        answer = connection().blpop([_answer_key(call)], timeout=remaining)
    return _read(answer[1]) if answer else _fault("sandbox_failure")


def _read(answer: bytes | str) -> Evaluation:
    matched, faults = json.loads(answer)
    return Evaluation(matched, tuple(Fault(index, cause, detail) for index, cause, detail in faults))


def _fault(cause: str) -> Evaluation:
    return Evaluation(None, (Fault(-1, cause, None),))


def _call_key(call: str) -> str:
    return f"switchboard:evaluation:{call}"


def _answer_key(call: str) -> str:
    return f"switchboard:evaluation:{call}:answer"
