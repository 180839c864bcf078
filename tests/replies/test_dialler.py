"""The production line: an agent over HTTP, a Celery dialler on Redis, a provider; and each of them gone."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import redis

from tests import services
from tests.live import PROJECT, LiveServer, running_server
from tests.replies.stage import SECRET, answering
from tests.stand_in import Fault, StandIn, stand_in, write_authority

START_SECONDS = 40
SAID = "planted-text-of-the-agent"
END = "end-of-the-test"
FURNISH = """
from datetime import timedelta
from django.utils import timezone
from switchboard.accounts.models import Endpoint, Human
from switchboard.reply_address import ForgeComment, Provider
from tests.factories import make_connection, make_event, make_todo
endpoint = Endpoint.objects.get(slug=slug)
host = f"localhost:{port}"
make_connection(endpoint.owner_human, kind="gitea", account_key=f"https://{host}", secret=secret)
address = ForgeComment(Provider.GITEA, host, "acme/widgets", 7)
event = make_event(endpoint, delivery_id=slug)
todo = make_todo(endpoint, event=event, state="claimed", attempt=1, claimed_at=timezone.now(),
    lease_expires_at=timezone.now() + timedelta(hours=1), reply_to=address.as_json())
answer = str(todo.pk)
"""
STATES = """
from replies.models import Reply
answer = [[reply.state, reply.error_code] for reply in Reply.objects.order_by("pk")]
"""


@dataclass(frozen=True)
class Line:
    """A running server with its broker, its provider and a claimed todo."""

    server: LiveServer
    provider: StandIn
    broker_url: str
    vended: dict[str, Any]
    todo_id: str

    def reply(self, text: str, **arguments: Any) -> dict[str, Any]:
        """Call the verb over HTTP, as an agent does, and return the result's JSON."""
        message = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": "reply", "arguments": {"todo_id": self.todo_id, "text": text, **arguments}},
        }
        headers = {
            "Authorization": f"Bearer {self.vended['credential']}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }
        url = f"{self.server.base_url}/mcp/{self.vended['slug']}"
        request = urllib.request.Request(url, json.dumps(message).encode(), headers)
        with urllib.request.urlopen(request, timeout=30) as answer:
            [block] = json.load(answer)["result"]["content"]
        return dict(json.loads(block["text"]))

    def of_another_owner(self, human: str, provider: StandIn) -> "Line":
        """Return the same line as somebody else's agent sees it, with a provider of their own."""
        vended = self.server.vend(human=human, name=human, verbs=["reply"])
        todo_id = self.server.django(FURNISH, slug=vended["slug"], port=provider.port, secret=SECRET)
        return Line(self.server, provider, self.broker_url, vended, todo_id)

    @contextmanager
    def dialler(self, log: Path) -> Iterator["subprocess.Popen[bytes]"]:
        """Run the Procfile's dialler until the body ends."""
        [words] = re.findall(r"^dialer: (celery .*) --loglevel", (PROJECT / "Procfile").read_text(), re.MULTILINE)
        command = ["-m", *shlex.split(words)]
        with log.open("ab") as written:
            process = subprocess.Popen(
                [sys.executable, *command, "--loglevel", "debug"],
                cwd=PROJECT,
                env=self.server.environment,
                stdout=written,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@pytest.fixture(scope="module")
def line(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Line]:
    authority = write_authority(tmp_path_factory.mktemp("authority") / "authority.pem")
    with services.redis() as broker_url, stand_in() as provider:
        provider.on(None, answering({"id": 99001}, status=201))
        hosts = "127.0.0.0/8,::1/128"
        with running_server(
            REDIS_URL=broker_url, SSL_CERT_FILE=str(authority), SWITCHBOARD_PRIVATE_HOSTS=hosts
        ) as server:
            vended = server.vend(verbs=["reply"])
            todo_id = server.django(FURNISH, slug=vended["slug"], port=provider.port, secret=SECRET)
            yield Line(server, provider, broker_url, vended, todo_id)


def test_the_dialler_posts_and_the_broker_never_sees_what(line: Line, tmp_path: Path) -> None:
    log = tmp_path / "log"
    with line.dialler(log), listening(line.broker_url) as monitor:
        first = wait_for_the_dialler(line)
        again = line.reply("first", idempotency_key=first["key"])
        started = time.monotonic()
        said = line.reply(SAID)
        seconds = time.monotonic() - started
        redis.Redis.from_url(line.broker_url).echo(END)
        commands = commands_of(monitor)

    assert (said["state"], said["duplicate"]) == ("sent", False)
    assert (again["state"], again["duplicate"], again["reply_id"]) == ("sent", True, first["reply_id"])
    assert seconds < 5
    assert [json.loads(seen.body)["body"] for seen in line.provider.requests].count(SAID) == 1
    seen_by_broker = json.dumps(commands)
    assert said["reply_id"] in seen_by_broker
    for planted in (SECRET, SAID):
        assert planted not in seen_by_broker
        assert planted not in log.read_text() + line.server.log()
    assert "reply.sent" in log.read_text()


def test_providers_that_hang_for_one_owner_do_not_delay_another(line: Line, tmp_path: Path) -> None:
    with stand_in() as hanging, line.dialler(tmp_path / "log"):
        hanging.on(None, Fault.HANG)
        busy = line.of_another_owner("b", hanging)
        wait_for_the_dialler(line)
        with ThreadPoolExecutor(4) as callers:
            calls = [callers.submit(busy.reply, f"hangs {number}") for number in range(4)]
            wait_until(lambda: len(hanging.requests) == 4)
            started = time.monotonic()
            said = line.reply("not delayed")
            seconds = time.monotonic() - started
            assert not [call for call in calls if call.done()]
        endings = [call.result() for call in calls]

    assert said["state"] == "sent"
    assert seconds < 3
    assert [(ending["state"], ending["code"]) for ending in endings] == [("unknown", "answer_timeout")] * 4


def test_without_a_dialler_the_reply_fails_and_is_never_posted_late(line: Line, tmp_path: Path) -> None:
    posts = len(line.provider.requests)
    started = time.monotonic()

    result = line.reply("nobody is there")

    assert 7 < time.monotonic() - started < 12
    assert (result["state"], result["class"], result["code"]) == ("failed", "network", "not_dialled")
    assert "Nothing was posted" in result["message"]
    with line.dialler(tmp_path / "log"):
        wait_for_the_dialler(line)
    bodies = [json.loads(seen.body)["body"] for seen in line.provider.requests[posts:]]
    assert "nobody is there" not in bodies


def test_a_dialler_that_is_killed_in_the_middle_leaves_a_row_that_a_repeated_call_finds(
    line: Line, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    with line.dialler(log) as dialler:
        wait_for_the_dialler(line)
        posts = len(line.provider.requests)
        line.provider.next(Fault.HANG)
        caller = subprocess.Popen(
            [sys.executable, "-c", CALLER, line.todo_id, line.vended["slug"]],
            cwd=PROJECT,
            env=line.server.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        wait_until(lambda: len(line.provider.requests) == posts + 1)
        kill_with_children(dialler)
        caller.kill()
        caller.wait()
    swept = line.server.django(SWEEP)
    again = line.reply("killed")

    assert swept == 1
    assert (again["state"], again["duplicate"], again["code"]) == ("unknown", True, "interrupted")
    assert len(line.provider.requests) == posts + 1


CALLER = """
import sys, django
django.setup()
import switchboard.celery
from replies.submit import submit_reply
from switchboard.accounts.models import Endpoint
submit_reply(endpoint=Endpoint.objects.get(slug=sys.argv[2]), todo_id=sys.argv[1], text="killed")
"""
SWEEP = """
from datetime import timedelta
from django.utils import timezone
from replies.ledger import sweep_replies
answer = sweep_replies(now=timezone.now() + timedelta(seconds=61))
"""


def test_without_a_broker_a_reply_is_refused_before_there_is_a_row(line: Line) -> None:
    rows = len(line.server.django(STATES))
    redis.Redis.from_url(line.broker_url).client_pause(6000)

    started = time.monotonic()
    result = line.reply("no broker")

    assert result["error"]["code"] == "unavailable"
    assert time.monotonic() - started < 6
    assert len(line.server.django(STATES)) == rows


def wait_for_the_dialler(line: Line) -> dict[str, Any]:
    """Reply until a dialler takes it."""
    deadline = time.monotonic() + START_SECONDS
    while True:
        key = f"try-{time.monotonic()}"
        result = line.reply("first", idempotency_key=key)
        if result.get("state") == "sent":
            return {**result, "key": key}
        assert time.monotonic() < deadline, result


def listening(broker_url: str) -> Any:
    """Return the monitor that hears every command from now on."""
    client: Any = redis.Redis.from_url(broker_url)
    return client.monitor()


def commands_of(monitor: Any) -> list[str]:
    """Return what the broker was told, up to the end."""
    found: list[str] = []
    while not found or END not in found[-1]:
        found.append(monitor.next_command()["command"])
    return found


def kill_with_children(process: "subprocess.Popen[bytes]") -> None:
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def wait_until(holds: Any) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)
