"""What every test shares: the Celery application, a worker where there is a broker, and no processes left behind."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest
from django.conf import settings

import switchboard.celery  # noqa: F401 - tasks are sent through the configured application
from routing.evaluate import check_sandbox
from routing.sandbox import client
from switchboard.health import NotReady

WORKER = ["-m", "celery", "-A", "switchboard.celery", "worker", "-Q", "evaluate", "-c", "2", "--loglevel", "warning"]


@pytest.fixture(autouse=True, scope="session")
def _sandbox_processes_end() -> Iterator[None]:
    yield
    client.close_all()


@pytest.fixture(autouse=True, scope="session")
def _worker() -> Iterator[None]:
    """With a broker, rules are evaluated in a real worker, as in production."""
    if settings.REDIS_URL is None:
        yield
        return
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "tests.settings"}
    worker = subprocess.Popen([sys.executable, *WORKER], env=environment, start_new_session=True)
    try:
        _wait_for_the_worker()
        yield
    finally:
        worker.terminate()
        worker.wait(timeout=20)


def _wait_for_the_worker() -> None:
    deadline = time.monotonic() + 60
    while True:
        try:
            check_sandbox()
            return
        except NotReady:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)
