"""Rule health: how often each rule matched and faulted since it was saved, and how it does on recent deliveries."""

import random
import time
from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from django.db import connection
from django.db.models import Max, Sum

from routing.models import Event, RuleTally, Webhook
from routing.router import Configuration, evaluate_rules
from routing.rules import RULE_ID
from routing.stored import stored_delivery
from switchboard.times import rfc3339

# A rule's count is spread over a few rows, so that deliveries at the same time seldom wait for each other.
SHARDS = 16
RECENT_DELIVERIES = 50
RECENT_BYTES = 256 * 1024
RECENT_SECONDS = 3.0

_COUNT = """
INSERT INTO routing_ruletally
    (webhook_id, rule_id, shard, matches, faults, last_match_at, last_fault_at, last_fault_cause)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s)
ON CONFLICT (webhook_id, rule_id, shard) DO UPDATE SET
    matches = routing_ruletally.matches + EXCLUDED.matches,
    faults = routing_ruletally.faults + EXCLUDED.faults,
    last_match_at = COALESCE(EXCLUDED.last_match_at, routing_ruletally.last_match_at),
    last_fault_at = COALESCE(EXCLUDED.last_fault_at, routing_ruletally.last_fault_at),
    last_fault_cause = CASE WHEN EXCLUDED.faults > 0
        THEN EXCLUDED.last_fault_cause ELSE routing_ruletally.last_fault_cause END
"""


def count_outcome(webhook: Webhook, trace: Mapping[str, Any], *, now: datetime) -> None:
    """Count the match and the faults of one delivery's trace; call it in the delivery's transaction."""
    faults = {fault["rule_id"]: fault["cause"] for fault in trace.get("faults", ()) if "rule_id" in fault}
    matched = trace.get("rule_id")
    shard = random.randrange(SHARDS)  # noqa: S311 - spreads load, guards nothing
    webhook_id = Webhook._meta.pk.get_db_prep_value(webhook.pk, connection)
    moment = connection.ops.adapt_datetimefield_value(now)
    rows = [
        [
            webhook_id,
            rule_id,
            shard,
            int(rule_id == matched),
            int(rule_id in faults),
            moment if rule_id == matched else None,
            moment if rule_id in faults else None,
            faults.get(rule_id, ""),
        ]
        for rule_id in sorted({*faults, *([matched] if matched else [])})
        if RULE_ID.fullmatch(rule_id)
    ]
    if rows:
        with connection.cursor() as cursor:
            cursor.executemany(_COUNT, rows)


def health_of(webhook: Webhook) -> dict[str, dict[str, Any]]:
    """Return each rule's health by rule id: matches and faults since it was saved, and the time of the last ones."""
    tallies = RuleTally.objects.filter(webhook=webhook).values("rule_id")
    summed = tallies.annotate(
        matched=Sum("matches"), faulted=Sum("faults"), matched_at=Max("last_match_at"), faulted_at=Max("last_fault_at")
    )
    return {row["rule_id"]: _health(webhook, row) for row in summed}


def unused() -> dict[str, Any]:
    """Return the health of a rule that has neither matched nor faulted."""
    return {"matches": 0, "last_match_at": None, "faults": 0, "last_fault_at": None, "last_fault_cause": None}


def forget(webhook: Webhook, rule_ids: Collection[str]) -> None:
    """Start the count of these rules anew: they were changed or removed."""
    RuleTally.objects.filter(webhook=webhook, rule_id__in=rule_ids).delete()


def try_on_recent(webhook: Webhook) -> list[str]:
    """Return a warning for each saved rule that faults, or matches nothing, on the webhook's last stored deliveries.

    At most 50 deliveries of at most 256 KiB, and three seconds; a webhook without any has no warnings.
    """
    configuration = Configuration.saved(webhook)
    if not configuration.rules:
        return []
    matches: dict[int, int] = {}
    faults: dict[int, str] = {}
    tried, end = 0, time.monotonic() + RECENT_SECONDS
    recent = Event.objects.filter(webhook=webhook, size__lte=RECENT_BYTES).order_by("-pk")[:RECENT_DELIVERIES]
    for event in recent.iterator(chunk_size=10):
        if time.monotonic() > end:
            break
        evaluation = evaluate_rules(configuration, stored_delivery(event, webhook))
        if any(fault.rule_index < 0 for fault in evaluation.faults):
            break  # the sandbox is busy or down, which says nothing about the rules
        tried += 1
        if evaluation.matched is not None:
            matches[evaluation.matched] = matches.get(evaluation.matched, 0) + 1
        faults |= {fault.rule_index: fault.cause for fault in evaluation.faults}
    return _warnings(configuration, tried, matches, faults)


def _warnings(
    configuration: Configuration, tried: int, matches: Mapping[int, int], faults: Mapping[int, str]
) -> list[str]:
    if not tried:
        return []
    warnings = []
    for index, rule in enumerate(configuration.rules):
        name = f"Rule {index} ({rule['id']})" if isinstance(rule, Mapping) else f"Rule {index}"
        if index in faults:
            warnings.append(f"{name}: faults ({faults[index]}) on the webhook's last {tried} stored deliveries.")
        elif index not in matches:
            warnings.append(f"{name}: matches none of the webhook's last {tried} stored deliveries.")
    return warnings


def _health(webhook: Webhook, row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "matches": row["matched"],
        "last_match_at": rfc3339(row["matched_at"]),
        "faults": row["faulted"],
        "last_fault_at": rfc3339(row["faulted_at"]),
        "last_fault_cause": _last_cause(webhook, row["rule_id"]) if row["faulted"] else None,
    }


def _last_cause(webhook: Webhook, rule_id: str) -> str:
    faulted = RuleTally.objects.filter(webhook=webhook, rule_id=rule_id, faults__gt=0)
    return faulted.order_by("-last_fault_at").values_list("last_fault_cause", flat=True)[0]
