"""A child that lies, floods or falls silent costs the delivery its rules, and the server nothing."""

import json
import sys
from pathlib import Path
from typing import Protocol

import pytest

from routing.sandbox import process
from routing.sandbox.client import Limits, SandboxUnavailableError, check_compiles
from routing.sandbox.protocol import PREFIX, frame
from tests.routing.sandbox.evaluations import causes, evaluate_rules, sandbox_pids

READ_THEN = "import os, sys, time\nos.read(0, 65536)\n"


class Replace(Protocol):
    def __call__(self, answer: bytes = b"", *, code: str = "") -> None: ...


@pytest.fixture
def child_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Replace:
    """Replace the child by a script that reads something and then writes these bytes."""

    def replace(answer: bytes = b"", *, code: str = "") -> None:
        script = tmp_path / "liar.py"
        script.write_text(f"{READ_THEN}os.write(0, {answer!r})\n{code}")
        monkeypatch.setattr(process, "command", lambda: [sys.executable, "-I", "-S", str(script)])

    return replace


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"hello\n",
        b"[0, []]",
        PREFIX,
        PREFIX + b"\xff\xff\xff\xff",
        frame(b"")[:-1],
        frame(b""),
        frame(b"\xff\xfe"),
        frame(b"not json"),
        frame(b"[" * 60_000),
        frame(b"{}"),
        frame(b"[0]"),
        frame(b"[0, [], 1]"),
        frame(b"[0, 5]"),
        frame(b'[null, ["text"]]'),
        frame(b"[null, [[0]]]"),
        frame(b'[null, [[0, "error", null, 1]]]'),
    ],
)
def test_garbage_is_a_sandbox_failure(child_answers: Replace, answer: bytes) -> None:
    child_answers(answer)
    evaluation = evaluate_rules("true", "true")
    assert (evaluation.matched, causes(evaluation)) == (None, [(-1, "sandbox_failure")])
    assert sandbox_pids() == []


@pytest.mark.parametrize("index", [-1, 2, 10**30, 0.0, True, "0", [0], 1e999])
def test_an_index_out_of_range_is_ignored(child_answers: Replace, index: object) -> None:
    child_answers(frame(json.dumps([index, []]).encode()))
    evaluation = evaluate_rules("true", "true")
    assert (evaluation.matched, causes(evaluation)) == (None, [(-1, "sandbox_failure")])


@pytest.mark.parametrize(
    "fault",
    [
        [2, "error", None],
        [-2, "error", None],
        [-1, "error", None],
        [0, "sandbox_failure", None],
        [0, "made_up", None],
        [0, ["error"], None],
        [True, "error", None],
        [0, "error", 5],
        [0, "error", "x" * 201],
        [0, "error", "two\nlines"],
        [0, "error", "\u001b[31m"],
    ],
)
def test_a_fault_that_no_sound_child_reports_is_a_sandbox_failure(child_answers: Replace, fault: object) -> None:
    child_answers(frame(json.dumps([0, [fault]]).encode()))
    evaluation = evaluate_rules("true", "true")
    assert (evaluation.matched, causes(evaluation)) == (None, [(-1, "sandbox_failure")])


def test_more_faults_than_rules_are_a_sandbox_failure(child_answers: Replace) -> None:
    child_answers(frame(json.dumps([None, [[0, "error", None]] * 40]).encode()))
    assert causes(evaluate_rules("true")) == [(-1, "sandbox_failure")]


def test_a_well_formed_answer_is_believed(child_answers: Replace) -> None:
    child_answers(frame(b'[1, [[0, "error", "why"]]]'), code="time.sleep(60)")
    evaluation = evaluate_rules("false", "false")
    assert (evaluation.matched, causes(evaluation)) == (1, [(0, "error")])


def test_silence_ends_at_the_deadline(child_answers: Replace) -> None:
    child_answers(code="time.sleep(60)")
    evaluation = evaluate_rules("true", deadline_seconds=0.3)
    assert causes(evaluation) == [(-1, "sandbox_failure")]


def test_an_answer_that_drips_in_ends_at_the_deadline(child_answers: Replace) -> None:
    drip = f"for byte in {frame(b'[0, []]')!r}:\n    os.write(0, bytes([byte]))\n    time.sleep(0.1)\n"
    child_answers(code=drip)
    assert causes(evaluate_rules("true", deadline_seconds=0.4)) == [(-1, "sandbox_failure")]


def test_a_flood_is_not_read(child_answers: Replace) -> None:
    child_answers(code="while True: os.write(0, b'y' * 65536)")
    assert causes(evaluate_rules("true")) == [(-1, "sandbox_failure")]


def test_a_child_that_reads_nothing_does_not_hold_a_large_delivery_past_the_deadline(child_answers: Replace) -> None:
    child_answers(code="time.sleep(60)")
    evaluation = evaluate_rules("true", envelope={"payload": "x" * 3_000_000}, deadline_seconds=0.3)
    assert causes(evaluation) == [(-1, "sandbox_failure")]


def test_a_child_that_cannot_be_started_is_a_sandbox_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "command", lambda: ["/nonexistent/interpreter"])
    assert causes(evaluate_rules("true")) == [(-1, "sandbox_failure")]


@pytest.mark.parametrize("answer", [b"", frame(b"[]"), frame(b"{}"), frame(b"[5]"), frame(b'["two\\nlines"]')])
def test_a_compile_check_that_breaks_down_says_so(child_answers: Replace, answer: bytes) -> None:
    child_answers(answer)
    with pytest.raises(SandboxUnavailableError):
        check_compiles(expressions=["true"], limits=Limits())
