"""A live server for tests: `gunicorn -k asgi` on a free port, with a database and keys of its own.

`with running_server() as server:` gives its address, runs management commands beside it, and runs pieces of Django
code against its database.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parent.parent
START_SECONDS = 60.0
STOP_SECONDS = 20.0

# Runs the program in argv[1], with the names of the JSON in argv[2], and prints its `answer` as JSON.
_RUNNER = """
import json, sys
import django
django.setup()
names = json.loads(sys.argv[2])
exec(sys.argv[1], names)
print(json.dumps(names.get("answer")))
"""


@dataclass(frozen=True)
class LiveServer:
    """A running server: where it answers, and the environment that reaches its database."""

    base_url: str
    environment: Mapping[str, str]
    process: subprocess.Popen[bytes]
    log_path: Path

    def manage(self, *arguments: str) -> str:
        """Run `manage.py` with the arguments against the server's database; return its standard output."""
        return _run([sys.executable, "manage.py", *arguments], self.environment)

    def django(self, code: str, **names: Any) -> Any:
        """Run Django code against the server's database with `names` (JSON values) bound; return its `answer`."""
        printed = _run([sys.executable, "-c", _RUNNER, code, json.dumps(names)], self.environment)
        return json.loads(printed.splitlines()[-1])

    def vend(self, *, human: str = "owner", name: str = "agent", **options: Any) -> dict[str, Any]:
        """Vend an endpoint of the human, who is made when missing: its id, slug, credential and mcp_url."""
        return dict(self.django(_VEND, human_name=human, options={"name": name, "queues": ["work"], **options}))

    def log(self) -> str:
        """Return what the server has logged so far."""
        return self.log_path.read_text(errors="replace")

    def stop(self) -> float:
        """Ask the server to stop, wait until it has, and return the seconds it took."""
        started = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(STOP_SECONDS)
        return time.monotonic() - started


_VEND = """
from switchboard.accounts.models import Human
from switchboard.accounts.vend import vend_endpoint
human, _ = Human.objects.get_or_create(username=human_name)
vended = vend_endpoint(human=human, **options)
answer = {
    "endpoint_id": str(vended.endpoint.pk),
    "slug": vended.endpoint.slug,
    "credential": vended.credential,
    "mcp_url": vended.mcp_url,
}
"""


@contextmanager
def running_server(
    *,
    workers: int = 1,
    port: int | None = None,
    application: str = "switchboard.asgi:application",
    worker_class: str = "asgi",
    **settings: str,
) -> Iterator[LiveServer]:
    """Yield a server over a fresh, migrated database; `settings` are further environment variables.

    The database is SQLite in a temporary folder unless `DATABASE_URL` is among the settings.
    """
    with tempfile.TemporaryDirectory(prefix="switchboard-live-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        chosen = port or free_port()
        base_url = f"http://127.0.0.1:{chosen}"
        environment = {**_environment(folder, base_url), **settings}
        _run([sys.executable, "manage.py", "migrate", "--noinput"], environment)
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(
                _command(chosen, workers, application, worker_class),
                cwd=PROJECT,
                env=environment,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        server = LiveServer(base_url, environment, process, folder / "log")
        try:
            _wait_until_it_answers(server)
            yield server
        finally:
            _end(process)


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def _environment(folder: Path, base_url: str) -> dict[str, str]:
    return {
        "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
        "HOME": str(folder),
        "DJANGO_SETTINGS_MODULE": "tests.settings",
        "DJANGO_SECRET_KEY": "only-for-tests",
        "SWITCHBOARD_ENV_FILE": "0",
        "SWITCHBOARD_BASE_URL": base_url,
        "SWITCHBOARD_SECRET_ENCRYPTION_KEY": "11" * 32,
        "DATABASE_URL": f"sqlite:///{folder / 'switchboard.sqlite3'}",
    }


def _command(port: int, workers: int, application: str, worker_class: str) -> list[str]:
    options = ["-c", "python:switchboard.gunicorn_conf", "-k", worker_class, "--workers", str(workers)]
    return [
        sys.executable,
        "-m",
        "gunicorn",
        *options,
        "--bind",
        f"127.0.0.1:{port}",
        application,
    ]


def _run(command: list[str], environment: Mapping[str, str]) -> str:
    done = subprocess.run(command, cwd=PROJECT, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{command[1]} exited with {done.returncode}:\n{done.stderr[-4000:]}")
    return done.stdout


def _wait_until_it_answers(server: LiveServer) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not _answers(f"{server.base_url}/healthz"):
        if server.process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"the server did not start:\n{server.log()[-4000:]}")
        time.sleep(0.05)


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5):
            return True
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
