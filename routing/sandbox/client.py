"""The server's door to the sandbox: evaluate a rule list, or find out which expressions compile.

Nothing here runs an expression in the calling process, and nothing raises for what a child does.
"""

import atexit
import hashlib
import json
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from routing.sandbox import slots
from routing.sandbox.answers import (
    REASON_LIMIT,
    SANDBOX_FAILURE,
    Evaluation,
    Fault,
    MalformedAnswerError,
    read_evaluation,
    read_reasons,
)
from routing.sandbox.policy import ExpressionRefusedError, check_expression
from routing.sandbox.pool import Key, Pool
from routing.sandbox.process import SandboxDiedError, SandboxProcess
from routing.sandbox.protocol import ProtocolError
from routing.sandbox.slots import SlotsBusyError, host_slot, tenants_slot

__all__ = ["Evaluation", "Fault", "Limits", "SandboxUnavailableError", "check_compiles", "close_all", "evaluate"]

SANDBOX_BUSY: Final = "sandbox_busy"

_IDLE_PROCESSES: Final = 8
_IDLE_SECONDS: Final = 60.0
_CHECK_SECONDS: Final = 10.0
_CHECK_SLOT_WAIT_SECONDS: Final = 5.0


@dataclass(frozen=True)
class Limits:
    """What one evaluation may use: MiB of address space, milliseconds of CPU time, seconds of wall time."""

    memory_mib: int = 128
    rule_cpu_ms: int = 50
    event_cpu_ms: int = 250
    deadline_seconds: float = 2.0
    slots: int = 2
    slot_wait_seconds: float = 1.0


class SandboxUnavailableError(Exception):
    """Nothing can be said about the expressions now: no free slot, or the check itself broke down."""


def evaluate(
    *,
    owner: str,
    expressions: Sequence[str],
    params_text: str,
    envelope_text: str,
    limits: Limits,
    tenant: str | None = None,
) -> Evaluation:
    """Return the first rule that matches the envelope, first match wins; never raises for a bad rule or child.

    `owner` is the webhook's id: its processes serve no other. `tenant` is who owns it, by default the webhook itself:
    of a tenant's deliveries one is evaluated at a time. `params_text` and `envelope_text` are one JSON value
    each, handed to jq as they are. A whole evaluation that fails has the fault index -1 and the cause
    `sandbox_failure`, or `sandbox_busy` when no slot was free in time (SPEC-0020, "Out-of-process evaluation").
    """
    if not expressions:
        return Evaluation(None, ())
    task = _Task(owner, tuple(expressions), params_text, limits)
    try:
        with tenants_slot(tenant or owner, count=limits.slots, wait_seconds=limits.slot_wait_seconds):
            return _evaluate_in_child(task, envelope_text.encode(errors="replace"))
    except SlotsBusyError:
        return _failed(SANDBOX_BUSY, "no evaluation slot was free in time")
    except TimeoutError:
        return _failed(SANDBOX_FAILURE, "the evaluation did not end in time")
    except (SandboxDiedError, ProtocolError, MalformedAnswerError, OSError):
        return _failed(SANDBOX_FAILURE, "the sandbox process broke down")


def check_compiles(*, expressions: Sequence[str], limits: Limits) -> list[str | None]:
    """Return for each expression None, or in one line of at most 300 characters why it cannot be saved.

    A throw-away process compiles each in a fork of its own, so an expression that is deadly to compile is only
    refused. Raises SandboxUnavailableError when the check cannot be made.
    """
    reasons = [_refusal(expression) for expression in expressions]
    acceptable = [index for index, reason in enumerate(reasons) if reason is None]
    if acceptable:
        found = _compile_reasons([expressions[index] for index in acceptable], limits)
        for index, reason in zip(acceptable, found, strict=True):
            reasons[index] = reason
    return reasons


def close_all() -> None:
    """End every idle sandbox process of this server process."""
    _pool.close_all()


_pool = Pool(capacity=_IDLE_PROCESSES, idle_seconds=_IDLE_SECONDS)


def _start_anew_after_fork() -> None:
    global _pool  # noqa: PLW0603 - a pool inherited over a fork belongs to the parent
    _pool = Pool(capacity=_IDLE_PROCESSES, idle_seconds=_IDLE_SECONDS)
    slots.forget()


os.register_at_fork(after_in_child=_start_anew_after_fork)
atexit.register(close_all)


@dataclass(frozen=True)
class _Task:
    """What a process prepares, and for whom."""

    owner: str
    expressions: tuple[str, ...]
    params_text: str
    limits: Limits

    def key(self) -> Key:
        prepared = repr((self.expressions, self.params_text, self.limits))
        return Key(self.owner, hashlib.sha256(prepared.encode()).hexdigest())

    def request(self) -> bytes:
        # A row may have bypassed the validation of a save: what the policy refuses never reaches libjq.
        acceptable = [None if _refusal(expression) else expression for expression in self.expressions]
        return _request("evaluate", acceptable, self.limits, self.params_text)


def _evaluate_in_child(task: _Task, envelope: bytes) -> Evaluation:
    """Ask the prepared process, or a new one when there is none or it died while it was idle."""
    deadline = time.monotonic() + task.limits.deadline_seconds
    prepared = _pool.take(task.key())
    if prepared is not None:
        try:
            return _ask(prepared, task, envelope, deadline)
        except SandboxDiedError:
            pass
    return _ask(SandboxProcess(task.request()), task, envelope, deadline)


def _ask(process: SandboxProcess, task: _Task, envelope: bytes, deadline: float) -> Evaluation:
    """Return the child's evaluation; a child that failed in any way is not used again."""
    try:
        evaluation = read_evaluation(process.ask(envelope, deadline=deadline), len(task.expressions))
    except BaseException:
        process.close()
        raise
    if any(fault.rule_index < 0 for fault in evaluation.faults):
        process.close()
    else:
        _pool.give_back(task.key(), process)
    return evaluation


def _failed(cause: str, detail: str) -> Evaluation:
    return Evaluation(None, (Fault(-1, cause, detail),))


def _refusal(expression: str) -> str | None:
    try:
        check_expression(expression)
    except ExpressionRefusedError as refused:
        return str(refused)[:REASON_LIMIT]
    return None


def _compile_reasons(expressions: list[str], limits: Limits) -> list[str | None]:
    request = _request("check", expressions, limits, params_text="{}")
    try:
        with host_slot(count=limits.slots, wait_seconds=_CHECK_SLOT_WAIT_SECONDS):
            process = SandboxProcess(request)
            try:
                answer = process.ask(None, deadline=time.monotonic() + _CHECK_SECONDS)
            finally:
                process.close()
        return read_reasons(answer, len(expressions))
    except (SlotsBusyError, SandboxDiedError, ProtocolError, MalformedAnswerError, OSError) as error:
        raise SandboxUnavailableError("the expressions could not be checked now") from error


def _request(task: str, expressions: Sequence[str | None], limits: Limits, params_text: str) -> bytes:
    request = {
        "task": task,
        "expressions": list(expressions),
        "params_text": params_text,
        "memory_mib": limits.memory_mib,
        "rule_cpu_ms": limits.rule_cpu_ms,
        "event_cpu_ms": limits.event_cpu_ms,
    }
    return json.dumps(request).encode()
