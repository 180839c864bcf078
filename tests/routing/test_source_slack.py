"""Slack: strict timestamps, the address challenge, messages and reactions."""

from datetime import UTC, datetime, timedelta

import pytest
from slack_sdk.signature import SignatureVerifier

from routing.sources import slack
from routing.sources.request import InvalidSignature
from tests.deliveries import altered, signed, slack_challenge, slack_message

NOW = datetime(2026, 3, 4, 9, 15, 27, tzinfo=UTC)
TOLERANCE = timedelta(seconds=300)


@pytest.mark.parametrize(
    "timestamp",
    [
        "soon", "-1726990000", "+1726990000", "1726990000.0", "1e9", "17269900000000000000",
        "1_726_990_000", " 1726990000", "1726990000 ", "1726990000\n",
        "\uff11\uff17\uff12\uff16\uff19\uff19\uff10\uff10\uff10\uff10", "\u0661\u0662\u0663",
        "0x66f0", "1726990000\xe9",
    ],
)  # fmt: skip
def test_a_timestamp_that_is_not_plain_digits_does_not_verify(timestamp: str) -> None:
    delivery = slack_message(secret="s", at=NOW)
    signature = SignatureVerifier("s").generate_signature(timestamp=timestamp, body=delivery.body)
    changed = altered(delivery, headers={"X-Slack-Request-Timestamp": timestamp, "X-Slack-Signature": signature})

    with pytest.raises(InvalidSignature, match="malformed_timestamp"):
        slack.verify(changed.request(), secrets=["s"], tolerance=TOLERANCE)


@pytest.mark.parametrize("timestamp", ["0", "999999999999"])
def test_the_ends_of_time_are_stale(timestamp: str) -> None:
    delivery = slack_message(secret="s", at=NOW)
    signature = SignatureVerifier("s").generate_signature(timestamp=timestamp, body=delivery.body)
    changed = altered(delivery, headers={"X-Slack-Request-Timestamp": timestamp, "X-Slack-Signature": signature})

    with pytest.raises(InvalidSignature, match="stale_timestamp"):
        slack.verify(changed.request(), secrets=["s"], tolerance=TOLERANCE)


def test_a_signature_without_its_timestamp_does_not_verify() -> None:
    delivery = altered(slack_message(secret="s", at=NOW), headers={"X-Slack-Request-Timestamp": None})

    with pytest.raises(InvalidSignature, match="missing_timestamp"):
        slack.verify(delivery.request(), secrets=["s"], tolerance=TOLERANCE)


def test_another_time_than_the_signed_one_does_not_verify() -> None:
    later = str(int(NOW.timestamp()) + 1)
    delivery = altered(slack_message(secret="s", at=NOW), headers={"X-Slack-Request-Timestamp": later})

    with pytest.raises(InvalidSignature, match="signature_mismatch"):
        slack.verify(delivery.request(), secrets=["s"], tolerance=TOLERANCE)


def test_a_retry_has_the_delivery_id_of_the_first_attempt() -> None:
    first = slack_message(secret="s", event_id="Ev0SWITCH001")
    retry = slack_message(secret="s", event_id="Ev0SWITCH001", retry=1)

    assert slack.delivery_id(first.request()) == slack.delivery_id(retry.request()) == "Ev0SWITCH001"


def test_the_challenge_of_a_url_verification_is_read() -> None:
    request = slack_challenge(secret="s", challenge="3eZbrw1a").request()

    slack.verify(request, secrets=["s"], tolerance=TOLERANCE)
    assert slack.challenge_of(request) == "3eZbrw1a"
    assert slack.delivery_id(request) is None


@pytest.mark.parametrize("challenge", [None, 7, ["x"], {"a": "b"}])
def test_a_challenge_that_is_no_text_is_none(challenge: object) -> None:
    assert slack.challenge_of(slack_challenge(challenge=challenge).request()) is None


def test_a_message_with_a_challenge_in_it_is_a_message() -> None:
    body = b'{"type":"event_callback","challenge":"x","event":{"type":"message","challenge":"y"}}'

    assert slack.challenge_of(signed("slack", body).request()) is None


def test_a_message_is_titled_by_channel_author_and_text() -> None:
    description = slack.describe(None, slack_message(text="a &lt;b&gt; &amp;amp; c\nnext").request())

    assert description.label == "message"
    assert description.title == "#C0WIDGETS U0OCTAVIA: a <b> &amp; c next"


def test_subtypes_and_reactions_are_named() -> None:
    edited = slack_message(subtype="message_changed", text="", message={"user": "U1", "text": "new"})
    reaction = slack_message(type="reaction_added", text="", reaction="eyes")

    assert slack.describe(None, edited.request()).label == "message.message_changed"
    assert slack.describe(None, edited.request()).title == "#C0WIDGETS U0OCTAVIA: new"
    assert slack.describe(None, reaction.request()).title == "#C0WIDGETS U0OCTAVIA: :eyes:"
    assert slack.describe(None, slack_challenge().request()).title == "slack url_verification"
