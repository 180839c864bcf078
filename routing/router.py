"""The one router of the receiver and the dry run: which rule matches, and where that leads (SPEC-0020)."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from routing.decide import Decision, decide
from routing.envelope import Delivery, build_envelope
from routing.evaluate import evaluate
from routing.grant import Grant
from routing.models import Webhook
from routing.rules import RuleList
from routing.sandbox.client import Evaluation
from routing.subject import subject_key
from routing.work_order import build_work_order

NO_RULES = Evaluation(matched=None, faults=())
NOT_COMPILABLE = ""


@dataclass(frozen=True)
class Configuration:
    """What routes a webhook's deliveries: stored JSON, which need not have passed validation.

    `owner` names whose sandbox processes serve it: a dry run of candidates leaves the webhook's own alone. `tenant`
    is the owner scope, which has one evaluation at a time.
    """

    owner: str
    tenant: str
    rules: Sequence[object]
    default_action: object
    params: Mapping[str, Any]

    @classmethod
    def saved(cls, webhook: Webhook) -> Self:
        """Return the configuration that is in force."""
        rules = webhook.routing_rules if isinstance(webhook.routing_rules, list) else []
        params = webhook.routing_params if isinstance(webhook.routing_params, dict) else {}
        return cls(str(webhook.pk), webhook.tenant, rules, webhook.default_action, params)

    @classmethod
    def candidate(cls, webhook: Webhook, rule_list: RuleList) -> Self:
        """Return the configuration that a validated rule list would make."""
        default = rule_list.default_action
        return cls(
            f"{webhook.pk}:candidate",
            webhook.tenant,
            [rule.as_json() for rule in rule_list.rules],
            default.as_json() if default else None,
            rule_list.params,
        )


def evaluate_rules(configuration: Configuration, delivery: Delivery) -> Evaluation:
    """Evaluate the rules over the delivery's envelope in the sandbox; without rules nothing is started."""
    if not configuration.rules:
        return NO_RULES
    return evaluate(
        owner=configuration.owner,
        tenant=configuration.tenant,
        expressions=[_expression(rule) for rule in configuration.rules],
        params_text=json.dumps(configuration.params, ensure_ascii=False, separators=(",", ":")),
        envelope_text=build_envelope(delivery).text,
    )


def decide_delivery(
    configuration: Configuration, delivery: Delivery, *, evaluation: Evaluation, grant: Grant
) -> Decision:
    """Return where the delivery goes under the grant of this moment."""
    return decide(
        rules=configuration.rules,
        default_action=configuration.default_action,
        grant=grant,
        evaluation=evaluation,
        subject_key=subject_key(delivery.source, delivery.headers, delivery.document),
    )


def work_order_of(delivery: Delivery, decision: Decision) -> dict[str, Any] | None:
    """Return the work order that each todo of the decision carries, or None when it is no work order."""
    if decision.action.queue is None or not decision.action.work_order:
        return None
    return build_work_order(delivery, lane=decision.action.queue, trace=decision.trace)


def _expression(rule: object) -> str:
    expression = rule.get("expr") if isinstance(rule, Mapping) else None
    return expression if isinstance(expression, str) else NOT_COMPILABLE
