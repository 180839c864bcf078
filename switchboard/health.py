"""Whether the process is up, and whether it can do its work."""

from collections.abc import Callable

import redis
import structlog
from django.conf import settings
from django.db import DatabaseError, connection
from django.http import HttpRequest, JsonResponse

log = structlog.get_logger(__name__)


def healthz(_request: HttpRequest) -> JsonResponse:
    """Answer 200 while the process runs."""
    return JsonResponse({"status": "ok"})


def readyz(_request: HttpRequest) -> JsonResponse:
    """Answer 200 when database, broker and sandbox work, else 503; each by name, `ok` or `failed`."""
    checks = {name: _run(name, check) for name, check in CHECKS.items()}
    ready = all(state == "ok" for state in checks.values())
    return JsonResponse({"status": "ok" if ready else "failed", "checks": checks}, status=200 if ready else 503)


def _run(name: str, check: Callable[[], None]) -> str:
    try:
        check()
    except (DatabaseError, redis.RedisError, OSError, NotReady) as error:
        log.error("readiness.failed", check=name, error=type(error).__name__)
        return "failed"
    return "ok"


class NotReady(Exception):
    """A part answers, but wrongly."""


def _database() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


def _broker() -> None:
    if settings.REDIS_URL is not None:
        client = redis.Redis.from_url(settings.REDIS_URL, socket_timeout=1, socket_connect_timeout=1)
        client.ping()
        client.close()


CHECKS: dict[str, Callable[[], None]] = {"database": _database, "broker": _broker}
