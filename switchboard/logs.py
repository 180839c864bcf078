"""Structured logs: one JSON line an event, with the request's id, and never a token."""

import logging
import re
import secrets
import time
from collections.abc import Awaitable, Callable
from typing import Any, cast

import structlog
from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest, HttpResponseBase
from django.utils.decorators import sync_and_async_middleware

_SLASH = r"(?:\\?/|%(?:25)*2[Ff])"
# No word boundary before a prefix: an escape such as \n or %3D may end in a letter or digit.
TOKENS = re.compile(
    rf"(webhooks{_SLASH}w{_SLASH})[^/\s?\"'\\]+|(sbk?_)[A-Za-z0-9_-]{{16,}}|(whsec_)(?:[A-Za-z0-9+/=_%-]|\\/){{8,}}"
)
log = structlog.get_logger("switchboard.request")


def redact_tokens(text: str) -> str:
    """Return `text` with every ingest token, credential and webhook secret made unreadable."""
    return TOKENS.sub(lambda found: f"{found[1] or found[2] or found[3]}«redacted»", text)


class TokenFreeFormatter(structlog.stdlib.ProcessorFormatter):
    """The last step of every log line, of ours and of any library: no token leaves the process."""

    def format(self, record: logging.LogRecord) -> str:
        return redact_tokens(super().format(record))


_SHARED: list[Any] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_logger_name,
    structlog.stdlib.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.processors.StackInfoRenderer(),
]


def logging_config(*, debug: bool) -> dict[str, Any]:
    """Return Django's LOGGING: JSON lines on standard error, people's lines while debugging."""
    renderer: Any = structlog.dev.ConsoleRenderer() if debug else structlog.processors.JSONRenderer()
    structlog.configure(
        processors=[*_SHARED, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
    processors: list[Any] = [structlog.stdlib.ProcessorFormatter.remove_processors_meta]
    if not debug:
        processors.append(structlog.processors.format_exc_info)
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "line": {
                "()": TokenFreeFormatter,
                "processors": [*processors, renderer],
                "foreign_pre_chain": _SHARED,
            }
        },
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
        "root": {"handlers": ["stderr"], "level": "INFO"},
        "loggers": {
            "django": {"handlers": [], "level": "INFO", "propagate": True},
            "django.server": {"handlers": [], "level": "WARNING", "propagate": True},
            "mcp": {"level": "WARNING"},
            "django.security.DisallowedHost": {"handlers": [], "level": "CRITICAL", "propagate": True},
            "celery.beat": {"level": "WARNING"},
            "celery.app.trace": {"level": "WARNING"},
            "celery.worker.strategy": {"level": "WARNING"},
        },
    }


Answer = Callable[[HttpRequest], HttpResponseBase]
AsyncAnswer = Callable[[HttpRequest], Awaitable[HttpResponseBase]]


@sync_and_async_middleware
def request_log(get_response: Answer | AsyncAnswer) -> Answer | AsyncAnswer:
    """Bind a request id for every line logged meanwhile, answer it as X-Request-Id, and log one line a request.

    The line names the route's view, never the path: a path may hold an ingest token.
    """
    if iscoroutinefunction(get_response):

        async def answer_async(request: HttpRequest) -> HttpResponseBase:
            started = _start()
            return _finish(request, await cast("AsyncAnswer", get_response)(request), started)

        return answer_async

    def answer(request: HttpRequest) -> HttpResponseBase:
        started = _start()
        return _finish(request, cast("Answer", get_response)(request), started)

    return answer


def _start() -> float:
    structlog.contextvars.clear_contextvars()
    structlog.contextvars.bind_contextvars(request_id=secrets.token_hex(8))
    return time.perf_counter()


def _finish(request: HttpRequest, response: HttpResponseBase, started: float) -> HttpResponseBase:
    response.headers["X-Request-Id"] = structlog.contextvars.get_contextvars().get("request_id", "")
    match = request.resolver_match
    log.info(
        "request.finished",
        method=request.method,
        view=match.view_name if match else None,
        status=response.status_code,
        milliseconds=round((time.perf_counter() - started) * 1000, 1),
    )
    return response
