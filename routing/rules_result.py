"""The rules result: what every rule verb and route answers (contract §6)."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

from routing.grant import Grant
from routing.health import health_of, unused
from routing.models import Webhook
from routing.rules import read_rule
from switchboard.errors import SwitchboardError


def rules_result(webhook: Webhook, grant: Grant, *, warnings: Sequence[str] = ()) -> dict[str, Any]:
    """Return the webhook's rules with their health, default, params, version, grant, and warnings if there are any.

    A GET body is a valid PUT body: a save ignores what it cannot set.
    """
    result = {
        "webhook_id": str(webhook.pk),
        "source_type": webhook.source_type,
        "target_queue": webhook.target_queue,
        "version": webhook.rules_version,
        "rules": _rules_with_health(webhook),
        "default_action": webhook.default_action,
        "params": webhook.routing_params,
        "grant": grant.as_json(),
    }
    found = [*_undrained(webhook.routing_rules, grant), *warnings]
    return result | ({"warnings": found} if found else {})


def _rules_with_health(webhook: Webhook) -> object:
    """Rows that bypassed validation are shown as they are."""
    if not isinstance(webhook.routing_rules, list) or not webhook.routing_rules:
        return webhook.routing_rules
    health = health_of(webhook)
    return [
        {**rule, "health": health.get(rule["id"], unused())} if _has_id(rule) else rule
        for rule in webhook.routing_rules
    ]


def _has_id(rule: object) -> TypeGuard[Mapping[str, Any]]:
    return isinstance(rule, Mapping) and isinstance(rule.get("id"), str)


def _undrained(rules: object, grant: Grant) -> list[str]:
    """Return a warning for each rule whose todos no target would ever see; rows that are no rules have none."""
    warnings = []
    for index, stored in enumerate(rules if isinstance(rules, list) else []):
        try:
            rule = read_rule(stored)
        except SwitchboardError:
            continue
        queue, targets = rule.action.queue, grant.candidates(rule.action.endpoints)
        if queue is not None and not any(queue in target.scope_queues for target in targets):
            warnings.append(f"Rule {index} ({rule.id}): no delivery target drains the queue {queue}.")
    return warnings
