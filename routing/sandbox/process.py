"""One sandbox process as its parent sees it: start, one question at a time, end."""

import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Final
from weakref import WeakSet

import jq

from routing.sandbox.protocol import ANSWER_LIMIT, frame, read_frame

_PROJECT: Final = str(Path(__file__).resolve().parents[2])
_EXTENSIONS: Final = str(Path(jq.__file__).resolve().parent)
_BOOT: Final = "import sys; sys.path += sys.argv[1:]; from routing.sandbox.child import main; main()"


class SandboxDiedError(Exception):
    """The process closed its channel instead of answering."""


def command() -> list[str]:
    """Return how a sandbox process is started: this interpreter, isolated, without the site's own packages."""
    return [sys.executable, "-I", "-S", "-E", "-B", "-c", _BOOT, _EXTENSIONS, _PROJECT]


class SandboxProcess:
    """A child that has prepared one request and answers questions about it; never shared between threads."""

    def __init__(self, request: bytes) -> None:
        """Start the child and hand it the request with the first question. Raises OSError when it cannot start."""
        self._unsent = frame(request)
        self._channel, theirs = socket.socketpair()
        try:
            # A session of its own: one signal to the group ends the process and whatever it forked.
            self._child: subprocess.Popen[bytes] = subprocess.Popen(  # noqa: S603 - the arguments are constants of this module
                command(),
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env={},
                close_fds=True,
                start_new_session=True,
            )
        except OSError:
            self._channel.close()
            raise
        finally:
            theirs.close()
        _started.add(self)

    @property
    def pid(self) -> int:
        """The process id, which is its process group as well."""
        return self._child.pid

    def ask(self, question: bytes | None, *, deadline: float) -> bytes:
        """Return the answer to the question, or to the request itself when the question is None.

        `deadline` is a reading of `time.monotonic`. Raises TimeoutError past it, SandboxDiedError when the child is
        gone, ProtocolError when its answer is no frame.
        """
        message = self._unsent + (frame(question) if question is not None else b"")
        self._unsent = b""
        try:
            self._set_timeout(deadline)
            self._channel.sendall(message)
            return read_frame(lambda size: self._receive(size, deadline), limit=ANSWER_LIMIT)
        except (EOFError, ConnectionError) as error:
            raise SandboxDiedError from error

    def has_ended(self) -> bool:
        """Whether the child is gone, read without waiting."""
        return self._child.poll() is not None

    def close(self) -> None:
        """Kill the child with everything it forked and leave no descriptor and no zombie behind."""
        self._channel.close()
        if self._child.returncode is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._child.pid, signal.SIGKILL)
            self._child.wait()

    def drop(self) -> None:
        """Close this side's descriptor and leave the child alone."""
        self._channel.close()

    def _receive(self, size: int, deadline: float) -> bytes:
        self._set_timeout(deadline)
        return self._channel.recv(size)

    def _set_timeout(self, deadline: float) -> None:
        remaining = deadline - time.monotonic()
        if remaining <= 0:
            raise TimeoutError
        self._channel.settimeout(remaining)


_started: WeakSet[SandboxProcess] = WeakSet()


def _drop_inherited() -> None:
    """Close a forked process's copies of the channels, so that a child still notices when its parent ends."""
    for process in list(_started):
        process.drop()


os.register_at_fork(after_in_child=_drop_inherited)
