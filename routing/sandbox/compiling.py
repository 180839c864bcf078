"""Finds out which expressions compile, each in a fork that may die of it; standard library and jq only."""

import os
from collections.abc import Sequence
from functools import partial
from typing import Any, Final

import jq

from routing.sandbox.faults import tidy_compile_message
from routing.sandbox.fork import arm, run_in_fork
from routing.sandbox.program import program_text

LIST_CPU_SECONDS: Final = 1.0
EXPRESSION_CPU_SECONDS: Final = 0.25
TOO_COSTLY: Final = "the expression is too costly to compile"
TOO_COSTLY_TOGETHER: Final = "the rules are too costly to compile together"
INCOMPLETE: Final = "the expression is not a complete filter"


def compile_rules(expressions: Sequence[str | None], params_text: str) -> Any:
    """Return the compiled program of the list. Raises ValueError when an expression does not compile.

    The calling process is killed when libjq runs out of memory or the compiler out of its CPU time.
    """
    arm(LIST_CPU_SECONDS)
    try:
        return jq.compile(program_text(expressions), args={"params": params_text})
    finally:
        arm(0)


def compile_reasons(expressions: Sequence[str]) -> list[str | None]:
    """Return for each expression None, or why it does not compile, in at most 300 characters.

    libjq folds constants while it compiles, so a short expression can take any time and memory.
    """
    reasons: list[str | None] = []
    left = LIST_CPU_SECONDS
    for expression in expressions:
        reason, used = _reason(expression, min(EXPRESSION_CPU_SECONDS, left))
        reasons.append(reason)
        left -= used
    if reasons and not any(reasons) and not _compile_together(expressions):
        reasons[-1] = TOO_COSTLY_TOGETHER
    return reasons


def _reason(expression: str, cpu_seconds: float) -> tuple[str | None, float]:
    if cpu_seconds <= 0:
        return TOO_COSTLY, 0.0
    ended = run_in_fork(partial(_compile_and_tell, expression, cpu_seconds))
    if not ended.finished:
        return TOO_COSTLY, ended.cpu_seconds
    return ended.written.decode() or None, ended.cpu_seconds


def _compile_and_tell(expression: str, cpu_seconds: float, descriptor: int) -> None:
    arm(cpu_seconds)
    try:
        jq.compile(program_text([expression]), args={"params": "{}"})
    except ValueError:
        os.write(descriptor, _complaint(expression).encode(errors="replace"))


def _complaint(expression: str) -> str:
    # The complaint about the expression alone names the owner's own lines and columns.
    try:
        jq.compile(expression, args={"params": {}})
    except ValueError as error:
        return tidy_compile_message(str(error))
    return INCOMPLETE


def _compile_together(expressions: Sequence[str]) -> bool:
    return run_in_fork(lambda _: compile_rules(expressions, "{}")).finished
