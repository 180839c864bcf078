"""Any other producer: the URL is the proof, the id is optional, the name is the producer's."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from standardwebhooks import Webhook

from routing.sources import generic
from tests.deliveries import generic_alert, github_issue, signed


def test_any_delivery_is_accepted() -> None:
    generic.verify(generic_alert().request(), secrets=[], tolerance=timedelta(seconds=300))


def test_the_delivery_id_is_its_own_header_or_else_standard_webhooks() -> None:
    request = generic_alert().request()

    def identifier(**headers: str) -> str | None:
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        return generic.delivery_id(replace(request, headers=names))

    assert identifier(x_delivery_id="one", webhook_id="two") == "one"
    assert identifier(webhook_id="two") == "two"
    assert identifier(x_delivery_id="a" * 257, webhook_id="two") == "two"
    assert identifier(x_delivery_id="a\x01", webhook_id="b" * 257) is None
    assert identifier() is None


def test_a_standard_webhook_is_taken_by_its_id() -> None:
    body = b'{"type":"contact.created","data":{}}'
    delivery = signed("generic", body, headers={"webhook-id": "msg_de7e"})
    signature = Webhook("whsec_c3dpdGNoYm9hcmQ=").sign("msg_de7e", delivery.at, body.decode())

    assert signature.startswith("v1,")
    assert generic.delivery_id(delivery.request()) == "msg_de7e"
    assert generic.describe(None, delivery.request()).title == "generic contact.created"


@pytest.mark.parametrize(
    ("more", "title"),
    [
        ({}, "Disk 91% on host-7"),
        ({"type": "disk.full"}, "disk.full: Disk 91% on host-7"),
        ({"title": 7}, "generic delivery"),
    ],
)
def test_an_alert_is_titled_by_its_own_headline(more: dict[str, Any], title: str) -> None:
    assert generic.describe(None, generic_alert(**more).request()).title == title


def test_a_forges_event_is_named_as_a_forges() -> None:
    description = generic.describe("issues", github_issue().request())

    assert description.label == "issues.opened"
    assert description.title == "acme/widgets#17 opened by octavia: Crash on start"
