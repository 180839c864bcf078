"""News between processes: heard at once through Redis, and never a burden when there is none."""

import json
import socket
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest
from pytest_django import Settings

from switchboard import broadcast
from switchboard.broadcast import Message, Subscription, publish, subscribe
from tests.live import free_port

NEWS = {"rung": [{"todo_id": "one"}]}


def heard_by(subscription: Subscription, *, count: int = 1, seconds: float = 5) -> list[Message]:
    """Return the first `count` messages that arrive."""
    ends_at, messages = time.monotonic() + seconds, list[Message]()
    while len(messages) < count and time.monotonic() < ends_at:
        messages += subscription.read(seconds=0.2)
    return messages


@contextmanager
def hanging() -> Iterator[str]:
    """Yield the URL of a Redis that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"redis://127.0.0.1:{server.getsockname()[1]}"


@pytest.fixture
def subscription() -> Iterator[Subscription]:
    with closing(subscribe()) as opened:
        opened.read(seconds=0.05)
        yield opened


def test_every_subscription_hears_what_is_published(subscription: Subscription) -> None:
    with closing(subscribe()) as second:
        second.read(seconds=0.05)
        publish(NEWS)
        assert heard_by(subscription) == heard_by(second) == [NEWS]


def test_many_messages_arrive_in_order(subscription: Subscription) -> None:
    for number in range(300):
        publish({"number": number})
    assert [message["number"] for message in heard_by(subscription, count=300)] == list(range(300))


def test_silence_is_waited_for_as_long_as_was_asked(subscription: Subscription) -> None:
    started = time.monotonic()
    assert subscription.read(seconds=0.3) == []
    assert 0.25 < time.monotonic() - started < 1.5


def test_a_closed_subscription_hears_nothing(subscription: Subscription) -> None:
    subscription.close()
    publish(NEWS)
    assert not subscription.hears_every_process


def test_a_dead_redis_costs_nothing_and_raises_nothing(settings: Settings) -> None:
    settings.REDIS_URL = f"redis://127.0.0.1:{free_port()}"
    started = time.monotonic()
    for _ in range(100):
        publish(NEWS)
    with closing(subscribe()) as deaf:
        assert deaf.read(seconds=0.05) == []
        assert not deaf.hears_every_process
    assert time.monotonic() - started < 1


def test_a_redis_that_hangs_costs_half_a_second_once(settings: Settings) -> None:
    with hanging() as settings.REDIS_URL:
        started = time.monotonic()
        publish(NEWS)
        assert time.monotonic() - started < 1.5
        again = time.monotonic()
        for _ in range(100):
            publish(NEWS)
        assert time.monotonic() - again < 0.1


def test_what_is_no_news_is_left_aside(settings: Settings, subscription: Subscription) -> None:
    if settings.REDIS_URL is None:
        pytest.skip("needs REDIS_URL")
    client = broadcast._client(settings.REDIS_URL)
    for text in ("not JSON", "[]", json.dumps(NEWS)):
        client.publish(broadcast.CHANNEL, text)
    assert heard_by(subscription) == [NEWS]


def test_a_subscription_comes_back_with_redis(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    if settings.REDIS_URL is None:
        pytest.skip("needs REDIS_URL")
    monkeypatch.setattr(broadcast, "QUIET_SECONDS", 0.1)
    with closing(subscribe()) as opened:
        opened.read(seconds=0.05)
        broadcast._client(settings.REDIS_URL).client_kill_filter(_type="pubsub")
        heard_by(opened, seconds=1)
        publish(NEWS)
        assert heard_by(opened) == [NEWS]
