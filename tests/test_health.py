"""The health page says that the process is up; the readiness page names what does not work, and nothing else."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from routing.evaluate import limits
from routing.sandbox import client as sandbox
from routing.sandbox import process
from routing.sandbox.slots import host_slot
from tests.services import free_port

PROJECT = Path(__file__).resolve().parent.parent
ALL_WELL = {"database": "ok", "broker": "ok", "sandbox": "ok"}

_ASK = """
import json
import django
django.setup()
from django.test import Client
client = Client(SERVER_NAME="localhost")
answer = client.get("/readyz")
print(json.dumps([client.get("/healthz").status_code, answer.status_code, answer.json()]))
"""


def ask(folder: Path, **variables: str) -> tuple[list[Any], list[dict[str, Any]]]:
    """Return what a process with these variables answers ([health, readiness, body]) and the lines it logs."""
    environment = {
        "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
        "DJANGO_SETTINGS_MODULE": "tests.settings",
        "PYTHONWARNINGS": "ignore",
        "DATABASE_URL": f"sqlite:///{folder / 'switchboard.sqlite3'}",
        **variables,
    }
    done = subprocess.run(
        [sys.executable, "-c", _ASK], cwd=PROJECT, env=environment, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout), [json.loads(line) for line in done.stderr.splitlines()]


def reasons(lines: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(line["check"], line["error"]) for line in lines if line["event"] == "readiness.failed"]


def test_the_health_page_asks_nobody() -> None:
    answer = Client().get("/healthz")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


@pytest.mark.django_db
def test_the_readiness_page_when_all_is_well() -> None:
    answer = Client().get("/readyz")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok", "checks": ALL_WELL})


@pytest.mark.parametrize(
    "address",
    ["sqlite:////no-such-folder/hush.sqlite3", "postgresql://hush:hush@127.0.0.1:{port}/hush?pool=0"],
    ids=["sqlite", "postgresql"],
)
def test_a_database_that_is_down_is_named_and_nothing_about_it_told(tmp_path: Path, address: str) -> None:
    answer, lines = ask(tmp_path, DATABASE_URL=address.format(port=free_port()))
    assert answer == [200, 503, {"status": "failed", "checks": {**ALL_WELL, "database": "failed"}}]
    assert reasons(lines) == [("database", "OperationalError")]
    assert "hush" not in str(lines)


def test_a_broker_that_is_down_is_named_with_the_evaluation_that_needs_it(tmp_path: Path) -> None:
    answer, lines = ask(tmp_path, REDIS_URL=f"redis://:hush@127.0.0.1:{free_port()}/0")
    failed = {"database": "ok", "broker": "failed", "sandbox": "failed"}
    assert answer == [200, 503, {"status": "failed", "checks": failed}]
    assert reasons(lines) == [("broker", "ConnectionError"), ("sandbox", "NotReady")]
    assert "hush" not in str(lines)


@pytest.mark.django_db
@pytest.mark.parametrize(
    "command", [["/no-such-program"], [sys.executable, "-c", "pass"]], ids=["does not start", "dies"]
)
def test_a_sandbox_that_is_broken_is_named(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    settings.REDIS_URL = None
    sandbox.close_all()
    monkeypatch.setattr(process, "command", lambda: command)
    monkeypatch.setattr("routing.evaluate.limits", lambda: sandbox.Limits(slots=64))  # one is free on any host
    answer = Client().get("/readyz")
    assert (answer.status_code, answer.json()["checks"]) == (503, {**ALL_WELL, "sandbox": "failed"})


@pytest.mark.django_db
def test_a_sandbox_that_is_busy_works(settings: Settings) -> None:
    settings.REDIS_URL = None
    count = limits().slots
    assert count == 2
    with host_slot(count=count, wait_seconds=30), host_slot(count=count, wait_seconds=30):
        assert Client().get("/readyz").status_code == 200


@pytest.mark.django_db
def test_the_pages_need_no_sign_in_and_set_no_cookie() -> None:
    for path in ("/healthz", "/readyz"):
        assert not Client().get(path).cookies
