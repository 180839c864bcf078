"""Rules and bodies made to hurt: the delivery is answered by default in time, and everybody else is served."""

import resource
import time
from typing import Any

import pytest

from routing.configure import set_rules
from routing.models import Webhook
from switchboard.errors import InvalidExpression
from tests.deliveries import altered, gitea_issue, github_issue, signed, slack_message
from tests.routing.conftest import Line, OpenLine

pytestmark = pytest.mark.django_db
ANSWER_SECONDS = 3.0
GROWTH_MIB = 48
RUNAWAYS = {
    "def f: f; f": "timeout",
    "[range(1e8)]": "timeout",
    "reduce range(1e7) as $i (0; . + 1)": "timeout",
    '("a" * 44 + "!") | test("^(a+)+$")': "timeout",
    "def f: 1 + f; f": None,
    '"x" | [limit(40; recurse(. + .))] | length': None,
    "[limit(70000; repeat(1))] as $path | getpath($path)": None,
}


def store(line: Line, *expressions: str) -> None:
    """Put rules into the row as they are, past the validation of a save."""
    rules = [
        {"id": f"r{index}", "expr": expression, "action": {"queue": "inbox"}}
        for index, expression in enumerate(expressions)
    ]
    Webhook.objects.filter(pk=line.created.webhook.pk).update(routing_rules=rules)


def post_in_time(line: Line, delivery: Any = None) -> dict[str, Any]:
    """Post and return the newest event's trace; the answer must be 202 and in time, and memory flat."""
    before, started = resident_mib(), time.monotonic()
    response = line.post(delivery or github_issue())
    assert response.status_code == 202
    assert time.monotonic() - started < ANSWER_SECONDS
    assert resident_mib() - before < GROWTH_MIB
    trace: dict[str, Any] = line.events[-1].routing_trace
    return trace


def resident_mib() -> float:
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * resource.getpagesize() / 2**20


@pytest.mark.parametrize(("expression", "cause"), RUNAWAYS.items())
def test_a_runaway_is_recorded_and_everybody_else_is_served(line: OpenLine, expression: str, cause: str | None) -> None:
    hostile, other = line("github"), line("gitea")
    store(hostile, expression, "true")
    store(other, "true")
    trace = post_in_time(hostile)
    fault = trace["faults"][0]
    if fault["rule_index"] == -1:
        assert fault["cause"] == "sandbox_failure"
        assert trace["stage"] == "default"
    else:
        assert fault["cause"] in ({cause} if cause else {"timeout", "error"})
        assert trace["rule_id"] == "r1"
    store(hostile, "true")
    assert post_in_time(hostile)["stage"] == "rule"
    assert post_in_time(other, gitea_issue())["stage"] == "rule"


def test_slacks_retry_is_answered_in_time_with_thirty_two_heavy_rules(line: OpenLine) -> None:
    webhook = line("slack")
    store(webhook, *["reduce range(1e7) as $i (0; . + 1)"] * 32)
    delivery = slack_message()
    assert post_in_time(webhook, delivery)["cause"] == "no_match_default"
    started = time.monotonic()
    retry = altered(delivery, headers={"X-Slack-Retry-Num": "1", "X-Slack-Retry-Reason": "http_timeout"})
    assert webhook.post(retry).json()["created"] == 0
    assert time.monotonic() - started < ANSWER_SECONDS


def test_an_expression_that_is_deadly_to_compile_is_refused_and_harmless(line: OpenLine) -> None:
    webhook = line("github")
    before = resident_mib()
    with pytest.raises(InvalidExpression) as refused:
        save(webhook, '"x" * 1000000000')
    assert refused.value.extra["rule"]["index"] == 0
    assert resident_mib() - before < GROWTH_MIB
    store(webhook, '"x" * 1000000000')
    trace = post_in_time(webhook)
    assert (trace["stage"], trace["faults"][0]["rule_index"]) == ("default", -1)
    assert trace["faults"][0]["cause"] == "sandbox_failure"


@pytest.mark.parametrize("expression", ["[" * 2048 + "]" * 2048, "(" * 2047 + "1" + ")" * 2047, "." + "[0]" * 1365])
def test_four_kilobytes_of_brackets_do_no_harm(line: OpenLine, expression: str) -> None:
    webhook = line("github")
    assert len(expression) <= 4096
    try:
        save(webhook, expression)
    except InvalidExpression:
        store(webhook, expression)
    post_in_time(webhook)


@pytest.mark.parametrize(
    "body",
    [
        b"[" + b"1," * (5 * 2**19 - 2) + b"1]",
        b"[" * 100_000 + b"]" * 100_000,
        b'{"a":"' + b"x" * (5 * 2**20 - 8) + b'"}',
    ],
    ids=["five MiB of small integers", "a hundred thousand arrays", "five MiB of text"],
)
def test_a_body_that_is_made_to_hurt_is_answered_in_time(line: OpenLine, body: bytes) -> None:
    webhook = line("github")
    store(webhook, ".payload[0] == 2", "true")
    started = time.monotonic()
    assert webhook.post(signed("github", body)).status_code == 202
    assert time.monotonic() - started < ANSWER_SECONDS + 1
    assert post_in_time(webhook)["stage"] == "rule"


def save(line: Line, expression: str) -> None:
    rule = {"id": "r0", "expr": expression, "action": {"queue": "inbox"}}
    set_rules(principal=line.principal, webhook_id=line.webhook_id, rules=[rule])
