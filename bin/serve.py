"""Serves Switchboard with one command: prepares var/, then runs the web server and the beat until stopped."""

import fcntl
import http.client
import os
import secrets
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import NoReturn

ROOT = Path(__file__).resolve().parent.parent
VAR = ROOT / "var"
HOST = "127.0.0.1"
START_SECONDS = 60.0
STOP_SECONDS = 10.0
KEYS: dict[str, Callable[[], str]] = {
    "DJANGO_SECRET_KEY": lambda: secrets.token_urlsafe(48),
    "SWITCHBOARD_SECRET_ENCRYPTION_KEY": lambda: secrets.token_hex(32),
}
Processes = Mapping[str, subprocess.Popen[bytes]]


class ServeError(Exception):
    """The server cannot start or go on; the message is one sentence for the person at the terminal."""


class StopRequestedError(Exception):
    """Ctrl-C, a closed terminal, or a signal asked the server to stop."""


def main() -> int:
    """Serve until a signal or the end of a process; returns the exit status."""
    try:
        turn_signals_into_exceptions()
        port = wanted_port()
        with set_up_alone():
            environment = environment_for(port)
            humans = prepare(environment)
        with running(environment, port) as processes:
            wait_until_it_answers(port, processes)
            announce(port, humans=humans)
            wait_for_an_end(processes)
    except StopRequestedError:
        return 0
    except ServeError as error:
        print(error, file=sys.stderr)
        return 1


def wanted_port() -> int:
    """Return the free port named by PORT (8000 when unset); raise ServeError when it is none or taken."""
    text = os.environ.get("PORT") or "8000"
    if not text.isascii() or not text.isdigit() or not 0 < int(text) < 65_536:
        raise ServeError(f"PORT={text} is not a port: give a number from 1 to 65535.")
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((HOST, int(text)))
        except OSError as error:
            advice = f"choose another one, for example: PORT={int(text) % 65_535 + 1} bin/serve"
            raise ServeError(f"Port {text} cannot be used ({error.strerror}); {advice}") from None
    return int(text)


@contextmanager
def set_up_alone() -> Iterator[None]:
    """Keep other set-ups of this folder waiting meanwhile; raise ServeError when var/ cannot be written."""
    try:
        VAR.mkdir(mode=0o700, exist_ok=True)
        with (VAR / "setup.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
    except PermissionError as error:
        raise ServeError(f"Cannot write {error.filename}: run this as the owner of {ROOT}.") from None


def environment_for(port: int) -> dict[str, str]:
    """Return the environment of the embedded default; what the caller or var/env sets wins, save the broker.

    Keys that are set nowhere are made and kept in var/env, which the settings read.
    """
    environment = dict(os.environ)
    if environment.get("REDIS_URL"):
        print("REDIS_URL is left out: tasks run in process here. The Procfile uses it.", file=sys.stderr)
    environment["REDIS_URL"] = ""
    set_by_caller = {name for name, value in environment.items() if value}
    if "SWITCHBOARD_BASE_URL" not in set_by_caller | complete_keys(VAR / "env", set_by_caller):
        environment["SWITCHBOARD_BASE_URL"] = f"http://{HOST}:{port}"
        remember_address(VAR / "address.env", environment["SWITCHBOARD_BASE_URL"])
    return environment


def remember_address(path: Path, base_url: str) -> None:
    """Let management commands know where this folder's server answers, for the addresses that they print."""
    draft = path.with_suffix(".new")
    draft.write_text(f"SWITCHBOARD_BASE_URL={base_url}\n")
    draft.replace(path)


def complete_keys(path: Path, set_by_caller: Set[str]) -> set[str]:
    """Add to the file (mode 0600) each key that neither it nor the caller sets; return the names in it.

    The file is replaced as a whole, so that no reader sees half of it.
    """
    lines = path.read_text().splitlines() if path.exists() else []
    known = {line.partition("=")[0].removeprefix("export ").strip() for line in lines}
    missing = KEYS.keys() - known - set_by_caller
    if missing:
        lines += [f"{name}={KEYS[name]()}" for name in sorted(missing)]
        draft = path.with_suffix(".new")
        draft.unlink(missing_ok=True)
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write("\n".join(lines) + "\n")
        draft.replace(path)
    return known | missing


def prepare(environment: Mapping[str, str]) -> int:
    """Migrate, collect the static files, and return the number of humans; raise ServeError on failure."""
    command = [sys.executable, str(ROOT / "bin" / "prepare.py")]
    done = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise ServeError("Switchboard could not be prepared; the reason stands above.")
    return int(done.stdout)


@contextmanager
def running(environment: Mapping[str, str], port: int) -> Iterator[Processes]:
    """Run the web server and the beat in this process group while the block lasts."""
    processes: dict[str, subprocess.Popen[bytes]] = {}
    try:
        for name, command in commands(port).items():
            processes[name] = subprocess.Popen(command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL)
        yield processes
    finally:
        stop(processes)


def commands(port: int) -> dict[str, Sequence[str]]:
    """Return the command line of each process: one server for everything, and the clock of periodic tasks."""
    serve = ["gunicorn", "-c", "python:switchboard.gunicorn_conf", "-k", "asgi", "--workers", "1"]
    serve += ["--bind", f"{HOST}:{port}", "--graceful-timeout", "5", "--log-level", "warning"]
    beat = ["celery", "--quiet", "--app", "switchboard.celery", "beat", "--loglevel", "warning"]
    beat += ["--schedule", str(VAR / "beat-schedule")]
    return {
        "web server": [sys.executable, "-m", *serve, "switchboard.asgi:application"],
        "beat": [sys.executable, "-m", *beat],
    }


def stop(processes: Processes) -> None:
    """End every process, kindly first; those that take longer than 10 seconds in all are killed."""
    for process in processes.values():
        process.terminate()
    deadline = time.monotonic() + STOP_SECONDS
    for process in processes.values():
        try:
            process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def wait_until_it_answers(port: int, processes: Processes) -> None:
    """Return when the health page answers; raise ServeError when a process ends first or after a minute."""
    deadline = time.monotonic() + START_SECONDS
    while not answers(port):
        fail_if_one_ended(processes)
        if time.monotonic() > deadline:
            raise ServeError(f"The web server does not answer after {START_SECONDS:.0f} seconds.")
        time.sleep(0.05)


def answers(port: int) -> bool:
    """Return whether the health page of a server on this port answers 200."""
    connection = http.client.HTTPConnection(HOST, port, timeout=5)
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().status == http.HTTPStatus.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def wait_for_an_end(processes: Processes) -> NoReturn:
    """Return never: raise ServeError when one of the processes ends by itself."""
    while True:
        fail_if_one_ended(processes)
        time.sleep(0.2)


def fail_if_one_ended(processes: Processes) -> None:
    """Raise ServeError naming the process that ended, if any."""
    for name, process in processes.items():
        if process.poll() is not None:
            raise ServeError(f"The {name} ended with status {process.returncode}; its reason stands above.")


def announce(port: int, *, humans: int) -> None:
    """Say where the server is, and how to create the first human while there is none."""
    print(f"Switchboard is at http://{HOST}:{port}/ (Ctrl-C stops it)", flush=True)
    if not humans:
        command = shlex.join([sys.executable, str(ROOT / "manage.py"), "createsuperuser"])
        print(f"Nobody can sign in yet. Create the first human in another terminal:\n  {command}", flush=True)


def turn_signals_into_exceptions() -> None:
    """Let the first signal that asks for an end raise StopRequestedError, and ignore the ones after it."""
    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def request_stop(_number: int, _frame: FrameType | None) -> None:
        for each in signals:
            signal.signal(each, signal.SIG_IGN)
        raise StopRequestedError

    for each in signals:
        signal.signal(each, request_stop)


if __name__ == "__main__":
    sys.exit(main())
