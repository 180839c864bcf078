"""The server is killed between its commit and its answer, and the sender tries again."""

import contextlib
import os
import signal
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from tests.deliveries import SECRET, SignedDelivery, github_issue
from tests.live import LiveServer, running_server

MAKE_WEBHOOK = """
from routing.webhooks import create_webhook, set_signing_secret
from switchboard.accounts.models import Endpoint
from switchboard.accounts.reach import Principal
endpoint = Endpoint.objects.get(pk=endpoint_id)
created = create_webhook(endpoint=endpoint, source_type="github", target_queue="work")
principal = Principal.of_endpoint(endpoint)
set_signing_secret(principal=principal, webhook_id=str(created.webhook.pk), signing_secret=secret)
answer = created.ingest_url.rsplit("/", 1)[1]
"""
COUNT = """
from routing.models import Event
from switchboard.todos.models import Todo
answer = [Event.objects.count(), Todo.objects.count()]
"""


def test_a_server_killed_between_commit_and_answer_leaves_one_todo_after_the_retry(tmp_path: Path) -> None:
    database, marker = f"sqlite:///{tmp_path / 'shared.sqlite3'}", tmp_path / "committed"
    delivery = github_issue(delivery_id="the-one")
    stalled = running_server(application="tests.stalling:application", DATABASE_URL=database, STALL_MARKER=str(marker))
    with stalled as server:
        token = server.django(MAKE_WEBHOOK, endpoint_id=server.vend()["endpoint_id"], secret=SECRET)
        sender = threading.Thread(target=_post_in_vain, args=(server, token, delivery))
        sender.start()
        _wait_for(marker)
        _kill(server)
        sender.join(timeout=20)
    with running_server(DATABASE_URL=database) as server:
        assert server.django(COUNT) == [1, 1]
        answer = _post(server, token, delivery)
        assert answer.status == 202
        assert server.django(COUNT) == [1, 1]


def _post(server: LiveServer, token: str, delivery: SignedDelivery) -> Any:
    url = f"{server.base_url}/webhooks/w/{token}"
    request = urllib.request.Request(url, data=delivery.body, headers=dict(delivery.headers), method="POST")
    return urllib.request.urlopen(request, timeout=30)


def _post_in_vain(server: LiveServer, token: str, delivery: SignedDelivery) -> None:
    with contextlib.suppress(OSError, urllib.error.URLError):
        _post(server, token, delivery)


def _wait_for(marker: Path) -> None:
    deadline = time.monotonic() + 20
    while not marker.exists():
        assert time.monotonic() < deadline, "the delivery was never committed"
        time.sleep(0.02)


def _kill(server: LiveServer) -> None:
    """Kill the server and its workers at once, as a power cut would."""
    children = Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children").read_text().split()
    for pid in [server.process.pid, *map(int, children)]:
        os.kill(pid, signal.SIGKILL)
    server.process.wait(timeout=10)
