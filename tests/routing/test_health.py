"""Rule health: a silently dead rule is seen, in the rules result and when it is saved."""

from datetime import UTC, datetime
from typing import Any

import pytest
import time_machine

from routing.configure import list_rules, set_rules, update_rule
from routing.models import RuleTally
from tests.deliveries import altered, github_issue
from tests.routing.conftest import Line, OpenLine

pytestmark = pytest.mark.django_db
AT = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)
UNUSED = {"matches": 0, "last_match_at": None, "faults": 0, "last_fault_at": None, "last_fault_cause": None}


def rule(identifier: str, expression: str) -> dict[str, Any]:
    return {"id": identifier, "expr": expression, "action": {"queue": "inbox"}}


def save(line: Line, *rules: dict[str, Any]) -> dict[str, Any]:
    return set_rules(principal=line.principal, webhook_id=line.webhook_id, rules=list(rules))


def health(line: Line) -> dict[str, dict[str, Any]]:
    result = list_rules(principal=line.principal, webhook_id=line.webhook_id)
    return {each["id"]: each["health"] for each in result["rules"]}


def test_matches_and_faults_are_counted_with_the_time_of_the_last(line: OpenLine) -> None:
    webhook = line("github")
    save(webhook, rule("broken", "error(1)"), rule("labeled", ".issue.label_event"), rule("never", "true"))
    with time_machine.travel(AT, tick=False):
        for _ in range(3):
            webhook.post(github_issue(action="labeled", label="bug"))
    found = health(webhook)
    at = "2026-03-04T12:00:00Z"
    assert found["broken"] == {**UNUSED, "faults": 3, "last_fault_at": at, "last_fault_cause": "error"}
    assert found["labeled"] == {**UNUSED, "matches": 3, "last_match_at": at}
    assert found["never"] == UNUSED


def test_a_redelivery_is_counted_once(line: OpenLine) -> None:
    webhook = line("github")
    save(webhook, rule("all", "true"))
    delivery = github_issue()
    webhook.post(delivery)
    webhook.post(delivery)
    assert health(webhook)["all"]["matches"] == 1


def test_a_changed_rule_starts_anew_and_the_others_keep_their_count(line: OpenLine) -> None:
    webhook = line("github")
    save(webhook, rule("first", ".payload.number == 1"), rule("all", "true"))
    webhook.post(github_issue())
    update_rule(
        principal=webhook.principal, webhook_id=webhook.webhook_id, rule_id="all", changes={"expr": "true or false"}
    )
    assert health(webhook)["all"] == UNUSED
    webhook.post(github_issue())
    update_rule(principal=webhook.principal, webhook_id=webhook.webhook_id, rule_id="first", changes={"expr": "false"})
    assert health(webhook)["all"]["matches"] == 1


def test_a_saved_rule_that_faults_or_matches_nothing_on_recent_deliveries_is_warned_of(line: OpenLine) -> None:
    webhook = line("github")
    for _ in range(2):
        webhook.post(github_issue(title="Crash on start"))
    saved = save(
        webhook,
        rule("dead", "any($params.bots[]; . == .payload.sender.login)"),
        rule("typo", '.issue.titel == "Crash on start"'),
        rule("good", '.issue.title == "Crash on start"'),
    )
    assert saved["version"] == 1
    assert saved["warnings"] == [
        "Rule 0 (dead): faults (error) on the webhook's last 2 stored deliveries.",
        "Rule 1 (typo): matches none of the webhook's last 2 stored deliveries.",
    ]
    assert "warnings" not in list_rules(principal=webhook.principal, webhook_id=webhook.webhook_id)


def test_trying_on_recent_deliveries_counts_nothing(line: OpenLine) -> None:
    webhook = line("github")
    webhook.post(github_issue())
    save(webhook, rule("all", "true"))
    assert not RuleTally.objects.exists()


def test_a_refused_delivery_counts_nothing(line: OpenLine) -> None:
    webhook = line("github")
    save(webhook, rule("all", "true"))
    webhook.post(altered(github_issue(), body=b"{}"))
    assert health(webhook)["all"] == UNUSED


def test_a_rule_whose_queue_no_target_drains_is_warned_of(line: OpenLine) -> None:
    webhook = line("github")
    webhook.endpoint.webhook_queues = ["inbox", "elsewhere"]
    webhook.endpoint.save()
    lost = {"id": "lost", "expr": "true", "action": {"queue": "elsewhere"}}
    assert save(webhook, lost)["warnings"] == ["Rule 0 (lost): no delivery target drains the queue elsewhere."]
