"""Where to answer Slack: the thread of an event that has a channel and a time of its own."""

import json
from typing import Any

import pytest

from routing.address import derive_address
from routing.document import parse_document
from switchboard.reply_address import SlackThread
from switchboard.source_types import Source

MISSING = object()


def derive(*, team_id: object = "T0123", outer: object = "event_callback", **event: object) -> SlackThread | None:
    members = {"type": "message", "channel": "C0123", "ts": "1726990000.000100", **event}
    inner = {name: value for name, value in members.items() if value is not MISSING}
    body: dict[str, Any] = {"type": outer, "team_id": team_id, "event": inner}
    address = derive_address(Source.SLACK, parse_document(json.dumps(body).encode(), content_type=None))
    assert address is None or isinstance(address, SlackThread)
    return address


def test_slack_message_in_a_channel() -> None:
    address = derive()

    assert address == SlackThread("T0123", "C0123", "1726990000.000100")
    assert address.as_json() == {
        "kind": "slack_thread",
        "team_id": "T0123",
        "channel": "C0123",
        "thread_ts": "1726990000.000100",
        "display": "slack #C0123 thread 1726990000.000100",
    }


def test_reply_inside_an_existing_thread() -> None:
    assert derive(thread_ts="1726980000.000200") == SlackThread("T0123", "C0123", "1726980000.000200")


def test_the_time_stays_the_string_that_it_was() -> None:
    address = derive(ts="0001726990000.100")

    assert address is not None
    assert address.thread_ts == "0001726990000.100"


@pytest.mark.parametrize("ts", [1726990000.0001, 1726990000, "1726990000", ".1", "1.", "1.2.3", "1726990000.000100\n"])
@pytest.mark.parametrize("field", ["ts", "thread_ts"])
def test_a_time_that_is_not_digits_dot_digits_has_no_address(ts: object, field: str) -> None:
    assert derive(**{field: ts}) is None


@pytest.mark.parametrize("ts", [MISSING, None, " 1.2", "1,2", "\u0661.\u0662", "-1.2", True, ["1.2"], ""])
def test_an_event_without_a_time_of_its_own_has_no_address(ts: object) -> None:
    assert derive(ts=ts) is None
    assert derive(ts=ts, thread_ts="1726980000.000200") is None


@pytest.mark.parametrize(
    "identifier", ["c0123", "C0123\n", "\nC0123", "#general", "C01 23", "", "\u0421O123", 123, None, {"id": "C0123"}]
)
@pytest.mark.parametrize("field", ["channel", "team_id"])
def test_an_id_outside_the_charset_has_no_address(identifier: object, field: str) -> None:
    assert derive(**{field: identifier}) is None


@pytest.mark.parametrize("outer", ["url_verification", "app_rate_limited", "interactive_message", None, 7])
def test_another_outer_type_has_no_address(outer: object) -> None:
    assert derive(outer=outer) is None


def test_a_reaction_has_no_address() -> None:
    item = {"type": "message", "channel": "C0123", "ts": "1726990000.000100"}

    assert derive(type="reaction_added", channel=MISSING, ts=MISSING, item=item) is None
