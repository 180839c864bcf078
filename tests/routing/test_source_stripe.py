"""Stripe: several signatures while a secret is rolled, exactly one time, amounts in titles."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from stripe import WebhookSignature

from routing.sources import stripe
from routing.sources.request import InvalidSignature
from tests.deliveries import altered, stripe_event

NOW = datetime(2026, 3, 4, 9, 15, 27, tzinfo=UTC)
SECONDS = int(NOW.timestamp())
TOLERANCE = timedelta(seconds=300)


def digest(body: bytes, secret: str, seconds: str = str(SECONDS)) -> str:
    header: str = WebhookSignature.generate_signature_header(body.decode(), secret, seconds)
    return header.partition("v1=")[2]


def verify(header: str, *secrets: str) -> None:
    delivery = altered(stripe_event(secret="s", at=NOW, event_id="evt_1"), headers={"Stripe-Signature": header})
    stripe.verify(delivery.request(), secrets=secrets, tolerance=TOLERANCE)


BODY = stripe_event(secret="s", at=NOW, event_id="evt_1").body
NEW, OLD, NONE = digest(BODY, "new"), digest(BODY, "old"), "0" * 64


@pytest.mark.parametrize(
    "header",
    [
        f"t={SECONDS},v1={OLD},v1={NEW}",
        f"t={SECONDS},v1={NEW},v1={OLD},v0={NONE}",
        f"v1={NONE},v1={NEW},t={SECONDS}",
        f"t={SECONDS},v1=short,v1={NEW},v2=x,unknown",
    ],
)
def test_any_of_several_v1_verifies(header: str) -> None:
    verify(header, "new")


def test_the_old_and_the_new_secret_both_verify_a_rolling_header() -> None:
    header = f"t={SECONDS},v1={OLD},v1={NEW}"

    verify(header, "old")
    verify(header, "new")
    with pytest.raises(InvalidSignature, match="signature_mismatch"):
        verify(header, "third")


@pytest.mark.parametrize(
    "header",
    [
        f"t={SECONDS},v0={NEW}",
        f"t={SECONDS}, v1={NEW}",
        f"v1={NEW}",
        f"t={SECONDS},t={SECONDS},v1={NEW}",
        f"t={SECONDS}",
        ",,,===",
        "t=,v1=",
    ],
)
def test_a_header_without_one_time_and_a_v1_does_not_verify(header: str) -> None:
    with pytest.raises(InvalidSignature, match="malformed_signature"):
        verify(header, "new")


@pytest.mark.parametrize("seconds", ["", "-1", " 1772615727", "1_7", "1.5", "\u0661", "1" * 13])
def test_a_time_that_is_not_plain_digits_does_not_verify(seconds: str) -> None:
    with pytest.raises(InvalidSignature, match="malformed_timestamp"):
        verify(f"t={seconds},v1={digest(BODY, 'new', seconds)}", "new")


def test_a_retry_has_the_delivery_id_of_the_first_attempt() -> None:
    attempts = [stripe_event(at=NOW + timedelta(minutes=minutes), event_id="evt_1") for minutes in (0, 60)]

    assert {stripe.delivery_id(attempt.request()) for attempt in attempts} == {"evt_1"}


@pytest.mark.parametrize(
    ("amount", "currency", "shown"),
    [
        (4200, "eur", "42.00 EUR"),
        (5, "usd", "0.05 USD"),
        (-150, "usd", "-1.50 USD"),
        (4200, "jpy", "4200 JPY"),
        (4200, "kwd", "4.200 KWD"),
        (0, "eur", "0.00 EUR"),
    ],
)
def test_amounts_are_shown_in_major_units(amount: int, currency: str, shown: str) -> None:
    request = stripe_event(amount_paid=amount, currency=currency).request()

    assert stripe.describe(None, request).title == f"invoice.paid in_1Qz0 {shown}"


@pytest.mark.parametrize(
    "subject",
    [
        {"currency": None},
        {"amount_paid": "7"},
        {"amount_paid": True},
        {"currency": "e\u017fr"},
        {"amount_paid": 10**300},
    ],
)
def test_an_amount_that_makes_no_sense_is_left_out(subject: dict[str, Any]) -> None:
    assert stripe.describe(None, stripe_event(**subject).request()).title == "invoice.paid in_1Qz0"
