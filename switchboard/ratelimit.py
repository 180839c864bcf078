"""Token buckets, shared by every process through Redis, and the caller's address that some of them are keyed on."""

import math
from collections.abc import Iterable, Mapping
from functools import cache
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Any

import structlog
from django.conf import settings
from redis.backoff import NoBackoff
from redis.retry import Retry
from throttled import MemoryStore, RedisStore, Throttled, exceptions, rate_limiter

from switchboard.errors import RateLimited, Unavailable

log = structlog.get_logger(__name__)
KEY_PREFIX = "switchboard:limit"
# A bucket that is pushed out starts full again, so there is room for more callers than one process meets.
BUCKETS_IN_MEMORY = 100_000


def take(bucket: str, *, rate_per_minute: int, burst: int, strict: bool = True) -> None:
    """Take one token of the bucket, which holds `burst` of them and is refilled at `rate_per_minute`.

    Buckets live in Redis when REDIS_URL is set, so the limit holds over all processes and hosts; without it they live
    in this process, which is the only one of an embedded Switchboard. While Redis does not answer, a `strict` limit,
    one that protects a third party or a sign-in, refuses; another falls back to this process's own buckets.

    Raises RateLimited with `retry_after` in whole seconds, at least 1, or Unavailable. SPEC-0028 REQ-10.
    """
    result = _limit(bucket, rate_per_minute, burst, strict=strict)
    if result.limited:
        raise RateLimited(retry_after=max(1, math.ceil(result.state.retry_after)))


def _limit(bucket: str, rate_per_minute: int, burst: int, *, strict: bool) -> rate_limiter.RateLimitResult:
    try:
        return _limiter(settings.REDIS_URL, rate_per_minute, burst).limit(bucket)
    except exceptions.StoreUnavailableError:
        log.error("ratelimit.redis_failed", bucket=bucket, strict=strict)
    if strict:
        raise Unavailable
    return _limiter(None, rate_per_minute, burst).limit(bucket)


@cache
def _limiter(redis_url: str | None, rate_per_minute: int, burst: int) -> Throttled:
    return Throttled(
        using="gcra",
        quota=rate_limiter.per_min(rate_per_minute, burst=burst),
        store=_store(redis_url),
        key_prefix=KEY_PREFIX,
    )


@cache
def _store(redis_url: str | None) -> MemoryStore | RedisStore:
    """Return this process's store; a Redis call fails at once instead of trying again."""
    if redis_url is None:
        return MemoryStore(options={"MAX_SIZE": BUCKETS_IN_MEMORY})
    options = {
        "SOCKET_TIMEOUT": 2,
        "SOCKET_CONNECT_TIMEOUT": 1,
        "CONNECTION_POOL_KWARGS": {"retry": Retry(NoBackoff(), 0)},
    }
    return RedisStore(server=redis_url, options=options)


def client_address(request_meta: Mapping[str, Any], trusted_proxies: Iterable[str]) -> str:
    """Return the address that the request came from, as far as trusted proxies vouch for it.

    `request_meta` is a Django request's META, `trusted_proxies` CIDR networks (SWITCHBOARD_TRUSTED_PROXIES).
    X-Forwarded-For is read from its right end, where the nearest proxy wrote, and only as long as the address that
    wrote it is trusted; a malformed entry ends the walk. The empty text, for a caller on a UNIX socket, is trusted
    by none.
    """
    networks = [ip_network(proxy) for proxy in trusted_proxies]
    nearest = _address(request_meta.get("REMOTE_ADDR", ""))
    hops = str(request_meta.get("HTTP_X_FORWARDED_FOR", "")).split(",")
    while hops and nearest and any(nearest in network for network in networks):
        further = _address(hops.pop())
        if further is None:
            break
        nearest = further
    return str(nearest or "")


def _address(text: str) -> IPv4Address | IPv6Address | None:
    try:
        address = ip_address(text.strip())
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address
