"""Evaluates a prepared rule list, first match wins, in forks bounded by CPU time; standard library and jq only."""

import os
import struct
import time
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from routing.sandbox.compiling import compile_reasons, compile_rules
from routing.sandbox.faults import DETAIL_LIMIT, describe
from routing.sandbox.fork import Ended, arm, run_in_fork
from routing.sandbox.program import input_text

REFUSED: Final = "the expression is not one that may be saved"
UNREADABLE: Final = "the envelope could not be read within the sandbox's limits"

_RECORD: Final = struct.Struct("!BdH")
_TEXT_LIMIT: Final = 960  # bytes, so that the records of 33 outputs fit into a pipe that nobody reads yet
_LEAST_SECONDS: Final = 0.001  # a timer of zero would bound nothing
_MARK, _NO_MATCH, _MATCH, _ERROR, _ESCAPED = range(5)


class Fault(NamedTuple):
    """A fault as it goes over the protocol."""

    rule_index: int
    cause: str
    detail: str | None


class Answer(NamedTuple):
    """What one evaluation found: the index of the first match, if any, and the faults before it."""

    matched: int | None
    faults: list[Fault]


class _Record(NamedTuple):
    """One output of the program, as the fork reports it."""

    code: int
    spent: float  # CPU seconds since the mark
    text: str


class _SandboxFailure(Exception):
    """The evaluation broke as a whole; the message is the fault's detail."""


class RuleList:
    """One webhook's rules, compiled once; `None` among the expressions is one that the policy refused."""

    def __init__(
        self, *, expressions: Sequence[str | None], params_text: str, rule_seconds: float, event_seconds: float
    ) -> None:
        self._expressions = list(expressions)
        self._broken = {index: REFUSED for index, text in enumerate(expressions) if text is None}
        self._rule_seconds = rule_seconds
        self._event_seconds = event_seconds
        self._program = self._compile(params_text)

    def evaluate(self, envelope_text: str) -> Answer:
        """Return what the rules say about the envelope.

        A rule that runs out of its CPU time dies with its fork, and a new fork goes on after it until the CPU time
        of the event is spent (SPEC-0020, "Budgets").
        """
        faults: list[Fault] = []
        start, left = 0, self._event_seconds
        try:
            while start < len(self._expressions) and left >= _LEAST_SECONDS:
                ended = run_in_fork(partial(self._evaluate_from, start, envelope_text, left))
                records = _read_records(ended.written)
                matched = self._collect(records, start, faults)
                if matched is not None:
                    return Answer(matched, faults)
                start, left = self._go_on(ended, records, start, left, faults)
        except _SandboxFailure as failure:
            return Answer(None, [*faults, Fault(-1, "sandbox_failure", str(failure))])
        faults += [self._not_reached(index) for index in range(start, len(self._expressions))]
        return Answer(None, faults)

    def _compile(self, params_text: str) -> Any:
        try:
            return compile_rules(self._expressions, params_text)
        except ValueError:
            self._set_broken_aside()
        return compile_rules(self._expressions, params_text)

    def _set_broken_aside(self) -> None:
        usable = {index: text for index, text in enumerate(self._expressions) if text is not None}
        for index, reason in zip(usable, compile_reasons(list(usable.values())), strict=True):
            if reason is not None:
                self._broken[index] = reason[:DETAIL_LIMIT]
                self._expressions[index] = None

    def _evaluate_from(self, start: int, envelope_text: str, left: float, descriptor: int) -> None:
        """Report the verdicts from rule `start` on, in a fork: it dies when a rule takes too long."""
        verdicts = iter(self._program.input_text(input_text(start, envelope_text)))
        next(verdicts)
        began, spent = time.process_time(), 0.0
        os.write(descriptor, _RECORD.pack(_MARK, spent, 0))
        for _ in range(start, len(self._expressions)):
            arm(min(self._rule_seconds, left - spent))
            code, text = _next_verdict(verdicts)
            arm(0)
            spent = time.process_time() - began
            encoded = text.encode(errors="replace")[:_TEXT_LIMIT]
            os.write(descriptor, _RECORD.pack(code, spent, len(encoded)) + encoded)
            if code in {_MATCH, _ESCAPED} or left - spent < _LEAST_SECONDS:
                return

    def _collect(self, records: list[_Record], start: int, faults: list[Fault]) -> int | None:
        """Add the faults that the records tell of; return the index of the match, if any."""
        for index, record in enumerate(records[1:], start):
            if record.code == _MATCH:
                return index
            if index in self._broken:
                faults.append(Fault(index, "compile_error", self._broken[index]))
            elif record.code in {_ERROR, _ESCAPED}:
                kind, _, text = record.text.partition(":")
                faults.append(Fault(index, "error", describe(kind, text, self._expressions[index] or "")))
        return None

    def _go_on(
        self, ended: Ended, records: list[_Record], start: int, left: float, faults: list[Fault]
    ) -> tuple[int, float]:
        """Return the rule to go on with and the event's CPU seconds left, after a fork without a match."""
        if not records:
            raise _SandboxFailure(UNREADABLE)
        reached = start + len(records) - 1
        left -= records[-1].spent
        if ended.out_of_cpu and reached < len(self._expressions):
            faults.append(Fault(reached, "timeout", None))
            return reached + 1, left - self._rule_seconds
        if reached < len(self._expressions) and left >= _LEAST_SECONDS and records[-1].code != _ESCAPED:
            raise _SandboxFailure(f"the sandbox broke down in the rule at index {reached}")
        return reached, left

    def _not_reached(self, index: int) -> Fault:
        if index in self._broken:
            return Fault(index, "compile_error", self._broken[index])
        return Fault(index, "budget_exhausted", None)


def _next_verdict(verdicts: Iterator[Any]) -> tuple[int, str]:
    try:
        verdict = next(verdicts)
    except ValueError as error:  # an error that `catch` does not see; the program is over with it
        return _ESCAPED, f"string:{error}"
    if isinstance(verdict, int):
        return (_MATCH if verdict else _NO_MATCH), ""
    kind, text = verdict or ("object", "")
    return _ERROR, f"{kind}:{text}"


def _read_records(written: bytes) -> list[_Record]:
    records = []
    offset = 0
    while offset + _RECORD.size <= len(written):
        code, spent, length = _RECORD.unpack_from(written, offset)
        offset += _RECORD.size
        records.append(_Record(code, spent, written[offset : offset + length].decode(errors="replace")))
        offset += length
    return records
