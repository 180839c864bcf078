"""The sandbox process: confines itself, prepares one rule list and answers the server's frames.

Started by `process.py` in a bare interpreter with an empty environment; standard library and jq only.
"""

import gc
import json
import os
import resource
import signal
import time
from typing import Final

from routing.sandbox.compiling import compile_reasons
from routing.sandbox.evaluation import RuleList
from routing.sandbox.protocol import frame, read_frame

_REQUEST_LIMIT: Final = 64 * 1024 * 1024
_DESCRIPTORS: Final = 16


def main() -> None:
    """Serve the frames on descriptor 0 until the server closes it."""
    _undo_inheritance()
    request = json.loads(_receive())
    _confine(request["memory_mib"])
    if request["task"] == "check":
        _answer(compile_reasons(request["expressions"]))
        return
    rules = RuleList(
        expressions=request["expressions"],
        params_text=request["params_text"],
        rule_seconds=request["rule_cpu_ms"] / 1000,
        event_seconds=request["event_cpu_ms"] / 1000,
    )
    gc.freeze()
    _serve(rules)


def _serve(rules: RuleList) -> None:
    while True:
        try:
            envelope_text = _receive().decode()
        except EOFError:
            return
        _answer(rules.evaluate(envelope_text))


def _undo_inheritance() -> None:
    """Undo what a server may hand down past the environment: ignored or blocked signals, the host's time zone."""
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    os.environ["TZ"] = "UTC0"
    time.tzset()
    gc.disable()


def _confine(memory_mib: int) -> None:
    memory = memory_mib * 1024 * 1024
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (_DESCRIPTORS, _DESCRIPTORS))


def _receive() -> bytes:
    return read_frame(lambda size: os.read(0, size), limit=_REQUEST_LIMIT)


def _answer(answer: object) -> None:
    remaining = frame(json.dumps(answer).encode())
    while remaining:
        remaining = remaining[os.write(0, remaining) :]
