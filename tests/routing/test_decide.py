"""A matched rule or the default against the grant: where a delivery goes, and the trace that says why (SPEC-0020)."""

from collections.abc import Sequence
from typing import Any

import pytest

from routing.decide import Decision, decide, once_key_of
from routing.grant import Grant, Target
from routing.sandbox.client import Evaluation, Fault

OWNER, FIRST, SECOND, STRANGER = (f"0190f7a1-0000-7000-8000-00000000000{digit}" for digit in "1234")
GRANT = Grant(
    "inbox",
    ("inbox", "lane-m"),
    (
        Target(OWNER, "owner", ("inbox",)),
        Target(FIRST, "first", ("lane-m", "inbox")),
        Target(SECOND, "second", ("lane-m",)),
    ),
)
EVERYWHERE = [OWNER, FIRST, SECOND]


def rule(action: object, **more: Any) -> dict[str, Any]:
    return {"id": "the-rule", "name": None, "expr": "true", "action": action, **more}


def decided(
    *rules: object,
    matched: int | None = 0,
    default: object = None,
    grant: Grant = GRANT,
    faults: Sequence[Fault] = (),
    subject: str | None = None,
) -> Decision:
    return decide(
        rules=rules,
        default_action=default,
        grant=grant,
        evaluation=Evaluation(matched, tuple(faults)),
        subject_key=subject,
    )


def targets(decision: Decision) -> list[str]:
    return [target.endpoint_id for target in decision.targets]


def test_without_a_match_the_target_queue_of_every_target_is_the_default() -> None:
    decision = decided(matched=None)
    assert (decision.action.queue, targets(decision)) == ("inbox", EVERYWHERE)
    assert decision.trace == {"stage": "default", "cause": "no_match_default", "action": {"queue": "inbox"}}


def test_a_configured_default_takes_what_no_rule_matched() -> None:
    decision = decided(matched=None, default={"queue": "lane-m", "exclusive": True})
    assert targets(decision) == [FIRST]
    assert decision.trace["cause"] == "no_match_default"
    assert decided(matched=None, default={"drop": True}).drop


def test_a_matched_rule_is_named_on_the_trace() -> None:
    decision = decided(rule({"drop": True}), rule({"queue": "lane-m"}, id="m", name="Lane M"), matched=1)
    assert decision.trace == {
        "stage": "rule",
        "rule_index": 1,
        "rule_id": "m",
        "rule_name": "Lane M",
        "action": {"queue": "lane-m"},
    }


def test_a_drop_has_no_targets() -> None:
    decision = decided(rule({"drop": True}))
    assert (decision.drop, targets(decision), decision.as_json()) == (True, [], {"drop": True})


def test_endpoints_narrow_the_targets_in_target_order() -> None:
    decision = decided(rule({"queue": "inbox", "endpoints": [SECOND, OWNER]}))
    assert targets(decision) == [OWNER, SECOND]
    assert decision.as_json() == {"drop": False, "queue": "inbox", "endpoints": [OWNER, SECOND]}


def test_endpoints_that_are_no_longer_targets_fall_away() -> None:
    assert targets(decided(rule({"queue": "inbox", "endpoints": [STRANGER, FIRST]}))) == [FIRST]


def test_exclusive_takes_the_first_candidate_whose_scope_has_the_queue() -> None:
    assert targets(decided(rule({"queue": "lane-m", "exclusive": True}))) == [FIRST]
    narrowed = rule({"queue": "lane-m", "exclusive": True, "endpoints": [OWNER, SECOND]})
    assert targets(decided(narrowed)) == [SECOND]


@pytest.mark.parametrize(
    "action",
    [
        {"queue": "secrets"},
        {"queue": "inbox", "endpoints": [STRANGER]},
        {"queue": "lane-m", "exclusive": True, "endpoints": [OWNER]},
        {"queue": "inbox", "endpoints": []},
        {"queue": "inbox", "endpoints": "everything"},
        {"queue": "inbox", "drop": True},
        {"drop": False},
        {"queue": 5},
        {},
        "drop",
        None,
        ["queue", "inbox"],
    ],
)
def test_what_the_grant_does_not_leave_takes_the_default_and_no_later_rule(action: object) -> None:
    decision = decided(rule(action), rule({"drop": True}, id="later"))
    assert (decision.action.queue, targets(decision)) == ("inbox", EVERYWHERE)
    assert decision.trace == {
        "stage": "default",
        "cause": "rule_not_granted",
        "rule_index": 0,
        "rule_id": "the-rule",
        "action": {"queue": "inbox"},
    }


@pytest.mark.parametrize("stored", ["a text", None, 5, [], {}, {"id": 7, "name": ["x"], "expr": "true"}])
def test_a_row_that_is_no_rule_takes_the_default(stored: object) -> None:
    decision = decided(stored)
    assert targets(decision) == EVERYWHERE
    assert decision.trace == {
        "stage": "default",
        "cause": "rule_not_granted",
        "rule_index": 0,
        "action": {"queue": "inbox"},
    }


def test_a_rule_that_is_not_granted_takes_the_configured_default() -> None:
    decision = decided(rule({"queue": "secrets"}), default={"queue": "lane-m", "endpoints": [SECOND]})
    assert (decision.trace["cause"], targets(decision)) == ("rule_not_granted", [SECOND])


@pytest.mark.parametrize(
    "default",
    [
        {"queue": "secrets"},
        {"queue": "inbox", "endpoints": [STRANGER]},
        {"queue": "lane-m", "exclusive": True, "endpoints": [OWNER]},
        {"drop": "yes"},
        "inbox",
        [],
        {},
    ],
)
def test_a_default_that_is_not_reachable_is_the_target_queue_of_every_target(default: object) -> None:
    decision = decided(matched=None, default=default)
    assert (decision.action.queue, targets(decision)) == ("inbox", EVERYWHERE)
    assert decision.trace == {"stage": "default", "cause": "default_not_granted", "action": {"queue": "inbox"}}


def test_a_rule_and_a_default_out_of_reach_still_name_the_rule() -> None:
    decision = decided(rule({"queue": "secrets"}), default={"queue": "secrets"})
    assert (decision.trace["cause"], decision.trace["rule_id"]) == ("default_not_granted", "the-rule")
    assert targets(decision) == EVERYWHERE


@pytest.mark.parametrize("index", [-1, 1, 2, 99])
def test_an_index_out_of_range_is_no_match(index: int) -> None:
    decision = decided(rule({"drop": True}), matched=index)
    assert (decision.drop, decision.trace["cause"]) == (False, "no_match_default")
    assert "rule_id" not in decision.trace


def test_faults_are_recorded_with_the_rules_that_they_belong_to() -> None:
    faults = [
        Fault(0, "timeout"),
        Fault(1, "error", "cannot index string with string"),
        Fault(2, "compile_error", "unexpected end"),
        Fault(-1, "sandbox_failure", "the sandbox process broke down"),
    ]
    decision = decided(rule({"drop": True}), rule({"drop": True}, id="b"), "no rule", matched=None, faults=faults)
    assert decision.trace["faults"] == [
        {"rule_index": 0, "rule_id": "the-rule", "cause": "timeout"},
        {"rule_index": 1, "rule_id": "b", "cause": "error", "detail": "cannot index string with string"},
        {"rule_index": 2, "cause": "compile_error", "detail": "unexpected end"},
        {"rule_index": -1, "cause": "sandbox_failure", "detail": "the sandbox process broke down"},
    ]


def test_faults_before_a_match_stay_on_the_trace() -> None:
    decision = decided(rule({"drop": True}), rule({"queue": "inbox"}), matched=1, faults=[Fault(0, "timeout")])
    assert (decision.trace["stage"], len(decision.trace["faults"])) == ("rule", 1)


def test_once_claims_the_subject_in_the_decided_queue() -> None:
    once = rule({"queue": "lane-m", "once": True})
    decision = decided(once, subject="github:acme/widgets#17")
    # printf 'github:acme/widgets#17\0lane-m' | sha256sum
    expected = "once:a3d73c78f4853643d7b8627f2746ef68fc4eedd5f0fb764d399efc91230c915a"
    assert decision.once_key == decision.trace["once_key"] == expected
    assert once_key_of("github:acme/widgets#17", "inbox") != expected


def test_once_without_a_subject_claims_nothing() -> None:
    decision = decided(rule({"queue": "lane-m", "once": True}))
    assert decision.once_key is None
    assert "once_key" not in decision.trace


def test_a_rule_that_is_not_granted_claims_no_key_but_a_once_default_does() -> None:
    lost = rule({"queue": "secrets", "once": True})
    assert decided(lost, subject="cairn:a").once_key is None
    assert decided(lost, default={"queue": "inbox", "once": True}, subject="cairn:a").once_key == once_key_of(
        "cairn:a", "inbox"
    )


def test_with_no_target_left_nothing_is_delivered() -> None:
    decision = decided(rule({"queue": "inbox"}), grant=Grant("inbox", ("inbox",), ()))
    assert (targets(decision), decision.trace["cause"]) == ([], "rule_not_granted")
