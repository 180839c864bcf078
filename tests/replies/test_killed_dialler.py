"""Kill -9 of the process that replies, at every step: never two posts, never a lost row, at most `unknown`."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from replies.ledger import sweep_replies
from replies.models import Reply
from tests.live import PROJECT
from tests.replies.stage import Conversation, open_conversation
from tests.stand_in import Fault, StandIn

START_SECONDS = 30
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize(
    ("step", "row", "posts", "again"),
    [
        ("before the row", None, 0, "sent"),
        ("after the row", "unknown", 0, "unknown"),
        ("after the row was taken", "unknown", 0, "unknown"),
        ("after the answer", "unknown", 1, "unknown"),
    ],
)
def test_a_process_that_dies_in_our_code(provider: StandIn, step: str, row: str | None, posts: int, again: str) -> None:
    conversation = open_conversation(provider)
    with replying(conversation, step) as process:
        wait_until(lambda: said(process) == step)

    after_the_kill(conversation, row=row, posts=posts, again=again)


@pytest.mark.parametrize(
    ("fault", "seen"),
    [(Fault.SILENT_HANDSHAKE, 0), (Fault.HANG_UNREAD, 0), (Fault.HANG, 1)],
    ids=str,
)
def test_a_process_that_dies_while_it_waits_for_the_provider(provider: StandIn, fault: Fault, seen: int) -> None:
    conversation = open_conversation(provider)
    provider.next(fault)
    with replying(conversation, "never"):
        wait_until(lambda: provider.connections == 1 and len(provider.requests) == seen)

    after_the_kill(conversation, row="unknown", posts=seen, again="unknown")


def after_the_kill(conversation: Conversation, *, row: str | None, posts: int, again: str) -> None:
    assert [found.state for found in Reply.objects.all()] == (["pending"] if row else [])
    sweep_replies(now=timezone.now() + timedelta(seconds=61))
    assert [found.state for found in Reply.objects.all()] == ([row] if row else [])
    assert len(conversation.server.requests) == posts

    second = conversation.reply("Done.", idempotency_key="k")

    assert (second["state"], second["duplicate"]) == (again, row is not None)
    assert len(conversation.server.requests) == posts + (row is None)
    assert conversation.rows == 1


@contextmanager
def replying(conversation: Conversation, step: str) -> Iterator["subprocess.Popen[str]"]:
    """Run the process until the body ends, then kill it."""
    command = [sys.executable, "-m", "tests.replies.dying", step]
    command += [str(conversation.endpoint.pk), str(conversation.todo.pk)]
    with subprocess.Popen(
        command,
        cwd=PROJECT,
        env=environment(conversation),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def environment(conversation: Conversation) -> Mapping[str, str]:
    """The tests' own database, and a provider that may be reached."""
    inherited = {name: value for name, value in os.environ.items() if name != "REDIS_URL"}
    return {
        **inherited,
        "DATABASE_URL": database_url(connection.settings_dict),
        "DJANGO_SETTINGS_MODULE": "tests.settings",
        "SWITCHBOARD_PRIVATE_HOSTS": "127.0.0.0/8,::1/128",
    }


def database_url(settings: Mapping[str, Any]) -> str:
    if settings["ENGINE"].endswith("sqlite3"):
        return f"sqlite:///{Path(settings['NAME'])}"
    user = f"{settings['USER']}:{settings['PASSWORD']}" if settings["PASSWORD"] else settings["USER"]
    return f"postgres://{user}@{settings['HOST']}:{settings['PORT']}/{settings['NAME']}"


def said(process: "subprocess.Popen[str]") -> str:
    assert process.stdout
    return process.stdout.readline().strip()


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)
