"""What every gunicorn process has in common (`gunicorn -c python:switchboard.gunicorn_conf`)."""

import gc
import logging
from pathlib import Path

from gunicorn.config import Config  # type: ignore[import-untyped]
from gunicorn.glogging import Logger  # type: ignore[import-untyped]

from switchboard.logs import redact_tokens


class TokenFreeLogger(Logger):  # type: ignore[misc]
    """gunicorn's own log; it quotes request lines that it refuses, and they may hold an ingest token."""

    def setup(self, cfg: Config) -> None:
        super().setup(cfg)
        self.error_log.addFilter(_without_tokens)


def _without_tokens(record: logging.LogRecord) -> bool:
    record.msg, record.args = redact_tokens(record.getMessage()), ()
    return True


logger_class = TokenFreeLogger
accesslog = None  # Django logs one line a request, without the path
control_socket_disable = True
asgi_lifespan = "off"

graceful_timeout = 30  # seconds; longer than the slowest answer, a reply that waits 25 s for its provider
keepalive = 15  # seconds

_memory = Path("/dev/shm")  # noqa: S108  # the heartbeat file must not wait for a disk
worker_tmp_dir = str(_memory) if _memory.is_dir() else None


def post_worker_init(worker: object) -> None:  # noqa: ARG001 - the hook's signature
    """Take what is loaded by now out of the garbage collector's rounds: it stays until the worker ends."""
    gc.collect()
    gc.freeze()
