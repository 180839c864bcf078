"""Reads what a sandbox process answered, believing none of it."""

import json
from dataclasses import dataclass
from typing import Final

DETAIL_LIMIT: Final = 200  # characters
REASON_LIMIT: Final = 300  # characters
SANDBOX_FAILURE: Final = "sandbox_failure"

_RULE_CAUSES: Final = ("error", "timeout", "compile_error", "budget_exhausted")


@dataclass(frozen=True)
class Fault:
    """What kept a rule (or with index -1 the whole evaluation) from giving a verdict; `detail` is one line."""

    rule_index: int
    cause: str
    detail: str | None = None


@dataclass(frozen=True)
class Evaluation:
    """The index of the first matching rule, if any, and the faults on the way, in order."""

    matched: int | None
    faults: tuple[Fault, ...]


class MalformedAnswerError(Exception):
    """The child answered something that no sound child answers."""


def read_evaluation(answer: bytes, count: int) -> Evaluation:
    """Return the evaluation of `count` rules that the answer holds. Raises MalformedAnswerError."""
    value = _parse(answer)
    if not isinstance(value, list) or len(value) != 2 or not isinstance(value[1], list) or len(value[1]) > count + 1:
        raise MalformedAnswerError
    matched, faults = value
    if matched is not None and not _is_index(matched, count):
        raise MalformedAnswerError
    return Evaluation(matched, tuple(_read_fault(fault, count) for fault in faults))


def read_reasons(answer: bytes, count: int) -> list[str | None]:
    """Return why each of `count` expressions does not compile, or None. Raises MalformedAnswerError."""
    reasons = _parse(answer)
    if not isinstance(reasons, list) or len(reasons) != count:
        raise MalformedAnswerError
    if not all(reason is None or _is_line(reason, REASON_LIMIT) for reason in reasons):
        raise MalformedAnswerError
    return reasons


def _parse(answer: bytes) -> object:
    try:
        value: object = json.loads(answer)
    except (ValueError, RecursionError) as error:
        raise MalformedAnswerError from error
    return value


def _read_fault(value: object, count: int) -> Fault:
    if not isinstance(value, list) or len(value) != 3:
        raise MalformedAnswerError
    index, cause, detail = value
    of_a_rule = _is_index(index, count) and cause in _RULE_CAUSES
    of_the_whole = index == -1 and cause == SANDBOX_FAILURE
    if not (of_a_rule or of_the_whole) or not (detail is None or _is_line(detail, DETAIL_LIMIT)):
        raise MalformedAnswerError
    return Fault(index, cause, detail)


def _is_index(value: object, count: int) -> bool:
    return type(value) is int and 0 <= value < count


def _is_line(value: object, limit: int) -> bool:
    return isinstance(value, str) and len(value) <= limit and value.isprintable()
