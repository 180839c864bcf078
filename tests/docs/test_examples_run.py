"""The shell and Python examples are run as they stand, one after the other, against a real server."""

import json
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.copies import bare_environment, free_port, make_copy
from tests.docs.test_docs import DOCS, examples


@dataclass(frozen=True)
class Served:
    """A served copy of the project, with the human `ada` of the pages in it."""

    copy: Path
    port: int

    def run(self, script: str, **environment: str) -> str:
        """Run a shell script in the copy's folder and return what it printed; the standard port is this server's."""
        here = script.replace("127.0.0.1:8000", f"127.0.0.1:{self.port}")
        ran = subprocess.run(
            ["/bin/sh", "-eu", "-c", here],
            cwd=self.copy,
            env=bare_environment(SWITCHBOARD_BASE_URL=f"http://127.0.0.1:{self.port}", **environment),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert ran.returncode == 0, ran.stderr
        return ran.stdout


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    copy, port = make_copy(tmp_path_factory.mktemp("docs")), free_port()
    with subprocess.Popen(
        [copy / "bin" / "serve"],
        env=bare_environment(PORT=str(port)),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    ) as server:
        assert server.stdout
        assert server.stdout.readline().startswith("Switchboard is at")
        here = Served(copy, port)
        here.run(
            ".venv/bin/python manage.py createsuperuser --noinput --username ada --email ''",
            DJANGO_SUPERUSER_PASSWORD="a long enough password",
        )
        yield here
        os.killpg(server.pid, signal.SIGTERM)


def test_the_page_about_the_first_webhook_works_from_top_to_bottom(served: Served) -> None:
    told = served.run("\n".join(examples(DOCS / "first-webhook.md", "sh")))

    assert "sbk_" in told
    assert '"created": 1' in told
    assert "no_match_default" in told
    assert len(set(re.findall(r"whsec_[\w-]+", told))) == 2  # the first one, and the one after the rotation


def test_the_python_examples_hear_claim_and_complete_a_todo(served: Served) -> None:
    (vending,) = examples(DOCS / "connecting-an-agent.md", "sh")
    vended = json.loads(served.run(vending))
    deliver_to(served, slug=vended["slug"])
    worker, listener = examples(DOCS / "connecting-an-agent.md", "python")

    assert play(served, listener, vended) == "Todo waiting in fixes\n"
    assert play(served, worker, vended) == "Working on Disk 91%\n"
    assert [todo["state"] for todo in call(served, "GET", f"/todos?endpoint={vended['slug']}")["todos"]] == ["done"]


def test_the_shell_examples_of_operating_run(served: Served) -> None:
    for script in examples(DOCS / "self-hosting.md", "sh"):
        if "-m venv" not in script:  # needs the package index
            served.run(script)

    assert (served.copy / "var" / "backup.sqlite3").stat().st_size > 0


def play(served: Served, program: str, vended: dict[str, Any]) -> str:
    """Run a Python program as the endpoint's agent and return what it printed."""
    (served.copy / "agent.py").write_text(program)
    return served.run(
        ".venv/bin/python agent.py",
        SWITCHBOARD_URL=vended["mcp_url"],
        SWITCHBOARD_CREDENTIAL=vended["credential"],
    )


def deliver_to(served: Served, *, slug: str) -> None:
    """Make a todo for the endpoint: a generic webhook with one delivery."""
    created = call(served, "POST", f"/endpoints/{slug}/webhooks", source_type="generic", target_queue="fixes")
    requests.post(created["ingest_url"], json={"title": "Disk 91%"}, timeout=10).raise_for_status()


def call(served: Served, method: str, path: str, **body: str) -> dict[str, Any]:
    created = json.loads(served.run(".venv/bin/python manage.py create_api_token --human ada --json"))
    url, headers = f"http://127.0.0.1:{served.port}/api/v1{path}", {"Authorization": f"Bearer {created['token']}"}
    answer = requests.request(method, url, headers=headers, json=body or None, timeout=10)
    answer.raise_for_status()
    return dict(answer.json())
