"""Change a webhook's rules, default and params: read, modify, validate and write under the row lock (SPEC-0020).

Expressions are compiled in the sandbox before the lock is taken, since that is slow; under the lock every
expression of the new list must be one that was just checked, else the change starts over.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import structlog
from django.db import transaction
from django.utils import timezone
from django.utils.crypto import get_random_string

from routing.expressions import check_expressions
from routing.grant import Grant, compute_grant
from routing.health import forget, try_on_recent
from routing.models import Webhook
from routing.rules import RuleList, check_grant, read_rule_list
from routing.rules_result import rules_result
from routing.webhooks import find_webhook
from switchboard.accounts.reach import Principal
from switchboard.errors import Conflict, InvalidArgument, NotFound, RuleNotFound

log = structlog.get_logger(__name__)
STARTS = 10
Stored = list[Any]


@dataclass(frozen=True)
class Draft:
    """A routing configuration as untrusted JSON, before it is validated."""

    rules: object
    default_action: object
    params: object


Change = Callable[[Draft], Draft]


def list_rules(*, principal: Principal, webhook_id: str) -> dict[str, Any]:
    """Return the rules result of a webhook: rules, default, params, version and the current grant."""
    webhook = find_webhook(principal=principal, webhook_id=webhook_id)
    return rules_result(webhook, compute_grant(webhook, now=timezone.now()))


def set_rules(
    *,
    principal: Principal,
    webhook_id: str,
    rules: object,
    default_action: object = None,
    params: object = None,
    version: object = None,
) -> dict[str, Any]:
    """Replace rules, default and params together; what is left out is cleared. Missing rule ids are minted."""
    draft = Draft(with_ids(rules), default_action, params)
    return _change(principal, webhook_id, version, lambda _: draft)


def add_rule(
    *,
    principal: Principal,
    webhook_id: str,
    expr: object,
    action: object,
    rule_id: object = None,
    name: object = None,
    position: object = None,
    version: object = None,
) -> dict[str, Any]:
    """Insert one rule at `position` (0 is first; default: last), keeping everything else."""
    rule = {
        "id": rule_id if rule_id is not None else _mint_id(),
        "name": name,
        "expr": expr,
        "action": action,
    }

    def insert(draft: Draft) -> Draft:
        rules = _stored(draft)
        rules.insert(_read_position(position, len(rules)), rule)
        return Draft(rules, draft.default_action, draft.params)

    return _change(principal, webhook_id, version, insert)


def update_rule(
    *,
    principal: Principal,
    webhook_id: str,
    rule_id: str,
    changes: Mapping[str, object],
    version: object = None,
) -> dict[str, Any]:
    """Change name, expr or action of one rule; raise RuleNotFound for an unknown rule id."""
    if unknown := set(changes) - {"name", "expr", "action"}:
        raise InvalidArgument(f"A rule's {min(unknown)} cannot be changed.")

    def replace(draft: Draft) -> Draft:
        rules = _stored(draft)
        index = _index(rules, rule_id)
        rules[index] = {**rules[index], **changes}
        return Draft(rules, draft.default_action, draft.params)

    return _change(principal, webhook_id, version, replace)


def move_rule(
    *, principal: Principal, webhook_id: str, rule_id: str, position: object, version: object = None
) -> dict[str, Any]:
    """Move one rule to `position` (0 is first) of the list; raise RuleNotFound for an unknown rule id."""

    def move(draft: Draft) -> Draft:
        rules = _stored(draft)
        rule = rules.pop(_index(rules, rule_id))
        if position is None:
            raise InvalidArgument("position is needed: 0 is first.", field="position")
        rules.insert(_read_position(position, len(rules)), rule)
        return Draft(rules, draft.default_action, draft.params)

    return _change(principal, webhook_id, version, move)


def remove_rule(*, principal: Principal, webhook_id: str, rule_id: str, version: object = None) -> dict[str, Any]:
    """Remove one rule; removing an absent one succeeds."""

    def remove(draft: Draft) -> Draft:
        rules = [rule for rule in _stored(draft) if _id_of(rule) != rule_id]
        return Draft(rules, draft.default_action, draft.params)

    return _change(principal, webhook_id, version, remove)


def validate(draft: Draft, *, grant: Grant, checked: frozenset[str] = frozenset()) -> RuleList:
    """Return the validated configuration, exactly as a save would accept it; expressions in `checked` are known."""
    rule_list = read_rule_list(rules=draft.rules, default_action=draft.default_action, params=draft.params)
    check_expressions(rule_list.rules, known=checked)
    check_grant(rule_list, grant)
    return rule_list


def _change(principal: Principal, webhook_id: str, version: object, change: Change) -> dict[str, Any]:
    checked: frozenset[str] = frozenset()
    for _ in range(STARTS):
        rule_list = _preview(principal, webhook_id, version, change, checked)
        checked |= {rule.expr for rule in rule_list.rules}
        saved = _save(principal, webhook_id, version, change, checked)
        if saved is not None:
            webhook, grant = saved
            return rules_result(webhook, grant, warnings=try_on_recent(webhook))
    raise Conflict("The webhook's rules keep changing; read them again.")


def _preview(
    principal: Principal, webhook_id: str, version: object, change: Change, checked: frozenset[str]
) -> RuleList:
    webhook = find_webhook(principal=principal, webhook_id=webhook_id)
    _check_version(webhook, version)
    grant = compute_grant(webhook, now=timezone.now())
    return validate(change(_draft(webhook)), grant=grant, checked=checked)


def _save(
    principal: Principal, webhook_id: str, version: object, change: Change, checked: frozenset[str]
) -> tuple[Webhook, Grant] | None:
    """Apply the change under the row lock; None when the list holds an expression that was not checked before."""
    reachable = find_webhook(principal=principal, webhook_id=webhook_id)
    with transaction.atomic():
        locked = Webhook.objects.select_for_update(of=("self",), no_key=True).select_related("endpoint")
        webhook = locked.filter(pk=reachable.pk).first()
        if webhook is None:
            raise NotFound
        _check_version(webhook, version)
        grant = compute_grant(webhook, now=timezone.now())
        draft = change(_draft(webhook))
        rule_list = read_rule_list(rules=draft.rules, default_action=draft.default_action, params=draft.params)
        if not {rule.expr for rule in rule_list.rules} <= checked | _saved_expressions(webhook):
            return None
        check_grant(rule_list, grant)
        _write(webhook, rule_list)
    return webhook, grant


def _saved_expressions(webhook: Webhook) -> set[object]:
    """Return the expressions that the locked row holds: they were checked when they were saved."""
    stored = webhook.routing_rules if isinstance(webhook.routing_rules, list) else []
    return {rule.get("expr") for rule in stored if isinstance(rule, Mapping) and isinstance(rule.get("expr"), str)}


def _write(webhook: Webhook, rule_list: RuleList) -> None:
    default = rule_list.default_action
    rules = [rule.as_json() for rule in rule_list.rules]
    stored = default.as_json() if default else None
    before = (webhook.routing_rules, webhook.default_action, webhook.routing_params)
    if before == (rules, stored, rule_list.params):
        return
    forget(webhook, _changed(webhook.routing_rules, rules))
    webhook.routing_rules, webhook.default_action = rules, stored
    webhook.routing_params = dict(rule_list.params)
    webhook.rules_version += 1
    webhook.save(update_fields=["routing_rules", "default_action", "routing_params", "rules_version"])
    log.info("rules.saved", webhook_id=str(webhook.pk), rules=len(rules), version=webhook.rules_version)


def _changed(before: object, after: Stored) -> set[str]:
    """Return the ids of the rules that are not, word for word, in the new list."""
    stored = before if isinstance(before, list) else []
    return {str(_id_of(rule)) for rule in stored if rule not in after}


def _draft(webhook: Webhook) -> Draft:
    return Draft(webhook.routing_rules, webhook.default_action, webhook.routing_params)


def _stored(draft: Draft) -> Stored:
    return list(draft.rules) if isinstance(draft.rules, list) else []


def _check_version(webhook: Webhook, version: object) -> None:
    if version is None:
        return
    if isinstance(version, bool) or not isinstance(version, int):
        raise InvalidArgument("version must be the whole number of an earlier rules result.", field="version")
    if version != webhook.rules_version:
        raise Conflict("The rules have changed since they were read; read them again.", version=webhook.rules_version)


def _read_position(position: object, length: int) -> int:
    if position is None:
        return length
    if isinstance(position, bool) or not isinstance(position, int) or not 0 <= position <= length:
        raise InvalidArgument(f"position must be a whole number from 0 to {length}.", field="position")
    return position


def _index(rules: Stored, rule_id: object) -> int:
    for index, rule in enumerate(rules):
        if _id_of(rule) == rule_id:
            return index
    raise RuleNotFound


def _id_of(rule: object) -> object:
    return rule.get("id") if isinstance(rule, Mapping) else None


def _mint_id() -> str:
    return f"rule-{get_random_string(8).lower()}"


def with_ids(rules: object) -> object:
    """Mint the ids that a list of rules leaves out; what is no list is refused later."""
    if not isinstance(rules, Sequence) or isinstance(rules, (str, bytes)):
        return rules
    return [
        {**rule, "id": _mint_id()} if isinstance(rule, Mapping) and rule.get("id") is None else rule for rule in rules
    ]
