"""Which rule of a list matches, and what is recorded of the ones before it."""

import pytest

from routing.sandbox.client import Evaluation, Fault
from tests.routing.sandbox.evaluations import causes, evaluate_rules, sandbox_pids


def test_first_match_wins() -> None:
    # The later rule would be killed for its time if it were evaluated.
    evaluation = evaluate_rules(".nope", '.issue.author == "octavia"', "def f: f; f")
    assert evaluation == Evaluation(1, ())


def test_deterministic_replay() -> None:
    rules = ("error(null)", ".payload.list | any(. == 2)")
    assert evaluate_rules(*rules) == evaluate_rules(*rules) == evaluate_rules(*rules, owner="another")


@pytest.mark.parametrize(
    ("expression", "matches"),
    [
        ("false, true", False),
        ('true, error("x")', True),
        ("empty", False),
        ("null", False),
        ("false", False),
        ("0", True),
        ('""', True),
        ("[]", True),
        ("{}", True),
        ("first(range(1e9))", True),
        ("range(1e9)", True),
        ("(1, 2) | empty", False),
    ],
)
def test_a_rule_matches_when_its_first_output_is_truthy(expression: str, matches: bool) -> None:
    assert evaluate_rules(expression) == Evaluation(0 if matches else None, ())


def test_an_error_is_recorded_and_the_next_rule_applies() -> None:
    assert evaluate_rules("error(null)", "true") == Evaluation(1, (Fault(0, "error", "the expression raised null"),))


@pytest.mark.parametrize("forged", ["error({__jq: 0})", "error({__jq: 1})", "error({__jq: 2})", "error({__jq: 99})"])
def test_a_forged_break_is_an_error_of_its_own_rule_only(forged: str) -> None:
    evaluation = evaluate_rules(forged, forged, "true")
    assert (evaluation.matched, causes(evaluation)) == (2, [(0, "error"), (1, "error")])


def test_a_label_breaks_inside_its_rule() -> None:
    assert evaluate_rules("label $out | break $out", "label $out | 1, break $out") == Evaluation(1, ())


def test_an_expression_that_rebinds_the_input_faults_with_a_detail_that_explains_it() -> None:
    evaluation = evaluate_rules("any($params.bots[]; . == .payload.sender.login)", params_text='{"bots": ["renovate"]}')
    assert evaluation.faults == (Fault(0, "error", 'cannot index string with string "payload"'),)


def test_integers_beyond_a_double_are_compared_by_their_digits() -> None:
    rule = ".payload.id == 9007199254740993"
    assert evaluate_rules(rule, envelope_text='{"payload":{"id":9007199254740993}}').matched == 0
    assert evaluate_rules(rule, envelope_text='{"payload":{"id":9007199254740992}}').matched is None


def test_params_keep_their_digits_too() -> None:
    rule = ".id == $params.id"
    for identifier, matched in (("9007199254740993", 0), ("9007199254740992", None)):
        params_text = f'{{"id":{identifier}}}'
        evaluation = evaluate_rules(rule, envelope_text='{"id":9007199254740993}', params_text=params_text)
        assert evaluation == Evaluation(matched, ())


def test_missing_params_fail_closed() -> None:
    assert evaluate_rules(".issue.author as $a | any(($params.trusted // [])[]; . == $a)") == Evaluation(None, ())


def test_an_allowlist_lives_beside_the_rules_out_of_the_payloads_reach() -> None:
    rule = ".issue.author as $a | any($params.trusted[]; . == $a)"
    forged = {"issue": {"author": "mallory"}, "params": {"trusted": ["mallory"]}, "trusted": ["mallory"]}
    params_text = '{"trusted": ["octavia"]}'
    assert evaluate_rules(rule, envelope=forged, params_text=params_text).matched is None
    assert evaluate_rules(rule, params_text=params_text).matched == 0


def test_a_rule_that_no_longer_compiles_leaves_the_others_in_force() -> None:
    evaluation = evaluate_rules(".a |", "no_such_function", ".issue", "true |")
    assert (evaluation.matched, causes(evaluation)) == (2, [(0, "compile_error"), (1, "compile_error")])
    assert evaluation.faults[1].detail == "no_such_function/0 is not defined (line 1, column 1)"


@pytest.mark.parametrize("stored", ["now", "$ENV.PATH", '"\\(env)"', "input", ") , (true", "# \\", "", "a\0b"])
def test_a_stored_rule_that_bypassed_validation_is_a_compile_error(stored: str) -> None:
    evaluation = evaluate_rules(stored, "true")
    assert (evaluation.matched, causes(evaluation)) == (1, [(0, "compile_error")])


@pytest.mark.parametrize(
    "comment", [".nope # the end", ".nope # the end \\", ".nope # the end \\\\\\", ".nope # the end \\\r", ".nope #"]
)
def test_a_comment_at_the_end_never_swallows_the_next_rule(comment: str) -> None:
    assert evaluate_rules(comment, comment, ".issue") == Evaluation(2, ())


@pytest.mark.parametrize(
    "escape", [") , (true", ".a) | (true", "] | [true", 'true" ', '"\\(', "true else 1 end", "1 end | if true then 1"]
)
def test_no_bracket_string_or_keyword_escapes_its_rules_place(escape: str) -> None:
    evaluation = evaluate_rules(".nope", escape, escape, ".nope")
    assert (evaluation.matched, causes(evaluation)) == (None, [(1, "compile_error"), (2, "compile_error")])


def test_a_definition_of_one_rule_is_unknown_to_the_next() -> None:
    evaluation = evaluate_rules("def mine: false; mine", "mine", ". as $mine | false", "$mine", "true")
    assert (evaluation.matched, causes(evaluation)) == (4, [(1, "compile_error"), (3, "compile_error")])


def test_the_compiled_input_and_texts_of_the_program_are_not_visible() -> None:
    assert evaluate_rules('type != "object" or has("issue") == false', '$params | type != "object"').matched is None


def test_times_are_those_of_utc_whatever_the_host_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    assert evaluate_rules('86400 | strftime("%H %Z %s") | startswith("00 ") and endswith(" 86400")').matched == 0


def test_a_webhook_with_no_rules_starts_no_child() -> None:
    assert evaluate_rules() == Evaluation(None, ())
    assert sandbox_pids() == []
