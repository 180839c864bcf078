"""What an evaluation may cost, and that exceeding it harms nobody else."""

import resource
import time

import pytest

from routing.sandbox.client import Evaluation, Fault
from tests.routing.sandbox.evaluations import causes, evaluate_rules

RUNAWAY = "def f: f; f"
HUGE_STRING = '"x" as $x | $x * 1000000000'


def test_a_runaway_rule_does_not_block_the_rules_after_it() -> None:
    began = time.monotonic()
    evaluation = evaluate_rules(RUNAWAY, "[range(1e8)]", "reduce range(1e7) as $i (0; . + 1)", "true")
    assert evaluation == Evaluation(3, (Fault(0, "timeout"), Fault(1, "timeout"), Fault(2, "timeout")))
    assert time.monotonic() - began < 2


def test_what_is_not_reached_within_the_events_budget_is_recorded_so() -> None:
    evaluation = evaluate_rules(*[RUNAWAY] * 7, "true")
    timeouts = [(index, "timeout") for index in range(5)]
    assert causes(evaluation) == [*timeouts, *((index, "budget_exhausted") for index in (5, 6, 7))]
    assert evaluation.matched is None


def test_rules_that_are_slow_together_exhaust_the_events_budget() -> None:
    evaluation = evaluate_rules(*["reduce range(100000) as $i (0; . + 1) | false"] * 32, event_cpu_ms=100)
    assert evaluation.matched is None
    assert causes(evaluation)[-1] == (31, "budget_exhausted")


def test_a_catastrophic_pattern_is_a_timeout() -> None:
    evaluation = evaluate_rules('"a" * 44 + "!" | test("^(a+)+$")', "true")
    assert evaluation == Evaluation(1, (Fault(0, "timeout"),))


def test_a_match_is_found_although_the_rules_before_it_used_up_their_time() -> None:
    evaluation = evaluate_rules(RUNAWAY, ".nope", RUNAWAY, 'error("x")', ".issue")
    assert (evaluation.matched, causes(evaluation)) == (4, [(0, "timeout"), (2, "timeout"), (3, "error")])


def test_parsing_the_envelope_is_not_charged_to_the_first_rule() -> None:
    envelope = {"payload": [{"name": f"item {number}"} for number in range(60_000)]}
    evaluation = evaluate_rules(".payload | length == 60000", envelope=envelope, rule_cpu_ms=15)
    assert evaluation == Evaluation(0, ())


@pytest.mark.parametrize(
    "expression",
    [
        HUGE_STRING,
        '"x" | [limit(40; recurse(. + .))]',
        "def f: 1 + f; f",
        "def f: [f]; f",
        "[range(1e9)]",
        '"x" * 1000000000',
    ],
)
def test_exhausted_memory_fails_the_evaluation_and_nothing_else(expression: str) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    evaluation = evaluate_rules(".nope", expression, "true", rule_cpu_ms=1500, event_cpu_ms=1500)
    assert (evaluation.matched, causes(evaluation)) == (None, [(-1, "sandbox_failure")])
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 8 * 1024
    assert evaluate_rules("true") == Evaluation(0, ())


def test_the_failure_names_the_rule_that_was_running() -> None:
    evaluation = evaluate_rules('error("x")', HUGE_STRING)
    assert causes(evaluation) == [(0, "error"), (-1, "sandbox_failure")]
    assert evaluation.faults[1].detail == "the sandbox broke down in the rule at index 1"


def test_a_deadly_rule_stays_inside_its_default_limits() -> None:
    began = time.monotonic()
    evaluation = evaluate_rules("def f: 1 + f; f", "true")
    assert causes(evaluation) in ([(0, "timeout")], [(-1, "sandbox_failure")])
    assert time.monotonic() - began < 1


def test_a_path_of_65000_steps_is_an_error_of_its_rule() -> None:
    evaluation = evaluate_rules('[range(65000) | "a"] as $path | null | setpath($path; 1)', "true", rule_cpu_ms=250)
    assert evaluation == Evaluation(1, (Fault(0, "error", "path too deep"),))


@pytest.mark.parametrize(
    "expression", ["(" * 2047 + "1" + ")" * 2047, "[" * 2047 + "]" * 2047, "-" * 4095 + "1", "1" + "+1" * 2047]
)
def test_an_expression_of_4096_bytes_nested_to_its_end_is_answered(expression: str) -> None:
    assert evaluate_rules(".nope", expression) == Evaluation(1, ())


def test_thirty_two_rules_of_4096_bytes_are_prepared_and_evaluated() -> None:
    expression = (".issue" + ".a?" * 1363)[:4096].rstrip(".")
    assert evaluate_rules(*[expression] * 31, "true").matched == 31


@pytest.mark.parametrize(
    "envelope_text",
    [
        pytest.param('{"payload":[' + ",".join(["1"] * 2_600_000) + "]}", id="5 MiB of small integers"),
        pytest.param("[" * 100_000 + "]" * 100_000, id="100,000 nested arrays"),
        pytest.param('{"payload":', id="half an envelope"),
    ],
)
def test_an_envelope_that_cannot_be_read_fails_the_evaluation_and_no_other(envelope_text: str) -> None:
    evaluation = evaluate_rules("true", envelope_text=envelope_text)
    assert (evaluation.matched, causes(evaluation)) == (None, [(-1, "sandbox_failure")])
    assert evaluate_rules("true") == Evaluation(0, ())


def test_a_megabyte_of_ordinary_payload_is_evaluated() -> None:
    envelope = {"payload": {"commits": [{"id": "f" * 40, "message": "m" * 460} for _ in range(2000)]}}
    assert evaluate_rules(".payload.commits | length == 2000", envelope=envelope) == Evaluation(0, ())


def test_the_hard_deadline_is_wall_time() -> None:
    began = time.monotonic()
    evaluation = evaluate_rules(*[RUNAWAY] * 32, rule_cpu_ms=60_000, event_cpu_ms=60_000, deadline_seconds=0.5)
    assert evaluation == Evaluation(None, (Fault(-1, "sandbox_failure", "the evaluation did not end in time"),))
    assert time.monotonic() - began < 1.5


def test_a_cost_of_one_delivery_does_not_reach_into_the_next() -> None:
    rules = ('.payload == "heavy" | if . then def f: f; f else false end', "true")
    for _ in range(3):
        assert causes(evaluate_rules(*rules, envelope={"payload": "heavy"})) == [(0, "timeout")]
        assert evaluate_rules(*rules, envelope={"payload": "light"}) == Evaluation(1, ())
