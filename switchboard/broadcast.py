"""Tell the other processes that something has happened: through Redis where there is one, else within this process.

A message is a hint: it may be lost, and nobody waits for it to arrive.
"""

import json
import queue
import time
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Protocol

import redis
import structlog
from django.conf import settings
from redis.backoff import NoBackoff
from redis.client import PubSub
from redis.retry import Retry

log = structlog.get_logger(__name__)
Message = Mapping[str, Any]
CHANNEL = "switchboard:news"
# A Redis that hangs costs one sender half a second, and nobody anything for the next five.
TIMEOUT_SECONDS = 0.5
QUIET_SECONDS = 5.0
MOST_AT_ONCE = 200


class Subscription(Protocol):
    """One reader of all messages."""

    @property
    def hears_every_process(self) -> bool:
        """Whether messages of other processes arrive here at the moment."""

    def read(self, *, seconds: float) -> list[Message]:
        """Return what has arrived, after waiting at most about `seconds` for the first; never raises."""

    def close(self) -> None:
        """Hear nothing any more."""


def publish(message: Message) -> None:
    """Send a small JSON object to every subscription; never raises and takes about half a second at most."""
    if settings.REDIS_URL is None:
        for heard in tuple(_heard_here):
            heard.put(message)
        return
    _sender(settings.REDIS_URL).send(message)


def subscribe() -> Subscription:
    """Return a new subscription; it has to be closed by the one who reads it."""
    return _HeardHere() if settings.REDIS_URL is None else _HeardThroughRedis(settings.REDIS_URL)


_heard_here: "set[queue.SimpleQueue[Message]]" = set()


class _HeardHere:
    """The messages of this process alone."""

    hears_every_process = False

    def __init__(self) -> None:
        self._heard: queue.SimpleQueue[Message] = queue.SimpleQueue()
        _heard_here.add(self._heard)

    def read(self, *, seconds: float) -> list[Message]:
        """Return the messages; see Subscription."""
        try:
            messages = [self._heard.get(timeout=seconds)]
        except queue.Empty:
            return []
        while len(messages) < MOST_AT_ONCE and not self._heard.empty():
            messages.append(self._heard.get())
        return messages

    def close(self) -> None:
        """Stop listening."""
        _heard_here.discard(self._heard)


class _HeardThroughRedis:
    """The messages of every process; while Redis does not answer, none."""

    def __init__(self, redis_url: str) -> None:
        self._client = _client(redis_url)
        self._subscribed: PubSub | None = None
        self._quiet_until = 0.0

    @property
    def hears_every_process(self) -> bool:
        """Whether the subscription stands."""
        return self._subscribed is not None

    def read(self, *, seconds: float) -> list[Message]:
        """Return the messages; see Subscription."""
        try:
            if self._subscribed is None:
                return self._subscribe(seconds)
            return list(_arrived(self._subscribed, seconds))
        except (redis.RedisError, OSError) as error:
            log.error("broadcast.not_heard", error=type(error).__name__)
            self.close()
            self._quiet_until = time.monotonic() + QUIET_SECONDS
            return []

    def close(self) -> None:
        """Give the connection back."""
        if self._subscribed is not None:
            self._subscribed.close()
            self._subscribed = None

    def _subscribe(self, seconds: float) -> list[Message]:
        """Subscribe and return at once, so that the reader can look for what it missed; wait while Redis is down."""
        if time.monotonic() < self._quiet_until:
            time.sleep(seconds)
            return []
        subscribed: PubSub = self._client.pubsub(ignore_subscribe_messages=True)  # type: ignore[no-untyped-call]
        subscribed.subscribe(CHANNEL)
        self._subscribed = subscribed
        return []


def _arrived(subscribed: PubSub, seconds: float) -> Iterator[Message]:
    """Yield the messages that have arrived, after waiting for the first."""
    ends_at = time.monotonic() + seconds
    for _ in range(MOST_AT_ONCE):
        received = subscribed.get_message(timeout=max(0.0, ends_at - time.monotonic()))
        message = _read_message(received)
        if message is not None:
            ends_at = 0.0
            yield message
        elif time.monotonic() >= ends_at:
            return


def _read_message(received: Any) -> Message | None:
    try:
        message = json.loads(received["data"]) if received else None
    except ValueError:
        return None
    return message if isinstance(message, dict) else None


class _Sender:
    """What this process publishes through Redis; it is left alone for a while when it fails."""

    def __init__(self, redis_url: str) -> None:
        self._client = _client(redis_url)
        self._quiet_until = 0.0

    def send(self, message: Message) -> None:
        """Publish the message, unless Redis failed a moment ago."""
        if time.monotonic() < self._quiet_until:
            return
        try:
            self._client.publish(CHANNEL, json.dumps(message))
        except (redis.RedisError, OSError) as error:
            self._quiet_until = time.monotonic() + QUIET_SECONDS
            log.error("broadcast.not_sent", error=type(error).__name__)


@cache
def _sender(redis_url: str) -> _Sender:
    return _Sender(redis_url)


def _client(redis_url: str) -> redis.Redis:
    """Return a client whose calls fail at once instead of trying again."""
    return redis.Redis.from_url(
        redis_url,
        socket_timeout=TIMEOUT_SECONDS,
        socket_connect_timeout=TIMEOUT_SECONDS,
        retry=Retry(NoBackoff(), 0),
    )
