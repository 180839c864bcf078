"""Short ways to evaluate rules in real sandbox processes, and to look at those processes from outside."""

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from routing.sandbox.client import Evaluation, Limits, evaluate

ENVELOPE = {"issue": {"author": "octavia"}, "payload": {"text": "x" * 2000, "id": 5, "list": [1, 2, 3]}}


def evaluate_rules(
    *expressions: str,
    envelope: object = ENVELOPE,
    envelope_text: str | None = None,
    params_text: str = "{}",
    owner: str = "webhook",
    **limits: Any,
) -> Evaluation:
    return evaluate(
        owner=owner,
        expressions=expressions,
        params_text=params_text,
        envelope_text=json.dumps(envelope) if envelope_text is None else envelope_text,
        limits=Limits(**limits),
    )


def causes(evaluation: Evaluation) -> list[tuple[int, str]]:
    return [(fault.rule_index, fault.cause) for fault in evaluation.faults]


def sandbox_pids() -> list[int]:
    """The live sandbox processes that this process started."""
    return sorted(pid for pid in children_of(os.getpid()) if b"routing.sandbox.child" in _read(pid, "cmdline"))


def children_of(parent: int) -> list[int]:
    pids = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
    return [pid for pid in pids if _stat(pid)[1:2] == [str(parent)]]


def zombies() -> list[int]:
    return [pid for pid in children_of(os.getpid()) if _stat(pid)[0] == "Z"]


def eventually(holds: Callable[[], bool], *, seconds: float = 5.0) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if holds():
            return True
        time.sleep(0.01)
    return holds()


def _stat(pid: int) -> list[str]:
    return _read(pid, "stat").decode().rpartition(") ")[2].split() or ["", ""]


def _read(pid: int, name: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""
