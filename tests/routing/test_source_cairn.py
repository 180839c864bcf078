"""Cairn: the signed time and the signed event id count, the headers do not."""

import hashlib
import hmac
import json
from datetime import UTC, datetime, timedelta

import pytest

from routing.sources import cairn
from routing.sources.request import InvalidSignature
from tests.deliveries import altered, cairn_artifact, signed

NOW = datetime(2026, 3, 4, 9, 15, 27, tzinfo=UTC)
TOLERANCE = timedelta(seconds=300)


def verify_created_at(created_at: object) -> None:
    body = json.dumps({"kind": "artifact.created", "created_at": created_at}).encode()
    cairn.verify(signed("cairn", body, secret="s", at=NOW).request(), secrets=["s"], tolerance=TOLERANCE)


def test_the_signature_is_the_prefixed_hex_digest_of_the_body() -> None:
    delivery = cairn_artifact(secret="s")
    digest = hmac.new(b"s", delivery.body, hashlib.sha256).hexdigest()

    assert delivery.headers["X-Cairn-Signature"] == f"sha256={digest}"
    cairn.verify(delivery.request(), secrets=["s"], tolerance=TOLERANCE)


@pytest.mark.parametrize(
    "created_at",
    [
        "2026-03-04T09:15:27Z",
        "2026-03-04t09:15:27z",
        "2026-03-04T09:15:27.4Z",
        "2026-03-04T09:15:27.482915301Z",
        "2026-03-04T11:15:27+02:00",
        "2026-03-03T23:45:27.000000001-09:30",
    ],
)
def test_rfc_3339_with_a_zone_verifies(created_at: str) -> None:
    verify_created_at(created_at)


@pytest.mark.parametrize(
    "created_at",
    [
        "2026-03-04T09:15:27", "2026-03-04T09:15:60Z", "2026-03-04T09:60:27Z", "2026-03-04T24:15:27Z",
        "2026-02-30T09:15:27Z", "0000-03-04T09:15:27Z", "2026-03-04 09:15:27Z", "2026-03-04T09:15Z",
        "2026-03-04T09:15:27.Z", "2026-03-04T09:15:27.1234567890Z", "2026-03-04T09:15:27+0200",
        "2026-03-04T09:15:27+24:00", "2026-03-04T09:15:27+02:60", "2026-03-04T09:15:27Z\n",
        " 2026-03-04T09:15:27Z", "\uff12\uff10\uff12\uff16-03-04T09:15:27Z", "20260304T091527Z",
        "1772615727", 1772615727, 1772615727.5, None, True, [], {"at": "2026-03-04T09:15:27Z"}, "",
    ],
)  # fmt: skip
def test_any_other_time_does_not_verify(created_at: object) -> None:
    with pytest.raises(InvalidSignature, match="malformed_timestamp"):
        verify_created_at(created_at)


@pytest.mark.parametrize(
    "created_at",
    [
        "0001-01-01T00:00:00Z",
        "0001-01-01T00:00:00+23:59",
        "9999-12-31T23:59:59.999999999Z",
        "9999-12-31T23:59:59-23:59",
        "2026-03-04T09:20:28Z",
        "2026-03-04T09:10:26Z",
        "2026-03-04T09:15:27+02:00",
    ],
)
def test_a_time_far_away_is_stale_and_overflows_nothing(created_at: str) -> None:
    with pytest.raises(InvalidSignature, match="stale_timestamp"):
        verify_created_at(created_at)


@pytest.mark.parametrize("body", [b"", b"[]", b"null", b"\xff", b"{}"])
def test_a_signed_body_without_a_time_does_not_verify(body: bytes) -> None:
    with pytest.raises(InvalidSignature, match="malformed_timestamp"):
        cairn.verify(signed("cairn", body, secret="s").request(), secrets=["s"], tolerance=TOLERANCE)


@pytest.mark.parametrize("claimed", ["another", "", "6B0A3A0E"])
def test_an_event_id_header_that_is_not_the_signed_one_does_not_verify(claimed: str) -> None:
    delivery = altered(cairn_artifact(secret="s", event_id="6b0a3a0e"), headers={"X-Cairn-Event-Id": claimed})

    with pytest.raises(InvalidSignature, match="event_id_mismatch"):
        cairn.verify(delivery.request(), secrets=["s"], tolerance=TOLERANCE)


def test_the_event_id_header_may_be_absent() -> None:
    delivery = altered(cairn_artifact(secret="s", event_id="6b0a"), headers={"X-Cairn-Event-Id": None})

    cairn.verify(delivery.request(), secrets=["s"], tolerance=TOLERANCE)
    assert cairn.delivery_id(delivery.request()) == "6b0a"


def test_a_body_without_an_event_id_has_no_delivery_id() -> None:
    assert cairn.delivery_id(signed("cairn", b'{"created_at":"x"}').request()) is None


def test_an_artifact_is_titled_without_its_id() -> None:
    description = cairn.describe("artifact.created", cairn_artifact().request())

    assert description.label == "artifact.created"
    assert description.title == "artifact.created by octavia@example.com: Task brief"


def test_a_comment_is_titled_by_what_it_says() -> None:
    comment = cairn_artifact(kind="comment.created", comment={"id": 512, "body": "Agreed:\nrename it"})

    assert (
        cairn.describe("comment.created", comment.request()).title
        == "comment.created by octavia@example.com: Agreed: rename it"
    )
