"""Turn an evaluation and the grant of the moment into a decision with its trace; pure functions (SPEC-0020)."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from routing.grant import Grant, Target
from routing.rules import Action, read_action
from routing.sandbox.client import Evaluation, Fault
from switchboard.errors import SwitchboardError
from switchboard.text import one_line

NO_MATCH = "no_match_default"
RULE_NOT_GRANTED = "rule_not_granted"
DEFAULT_NOT_GRANTED = "default_not_granted"


@dataclass(frozen=True)
class Decision:
    """Where a delivery goes: nowhere (`drop`), or to `queue` of each target, with the trace that says why."""

    action: Action
    targets: tuple[Target, ...]
    trace: Mapping[str, Any]
    once_key: str | None = None

    @property
    def drop(self) -> bool:
        """Whether the delivery makes no todo."""
        return self.action.drop

    def as_json(self) -> dict[str, Any]:
        """Return the decision as a dry-run shows it."""
        if self.drop:
            return {"drop": True}
        endpoints = [target.endpoint_id for target in self.targets]
        return {"drop": False, "queue": self.action.queue, "endpoints": endpoints}


def decide(
    *,
    rules: Sequence[object],
    default_action: object,
    grant: Grant,
    evaluation: Evaluation,
    subject_key: str | None,
) -> Decision:
    """Apply the matched rule's action, or the default, against the grant.

    `rules` and `default_action` are the stored JSON and need not have passed validation: what cannot be read or
    reaches outside the grant takes the default, and the default falls back to the webhook's target queue on
    every target. `subject_key` is the delivery's subject, for `once`.
    """
    context = _Context(grant, _faults_json(evaluation.faults, rules), subject_key)
    matched = evaluation.matched
    if matched is None or not 0 <= matched < len(rules):
        return _take_default(default_action, context, {"cause": NO_MATCH})
    naming = _naming(rules[matched], matched)
    action = _reachable(_member(rules[matched], "action"), grant)
    if action is None:
        return _take_default(default_action, context, {"cause": RULE_NOT_GRANTED, **naming})
    return _decision("rule", action, context, naming)


def once_key_of(subject_key: str, queue: str) -> str:
    """Return the key that at-most-once delivery of a subject to a queue claims (SPEC-0020)."""
    return "once:" + hashlib.sha256(f"{subject_key}\0{queue}".encode("utf-8", "replace")).hexdigest()


@dataclass(frozen=True)
class _Context:
    """What every branch of a decision needs."""

    grant: Grant
    faults: list[dict[str, Any]]
    subject_key: str | None


def _take_default(stored: object, context: _Context, why: dict[str, Any]) -> Decision:
    action = Action(queue=context.grant.target_queue)
    if stored is not None:
        configured = _reachable(stored, context.grant)
        why = why if configured else why | {"cause": DEFAULT_NOT_GRANTED}
        action = configured or action
    return _decision("default", action, context, why)


def _decision(stage: str, action: Action, context: _Context, why: Mapping[str, Any]) -> Decision:
    trace = {"stage": stage, **why, "action": action.as_json()}
    if context.faults:
        trace["faults"] = context.faults
    once_key = None
    if action.once and action.queue is not None and context.subject_key is not None:
        once_key = trace["once_key"] = once_key_of(context.subject_key, action.queue)
    return Decision(action, _targets(action, context.grant), trace, once_key)


def _reachable(stored: object, grant: Grant) -> Action | None:
    """Return the action when it can be read and the grant leaves it something to do, else None."""
    try:
        action = read_action(stored)
    except SwitchboardError:
        return None
    if action.drop:
        return action
    return action if action.queue in grant.queues and _targets(action, grant) else None


def _targets(action: Action, grant: Grant) -> tuple[Target, ...]:
    if action.drop:
        return ()
    candidates = grant.candidates(action.endpoints)
    if action.exclusive:
        return tuple(target for target in candidates if action.queue in target.scope_queues)[:1]
    return candidates


def _naming(rule: object, index: int) -> dict[str, Any]:
    names = {"rule_id": _member(rule, "id"), "rule_name": _member(rule, "name")}
    shown = {key: one_line(text, limit=128) for key, text in names.items() if isinstance(text, str) and text}
    return {"rule_index": index, **shown}


def _member(rule: object, key: str) -> object:
    return rule.get(key) if isinstance(rule, Mapping) else None


def _faults_json(faults: Sequence[Fault], rules: Sequence[object]) -> list[dict[str, Any]]:
    return [_fault_json(fault, rules) for fault in faults]


def _fault_json(fault: Fault, rules: Sequence[object]) -> dict[str, Any]:
    shown: dict[str, Any] = {"rule_index": fault.rule_index}
    if 0 <= fault.rule_index < len(rules):
        shown |= {key: value for key, value in _naming(rules[fault.rule_index], 0).items() if key == "rule_id"}
    shown["cause"] = fault.cause
    return shown | ({"detail": fault.detail} if fault.detail else {})
