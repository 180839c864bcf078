"""The server that the demonstration plays against: `bin/serve` as a child process, with its output in a log file."""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from serve import HOST, ROOT, VAR

LOG = VAR / "log" / "demo-server.log"
ANNOUNCEMENT = "Switchboard is at "
STOP_SECONDS = 20.0
LINES_OF_A_REASON = 8


class ServerError(Exception):
    """The server cannot start or go on; the message ends with what it said about it."""


@dataclass(frozen=True)
class Server:
    """The running server: its address, its log, and its process."""

    base_url: str
    log: Path
    process: subprocess.Popen[bytes]

    def wait(self) -> NoReturn:
        """Return never: raise ServerError when the server ends by itself."""
        self.process.wait()
        raise ServerError(f"The server has ended.\n{_last_words()}")


@contextmanager
def serving(port: int) -> Iterator[Server]:
    """Run the server on `port` while the block lasts; raise ServerError when it does not start."""
    with _start() as process:
        try:
            _wait_until_announced(process)
            yield Server(f"http://{HOST}:{port}", LOG, process)
        finally:
            _stop(process)


def _start() -> subprocess.Popen[bytes]:
    command = [sys.executable, str(ROOT / "bin" / "serve.py")]
    try:
        VAR.mkdir(mode=0o700, exist_ok=True)
        LOG.parent.mkdir(exist_ok=True)
        with LOG.open("wb") as log:
            return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
    except PermissionError as error:
        raise ServerError(f"Cannot write {error.filename}: run this as the owner of {ROOT}.") from None


def _wait_until_announced(process: subprocess.Popen[bytes]) -> None:
    while ANNOUNCEMENT not in LOG.read_text(errors="replace"):
        if process.poll() is not None:
            raise ServerError(f"The server did not start.\n{_last_words()}")
        time.sleep(0.05)


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()


def _last_words() -> str:
    return "\n".join(LOG.read_text(errors="replace").splitlines()[-LINES_OF_A_REASON:])
