"""Fixtures that run a test twice: replies are dialled in its own process, then by a Celery dialler on Redis.

Import `broker_url`, `dialler` and `provider` into a test module, and mark it `django_db(transaction=True)`: the
dialler sees committed rows only. It is the Procfile's, on the tests' own database and broker. Without REDIS_URL only
the first way is there.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import redis
from django.db import connection

from replies.tasks import dial
from tests.live import PROJECT
from tests.replies.test_killed_dialler import database_url
from tests.stand_in import StandIn, stand_in, write_authority

START_SECONDS = 40
REACHABLE = ("127.0.0.1/32", "::1/128")


@dataclass(frozen=True)
class Dialler:
    """A running dialler process, the one provider that it may reach, and where it logs."""

    provider: StandIn
    log_path: Path


@pytest.fixture(scope="module")
def dialler(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dialler]:
    """Start a dialler on the broker of this run and wait until it takes a task."""
    folder = tmp_path_factory.mktemp("dialler")
    with stand_in() as server:
        environment = environment_of_the_dialler(server, write_authority(folder / "authority.pem"))
        with running_dialler(environment, folder / "log"):
            wait_for_the_dialler(folder / "log")
            yield Dialler(server, folder / "log")


@pytest.fixture(params=["in process", "through the dialler"])
def broker_url(request: pytest.FixtureRequest) -> str | None:
    """Run a test without a broker and, where there is one, with it."""
    if request.param == "in process":
        return None
    url = os.environ.get("REDIS_URL")
    if url is None:
        pytest.skip("there is no broker in this run")
    return url


@pytest.fixture
def provider(
    request: pytest.FixtureRequest, broker_url: str | None, settings: Any, monkeypatch: Any, tmp_path: Path
) -> Iterator[StandIn]:
    """The provider of the dialler, or one of this process, with nothing in its memory."""
    settings.SWITCHBOARD_PRIVATE_HOSTS = REACHABLE
    if broker_url is not None:
        server: StandIn = request.getfixturevalue("dialler").provider
        server.requests.clear()
        server.connections = 0
        yield server
        return
    monkeypatch.setenv("SSL_CERT_FILE", str(write_authority(tmp_path / "authority.pem")))
    with stand_in() as server:
        settings.SWITCHBOARD_GITHUB_API_URL = server.url_for("localhost")
        settings.SWITCHBOARD_SLACK_API_URL = f"{server.url_for('localhost')}/api"
        yield server


def environment_of_the_dialler(server: StandIn, authority: Path) -> Mapping[str, str]:
    return {
        **os.environ,
        "DATABASE_URL": database_url(connection.settings_dict),
        "DJANGO_SETTINGS_MODULE": "tests.settings",
        "SSL_CERT_FILE": str(authority),
        "SWITCHBOARD_PRIVATE_HOSTS": ",".join(REACHABLE),
        "SWITCHBOARD_GITHUB_API_URL": server.url_for("localhost"),
        "SWITCHBOARD_SLACK_API_URL": f"{server.url_for('localhost')}/api",
    }


@contextmanager
def running_dialler(environment: Mapping[str, str], log: Path) -> Iterator[None]:
    """Run the Procfile's dialler, with one process, until the body ends."""
    command = ["-m", "celery", "-A", "switchboard.celery", "worker", "-Q", "dial", "--concurrency", "1"]
    with log.open("wb") as written:
        process = subprocess.Popen(
            [sys.executable, *command, "--loglevel", "info"],
            cwd=PROJECT,
            env=environment,
            stdout=written,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        yield
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def wait_for_the_dialler(log: Path) -> None:
    """Send a reply that does not exist; the dialler finds nothing to post and says so to whoever waits."""
    reply_id = uuid4()
    dial.apply_async(args=[str(reply_id)])
    broker = redis.Redis.from_url(os.environ["REDIS_URL"])
    heard = broker.blpop([f"switchboard:reply:{reply_id}:ended"], timeout=START_SECONDS)
    assert heard, log.read_text()[-4000:]
