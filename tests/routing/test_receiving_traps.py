"""Inputs that broke other receivers, through the ingest URL, each with the right answer."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine

from routing.dry_run import test_rules as dry_run
from routing.models import Event
from tests import deliveries
from tests.deliveries import altered, github_event, github_issue, signed
from tests.routing.conftest import Line, OpenLine

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)


def post_signed(line: Line, body: bytes, *, source: str = "github", **headers: str) -> int:
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    status: int = line.post(signed(source, body, headers=names)).status_code
    return status


def test_the_signature_is_over_the_very_bytes(line: OpenLine) -> None:
    webhook = line("github")
    spaced = signed("github", b'{ "b":1,  "a":"\\u00e9" }')
    assert webhook.post(spaced).status_code == 202
    assert webhook.post(altered(spaced, body='{"b":1,"a":"é"}'.encode())).status_code == 401


def test_raw_utf8_with_emoji_is_taken(line: OpenLine) -> None:
    webhook = line("github")
    assert post_signed(webhook, '{"title":"🚀 grüße"}'.encode()) == 202


def test_invalid_utf8_is_taken_and_its_payload_is_null(line: OpenLine) -> None:
    webhook = line("github")
    assert post_signed(webhook, b'{"title":"\xff"}') == 202
    envelope = _dry_run(webhook)["envelope"]
    assert envelope["payload"] is None


def test_a_signature_with_a_byte_above_ascii_is_refused(line: OpenLine) -> None:
    webhook = line("github")
    forged = altered(github_issue(), headers={"X-Hub-Signature-256": "sha256=" + "é" * 64})
    assert webhook.post(forged).status_code == 401


@pytest.mark.parametrize(
    "content_type", ["multipart/form-data; boundary=x", "application/x-www-form-urlencoded", "text/plain", "x"]
)
def test_any_content_type_is_judged_by_its_signature(line: OpenLine, content_type: str) -> None:
    webhook = line("github")
    body = b"--x\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n--x--"
    good = signed("github", body, headers={"Content-Type": content_type})
    assert webhook.post(good).status_code == 202
    assert webhook.post(altered(good, body=body + b" ")).status_code == 401


def test_four_megabytes_are_no_400(line: OpenLine) -> None:
    webhook = line("github")
    assert post_signed(webhook, b'{"text":"' + b"x" * 4_000_000 + b'"}') == 202


@pytest.mark.parametrize(("age", "status"), [(299, 202), (300, 202), (301, 401), (-299, 202), (-301, 401)])
@pytest.mark.parametrize("source", ["slack", "stripe"])
def test_a_signed_time_must_be_fresh_in_both_directions(line: OpenLine, source: str, age: int, status: int) -> None:
    webhook = line(source)
    builder = deliveries.slack_message if source == "slack" else deliveries.stripe_event
    delivery = builder(at=NOW - timedelta(seconds=age))
    with time_machine.travel(NOW, tick=False):
        assert webhook.post(delivery).status_code == status


@pytest.mark.parametrize(
    "stamp",
    [
        "soon",
        "-1",
        "1772625600.0",
        "1" * 20,
        "\uff11\uff17\uff17\uff12\uff16\uff12\uff15\uff16\uff10\uff10",
        "1_772",
        " 1772625600",
        "",
    ],
)
def test_a_timestamp_that_is_no_plain_number_is_refused(line: OpenLine, stamp: str) -> None:
    webhook = line("slack")
    forged = altered(deliveries.slack_message(), headers={"X-Slack-Request-Timestamp": stamp})
    assert webhook.post(forged).status_code == 401


@pytest.mark.parametrize(
    "created_at",
    ["2026-03-04T12:00:00", "2026-03-04T12:00:60Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", 1772625600, None],
)
def test_cairns_signed_time_must_be_rfc3339_with_a_zone(line: OpenLine, created_at: object) -> None:
    webhook = line("cairn")
    body = json.dumps({"source": "cairn", "kind": "artifact.created", "event_id": "e1", "created_at": created_at})
    with time_machine.travel(NOW, tick=False):
        assert post_signed(webhook, body.encode(), source="cairn") == 401
        good = json.dumps(
            {"kind": "artifact.created", "event_id": "e1", "created_at": "2026-03-04T12:00:00.123456789Z"}
        )
        assert post_signed(webhook, good.encode(), source="cairn") == 202


@pytest.mark.parametrize(
    "body",
    [
        b'{"issue":{"title":"a\\u0000b"}}',
        b'{"is\\u0000sue":{"title":"ab"}}',
        b'{"issue":{"title":"\\ud800"}}',
        b'{"issue":{"title":"\\udc00"},"repository":{"full_name":"\\ud800/\\u0000"}}',
    ],
)
def test_nul_and_lone_surrogates_become_a_todo_and_keep_their_bytes(line: OpenLine, body: bytes) -> None:
    webhook = line("github")
    assert post_signed(webhook, body, X_GitHub_Event="issues") == 202
    assert bytes(webhook.events[0].body) == body
    assert webhook.todos[0].title.isprintable()
    assert _dry_run(webhook)["decision"]["queue"] == "inbox"


@pytest.mark.parametrize(
    ("body", "parses"),
    [
        (b'{"n":NaN}', False),
        (b'{"n":Infinity}', False),
        (b'{"n":1e999}', True),
        (b"[" * 300 + b"]" * 300, True),
        (b"[" * 100_000 + b"]" * 100_000, False),
        (b'{"n":' + b"9" * 5000 + b"}", False),
        (b"", False),
        (b"{} {}", False),
        (b"null", True),
    ],
)
def test_what_does_not_parse_is_null_live_and_in_a_dry_run(line: OpenLine, body: bytes, parses: bool) -> None:
    webhook = line("github")
    webhook.webhook.endpoint.webhook_queues.append("parsed")
    _save_rule(webhook, ".payload != null")
    assert post_signed(webhook, body) == 202
    event = webhook.events[0]
    expected = "rule" if parses and body != b"null" else "default"
    assert event.routing_trace["stage"] == expected
    assert _dry_run(webhook)["trace"] == event.routing_trace


def test_slacks_retry_is_the_same_delivery(line: OpenLine) -> None:
    webhook = line("slack")
    delivery = deliveries.slack_message()
    webhook.post(delivery)
    retry = altered(delivery, headers={"X-Slack-Retry-Num": "1", "X-Slack-Retry-Reason": "http_timeout"})
    assert webhook.post(retry).json()["created"] == 0
    assert len(webhook.todos) == 1


def test_giteas_empty_signatures_are_refused(line: OpenLine) -> None:
    webhook = line("gitea")
    bare = altered(deliveries.gitea_issue(), headers={"X-Gitea-Signature": "", "X-Hub-Signature-256": "sha256="})
    assert webhook.post(bare).status_code == 401


def test_a_gitea_delivery_on_a_github_webhook_is_verified_by_githubs_scheme_alone(line: OpenLine) -> None:
    webhook = line("github")
    delivery = deliveries.gitea_issue()
    unsigned = altered(delivery, headers={"X-Hub-Signature-256": None})
    assert webhook.post(unsigned).status_code == 401
    both = altered(delivery, headers={"X-GitHub-Event": "push"})
    assert webhook.post(both).status_code == 202
    assert webhook.events[0].kind == "push"


def test_stripe_takes_any_of_several_signatures(line: OpenLine) -> None:
    webhook = line("stripe")
    delivery = deliveries.stripe_event()
    time, good = delivery.headers["Stripe-Signature"].split(",")[:2]
    rolled = altered(delivery, headers={"Stripe-Signature": f"{time},v1={'0' * 64},{good},v0={'0' * 64}"})
    assert webhook.post(rolled).status_code == 202


def test_exact_integers_decide_and_are_shown(line: OpenLine) -> None:
    webhook = line("github")
    _save_rule(webhook, ".payload.id == 9007199254740993")
    assert webhook.post(github_event({"id": 9007199254740992}, event="push")).status_code == 202
    assert webhook.post(github_event({"id": 9007199254740993}, event="push")).status_code == 202
    stages = [event.routing_trace["stage"] for event in webhook.events]
    assert stages == ["default", "rule"]
    assert _dry_run(webhook)["envelope"]["payload"]["id"] == 9007199254740993


def _save_rule(line: Line, expression: str) -> None:
    from routing.configure import set_rules

    rule = {"id": "r1", "expr": expression, "action": {"queue": "inbox"}}
    set_rules(principal=line.principal, webhook_id=line.webhook_id, rules=[rule])


def _dry_run(line: Line) -> dict[str, Any]:
    event = Event.objects.order_by("-pk").first()
    assert event is not None
    return dry_run(principal=line.principal, webhook_id=line.webhook_id, arguments={"event_id": str(event.pk)})
