"""What a save learns about its expressions, and that a deadly one does not harm the server that asks."""

import resource
import time

import pytest

from routing.sandbox.client import Limits, check_compiles
from routing.sandbox.compiling import TOO_COSTLY
from tests.routing.sandbox.evaluations import sandbox_pids


def check(*expressions: str, **limits: int) -> list[str | None]:
    return check_compiles(expressions=expressions, limits=Limits(**limits))


def test_expressions_that_compile_have_no_complaint() -> None:
    assert check(".a", "$params.list[]", "def f: .x; f", ". as [$a] | $a # why") == [None] * 4


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        (".a |", "syntax error, unexpected end of file (line 1, column 4)"),
        (".a\n| nope", "nope/0 is not defined (line 2, column 3)"),
        ("$other", "$other is not defined (line 1, column 1)"),
        (".a as $x | $y", "$y is not defined (line 1, column 12)"),
        ("break $out", "$*label-out is not defined (line 1, column 1)"),
        ("def f: 1;", 'Top-level program not given (try ".")'),
        ("module {}; .", "the expression is not a complete filter"),
        ("now", "now is not available to a rule: it reads the clock (line 1, column 1)"),
        ("$__loc__", "$__loc__ is not defined (line 1, column 1)"),
        (") , (true", ") closes nothing (line 1, column 1)"),
    ],
)
def test_an_expression_that_does_not_compile_is_explained(expression: str, reason: str) -> None:
    assert check("true", expression, "true") == [None, reason, None]


def test_a_string_that_is_folded_while_compiling_neither_kills_nor_bloats_the_server() -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert check("true", '"x" * 1000000000', ".a") == [None, TOO_COSTLY, None]
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 8 * 1024


def test_a_list_of_deadly_expressions_is_refused_within_seconds() -> None:
    began = time.monotonic()
    assert set(check(*['"x" * 1000000000'] * 32)) == {TOO_COSTLY}
    assert time.monotonic() - began < 3


def test_a_full_list_is_checked_in_one_process_that_is_gone_afterwards() -> None:
    assert check(*[f".payload.field{number} == {number}" for number in range(32)]) == [None] * 32
    assert sandbox_pids() == []


def test_a_reason_is_one_line_that_does_not_repeat_the_program() -> None:
    (reason,) = check(". as $secret_of_the_owner |\n" * 50 + ". +")
    assert reason is not None
    assert "secret_of_the_owner" not in reason
    assert reason.isprintable()


def test_no_expressions_need_no_process() -> None:
    assert check() == []
