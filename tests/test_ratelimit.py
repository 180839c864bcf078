"""Token buckets: how many they let through, when they say to come back, and who shares them."""

import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings
from throttled import utils

from switchboard.errors import RateLimited, Unavailable
from switchboard.ids import new_id
from switchboard.ratelimit import client_address, take
from tests import services

# Each process says that it is ready, waits to be told to go, and prints how many of 60 tries went through.
CALLER = """
import sys
import django
django.setup()
from switchboard.errors import RateLimited
from switchboard.ratelimit import take

def passes() -> bool:
    try:
        take(sys.argv[1], rate_per_minute=1, burst=100)
    except RateLimited:
        return False
    return True

print("ready", flush=True)
sys.stdin.readline()
print(sum(passes() for _ in range(60)))
"""


@pytest.fixture
def bucket() -> str:
    return f"test:{new_id()}"


@pytest.fixture(scope="module")
def redis_url() -> Iterator[str]:
    if settings.REDIS_URL:
        yield settings.REDIS_URL
        return
    try:
        with services.redis() as url:
            yield url
    except services.ServiceError as error:
        pytest.skip(str(error))


@pytest.fixture(params=["memory", "redis"])
def _store(request: pytest.FixtureRequest, settings: Any) -> None:
    settings.REDIS_URL = request.getfixturevalue("redis_url") if request.param == "redis" else None


def passes(bucket: str, *, rate_per_minute: int = 1, burst: int = 3) -> bool:
    try:
        take(bucket, rate_per_minute=rate_per_minute, burst=burst)
    except RateLimited:
        return False
    return True


@pytest.mark.usefixtures("_store")
def test_a_bucket_lets_its_burst_through_and_no_more(bucket: str) -> None:
    assert [passes(bucket) for _ in range(5)] == [True, True, True, False, False]


@pytest.mark.usefixtures("_store")
def test_buckets_do_not_share_their_tokens(bucket: str) -> None:
    assert [passes(f"{bucket}:{number}", burst=1) for number in range(3)] == [True, True, True]


@pytest.mark.usefixtures("_store")
def test_a_refusal_says_in_how_many_whole_seconds_a_token_is_there(bucket: str) -> None:
    take(bucket, rate_per_minute=30, burst=1)
    with pytest.raises(RateLimited) as refused:
        take(bucket, rate_per_minute=30, burst=1)
    assert refused.value.extra == {"retry_after": 2}


@pytest.mark.usefixtures("_store")
def test_the_shortest_wait_is_a_second(bucket: str) -> None:
    take(bucket, rate_per_minute=600, burst=1)
    with pytest.raises(RateLimited) as refused:
        take(bucket, rate_per_minute=600, burst=1)
    assert refused.value.extra == {"retry_after": 1}


def test_tokens_come_back_at_the_rate(bucket: str, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.REDIS_URL = None
    now = 1000.0
    monkeypatch.setattr(utils, "now_mono_f", lambda: now)
    assert [passes(bucket, rate_per_minute=30) for _ in range(4)] == [True, True, True, False]
    now += 4.01
    assert [passes(bucket, rate_per_minute=30) for _ in range(3)] == [True, True, False]


def test_four_processes_share_one_bucket_to_the_last_token(bucket: str, redis_url: str) -> None:
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "tests.settings", "REDIS_URL": redis_url}
    callers = [
        subprocess.Popen(
            [sys.executable, "-c", CALLER, bucket],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    for caller in callers:
        assert caller.stdout
        assert caller.stdout.readline() == "ready\n"
    for caller in callers:
        assert caller.stdin
        caller.stdin.write("go\n")
        caller.stdin.flush()
    assert sum(int(caller.communicate(timeout=30)[0]) for caller in callers) == 100


def test_a_strict_limit_refuses_while_redis_is_down(bucket: str, settings: Any) -> None:
    settings.REDIS_URL = f"redis://127.0.0.1:{services.free_port()}/0"
    with pytest.raises(Unavailable):
        take(bucket, rate_per_minute=1, burst=3)


def test_another_limit_holds_in_each_process_while_redis_is_down(bucket: str, settings: Any) -> None:
    settings.REDIS_URL = f"redis://127.0.0.1:{services.free_port()}/0"
    for _ in range(3):
        take(bucket, rate_per_minute=1, burst=3, strict=False)
    with pytest.raises(RateLimited):
        take(bucket, rate_per_minute=1, burst=3, strict=False)


@pytest.mark.parametrize(
    ("remote", "forwarded", "expected"),
    [
        ("203.0.113.7", None, "203.0.113.7"),
        ("203.0.113.7", "198.51.100.1", "203.0.113.7"),
        ("10.0.0.1", None, "10.0.0.1"),
        ("10.0.0.1", "198.51.100.1", "198.51.100.1"),
        ("10.0.0.1", "1.1.1.1, 198.51.100.1", "198.51.100.1"),
        ("10.0.0.1", "1.1.1.1, 198.51.100.1, 10.0.0.2", "198.51.100.1"),
        ("10.0.0.1", "10.0.0.3,10.0.0.2", "10.0.0.3"),
        ("10.0.0.1", "198.51.100.1, unknown, 10.0.0.2", "10.0.0.2"),
        ("10.0.0.1", "", "10.0.0.1"),
        ("::ffff:10.0.0.1", "::ffff:198.51.100.1", "198.51.100.1"),
        ("fd00::1", "2001:db8::0007", "2001:db8::7"),
        ("", "198.51.100.1", ""),
    ],
)
def test_only_a_trusted_proxy_says_where_a_request_came_from(remote: str, forwarded: str | None, expected: str) -> None:
    meta = {"REMOTE_ADDR": remote} | ({} if forwarded is None else {"HTTP_X_FORWARDED_FOR": forwarded})
    assert client_address(meta, ("10.0.0.0/8", "fd00::/8")) == expected


def test_nobody_is_believed_when_no_proxy_is_trusted() -> None:
    assert client_address({"REMOTE_ADDR": "10.0.0.1", "HTTP_X_FORWARDED_FOR": "1.1.1.1"}, ()) == "10.0.0.1"
