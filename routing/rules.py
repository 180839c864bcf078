"""The shape, the limits and the save-time validation of a webhook's rule list (SPEC-0020)."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from routing.grant import Grant
from switchboard.errors import InvalidParams, InvalidRule, NotGranted, SwitchboardError, TooManyRules
from switchboard.ids import parse_id
from switchboard.queues import RULE as QUEUE_RULE
from switchboard.queues import is_queue
from switchboard.text import one_line, storable

MAX_RULES = 32
MAX_EXPRESSION_BYTES = 4096
MAX_NAME_BYTES = 128
MAX_ENDPOINTS = 16
MAX_PARAMS_BYTES = 16 * 1024
MAX_PARAMS_DEPTH = 64
RULE_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
FLAGS = ("exclusive", "once", "work_order")
ACTION_FIELDS = frozenset({"queue", "endpoints", *FLAGS})
RULE_FIELDS = frozenset({"id", "name", "expr", "action"})


@dataclass(frozen=True)
class Action:
    """What a rule or a default does: drop, or deliver to a queue of some or all targets."""

    queue: str | None = None
    endpoints: tuple[str, ...] | None = None
    exclusive: bool = False
    once: bool = False
    work_order: bool = False

    @property
    def drop(self) -> bool:
        """Whether the delivery makes no todo."""
        return self.queue is None

    def as_json(self) -> dict[str, Any]:
        """Return the action as it is stored and shown."""
        if self.drop:
            return {"drop": True}
        shown: dict[str, Any] = {"queue": self.queue}
        if self.endpoints is not None:
            shown["endpoints"] = list(self.endpoints)
        return shown | {flag: True for flag in FLAGS if getattr(self, flag)}


DROP = Action()


@dataclass(frozen=True)
class Rule:
    """One rule: its expression is truthy for a delivery, then its action applies."""

    id: str
    expr: str
    action: Action
    name: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the rule as it is stored and shown."""
        return {"id": self.id, "name": self.name, "expr": self.expr, "action": self.action.as_json()}


@dataclass(frozen=True)
class RuleList:
    """A webhook's whole routing configuration."""

    rules: tuple[Rule, ...] = ()
    default_action: Action | None = None
    params: Mapping[str, Any] = field(default_factory=dict)


def read_rule_list(*, rules: object, default_action: object, params: object) -> RuleList:
    """Return the rule list that untrusted JSON spells: shape and limits only, neither grant nor expressions.

    Ids are taken as given: mint missing ones before. Raises InvalidRule, TooManyRules or InvalidParams; a
    rule's error names it by index, id and name.
    """
    if not isinstance(rules, Sequence) or isinstance(rules, (str, bytes)):
        raise InvalidRule("rules must be a list.")
    if len(rules) > MAX_RULES:
        raise TooManyRules(f"A webhook may have at most {MAX_RULES} rules; this list has {len(rules)}.")
    read: list[Rule] = []
    for index, item in enumerate(rules):
        with_place = _Place(index, item)
        read.append(with_place.run(read_rule, item))
        if read[-1].id in {rule.id for rule in read[:-1]}:
            raise with_place.named(InvalidRule(f"Two rules have the id {read[-1].id}."))
    return RuleList(tuple(read), None if default_action is None else read_default(default_action), read_params(params))


def check_grant(rule_list: RuleList, grant: Grant) -> None:
    """Raise NotGranted, naming the rule, when an action reaches outside the grant."""
    for index, rule in enumerate(rule_list.rules):
        _Place(index, rule.as_json()).run(_check_action, rule.action, grant)
    if rule_list.default_action is not None:
        try:
            _check_action(rule_list.default_action, grant)
        except NotGranted as error:
            raise NotGranted(f"default_action: {error.message}", field="default_action") from None


def named(error: SwitchboardError, *, index: int, rule: object) -> SwitchboardError:
    """Return the error with the rule that it is about: `rule: {index, id, name}` and a sentence that says so."""
    return _Place(index, rule).named(error)


def read_rule(item: object) -> Rule:
    """Return the rule that a JSON object spells; raise InvalidRule."""
    if not isinstance(item, Mapping):
        raise InvalidRule("A rule must be an object with id, expr and action.")
    if unknown := set(item) - RULE_FIELDS - {"health"}:
        raise InvalidRule(f"Unknown field {_quote(min(map(str, unknown)))}; a rule has id, name, expr and action.")
    return Rule(
        id=_read_id(item.get("id")),
        expr=read_expression(item.get("expr")),
        action=read_action(item.get("action")),
        name=read_name(item.get("name")),
    )


def read_expression(expr: object) -> str:
    """Return a rule's expression text, 1 to 4,096 bytes of UTF-8; raise InvalidRule."""
    size = _byte_length(expr)
    if not isinstance(expr, str) or not expr.strip() or size is None:
        raise InvalidRule("expr must be a jq expression: a non-empty text of valid Unicode without NUL.")
    if size > MAX_EXPRESSION_BYTES:
        raise InvalidRule(f"expr may be at most {MAX_EXPRESSION_BYTES} bytes; this one has {size}.")
    return expr


def read_name(name: object) -> str | None:
    """Return a rule's name, at most 128 bytes of UTF-8, or None; raise InvalidRule."""
    if name is None or name == "":
        return None
    size = _byte_length(name)
    if not isinstance(name, str) or size is None:
        raise InvalidRule("name must be a text of valid Unicode without NUL.")
    if size > MAX_NAME_BYTES:
        raise InvalidRule(f"name may be at most {MAX_NAME_BYTES} bytes; this one has {size}.")
    return name


def read_action(action: object) -> Action:
    """Return the action that a JSON object spells: exactly one of queue and drop; raise InvalidRule."""
    if not isinstance(action, Mapping) or ("queue" in action) == ("drop" in action):
        raise InvalidRule("action must hold exactly one of queue and drop.")
    if "drop" in action:
        return _read_drop(action)
    if unknown := set(action) - ACTION_FIELDS:
        raise InvalidRule(f"Unknown field {_quote(min(map(str, unknown)))} in action.")
    if not is_queue(action["queue"]):
        raise InvalidRule(f"action.queue: {QUEUE_RULE}")
    flags = {flag: _read_flag(flag, action.get(flag, False)) for flag in FLAGS}
    return Action(queue=action["queue"], endpoints=_read_endpoints(action.get("endpoints")), **flags)


def read_default(action: object) -> Action:
    """Return the default action that a JSON object spells; raise InvalidRule or NotGranted naming default_action."""
    try:
        return read_action(action)
    except (InvalidRule, NotGranted) as error:
        raise type(error)(f"default_action: {error.message}", field="default_action") from None


def read_params(params: object) -> dict[str, Any]:
    """Return params, an object of at most 16 KiB when encoded as compact JSON; raise InvalidParams."""
    if params is None:
        return {}
    if not isinstance(params, Mapping):
        raise InvalidParams("params must be a JSON object.")
    try:
        _check_storable(params, depth=0)
        size = len(json.dumps(params, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode())
    except (ValueError, TypeError, RecursionError) as error:
        raise InvalidParams(f"params must be plain JSON: {error}.") from None
    if size > MAX_PARAMS_BYTES:
        raise InvalidParams(f"params may be at most {MAX_PARAMS_BYTES} bytes encoded; these have {size}.")
    return dict(params)


def _check_action(action: Action, grant: Grant) -> None:
    if action.queue is None:
        return
    if action.queue not in grant.queues:
        raise NotGranted(f"The queue {action.queue} is not one that this webhook may use: {', '.join(grant.queues)}.")
    candidates = grant.candidates(action.endpoints)
    missing = set(action.endpoints or ()) - {target.endpoint_id for target in candidates}
    if missing:
        raise NotGranted(
            f"The endpoint {min(missing)} is not a live delivery target of this webhook; add a route to it first."
        )
    if action.exclusive and not any(action.queue in target.scope_queues for target in candidates):
        raise NotGranted(f"No delivery target that the action names drains the queue {action.queue}.")


def _read_id(identifier: object) -> str:
    if not isinstance(identifier, str) or not RULE_ID.fullmatch(identifier):
        raise InvalidRule("id must be 1 to 64 of A-Z a-z 0-9 _ and -.")
    return identifier


def _read_drop(action: Mapping[str, object]) -> Action:
    if action["drop"] is not True:
        raise InvalidRule("action.drop can only be true.")
    if extra := set(action) - {"drop"}:
        raise InvalidRule(f"A drop takes no {_quote(min(map(str, extra)))}.")
    return DROP


def _read_flag(flag: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise InvalidRule(f"action.{flag} must be true or false.")
    return value


def _read_endpoints(endpoints: object) -> tuple[str, ...] | None:
    if endpoints is None:
        return None
    if not isinstance(endpoints, Sequence) or isinstance(endpoints, (str, bytes)) or not endpoints:
        raise InvalidRule("action.endpoints must be a non-empty list of endpoint ids.")
    if len(endpoints) > MAX_ENDPOINTS:
        raise InvalidRule(f"action.endpoints may name at most {MAX_ENDPOINTS} endpoints.")
    if not all(isinstance(endpoint, str) for endpoint in endpoints) or len(set(endpoints)) < len(endpoints):
        raise InvalidRule("action.endpoints must be distinct endpoint ids.")
    if any(parse_id(endpoint) is None for endpoint in endpoints):
        raise NotGranted("action.endpoints names an endpoint that is not a delivery target of this webhook.")
    return tuple(endpoints)


def _byte_length(text: object) -> int | None:
    """Return the UTF-8 length of a text that every store accepts, else None."""
    if not isinstance(text, str) or storable(text) != text:
        return None
    return len(text.encode())


def _check_storable(value: object, *, depth: int) -> None:
    if depth > MAX_PARAMS_DEPTH:
        raise ValueError(f"nested more than {MAX_PARAMS_DEPTH} deep")
    if isinstance(value, str) and storable(value) != value:
        raise ValueError("a text holds NUL or a lone surrogate")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("a number is not finite")
    if isinstance(value, Mapping):
        for key, item in value.items():
            _check_storable(key, depth=depth + 1)
            _check_storable(item, depth=depth + 1)
    elif isinstance(value, (list, tuple)):
        for item in value:
            _check_storable(item, depth=depth + 1)


def _quote(text: str) -> str:
    return f"“{one_line(text, limit=40)}”"


@dataclass(frozen=True)
class _Place:
    """Where a rule stands in the list, to name it in an error."""

    index: int
    rule: object

    def run(self, read: Any, *arguments: object) -> Any:
        try:
            return read(*arguments)
        except SwitchboardError as error:
            raise self.named(error) from None

    def named(self, error: SwitchboardError) -> SwitchboardError:
        known = self.rule if isinstance(self.rule, Mapping) else {}
        place = {"index": self.index, "id": _shown(known.get("id")), "name": _shown(known.get("name"))}
        sentence = f"Rule {self.index} ({place['id'] or 'no id'}): {error.message}"
        return type(error)(sentence, **error.extra, rule=place)


def _shown(value: object) -> str | None:
    return one_line(value, limit=128) if isinstance(value, str) and value else None
