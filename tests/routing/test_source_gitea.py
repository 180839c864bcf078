"""Gitea and Forgejo: signatures without a prefix, forms signed by their JSON, hooks without a secret."""

import hashlib
import hmac
from datetime import timedelta
from urllib.parse import quote_plus

import pytest

from routing.sources import gitea
from routing.sources.request import InvalidSignature
from tests.deliveries import altered, gitea_event, gitea_issue, signed

TOLERANCE = timedelta(seconds=300)
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def test_the_signature_is_the_bare_hex_digest_of_the_body() -> None:
    delivery = gitea_issue(secret="s")

    assert delivery.headers["X-Gitea-Signature"] == hmac.new(b"s", delivery.body, hashlib.sha256).hexdigest()
    gitea.verify(delivery.request(), secrets=["s"], tolerance=TOLERANCE)


def test_a_form_is_verified_by_the_json_inside_it() -> None:
    delivery = gitea_issue(secret="s", title="50% + é")
    form = b"payload=" + quote_plus(delivery.body).encode()

    gitea.verify(altered(delivery, body=form, headers=FORM).request(), secrets=["s"], tolerance=TOLERANCE)

    signs_the_form = altered(signed("gitea", form, secret="s"), headers=FORM)
    with pytest.raises(InvalidSignature, match="signature_mismatch"):
        gitea.verify(signs_the_form.request(), secrets=["s"], tolerance=TOLERANCE)


def test_a_form_without_a_payload_does_not_verify() -> None:
    delivery = altered(signed("gitea", b"a=1", secret="s"), headers=FORM)

    with pytest.raises(InvalidSignature, match="missing_payload"):
        gitea.verify(delivery.request(), secrets=["s"], tolerance=TOLERANCE)


@pytest.mark.parametrize("secrets", [[""], [], ["s"]])
def test_a_hook_without_a_secret_never_verifies(secrets: list[str]) -> None:
    empty = {"X-Gitea-Signature": "", "X-Gogs-Signature": "", "X-Hub-Signature-256": "sha256="}
    delivery = altered(gitea_issue(), headers=empty)

    with pytest.raises(InvalidSignature, match="missing_signature"):
        gitea.verify(delivery.request(), secrets=secrets, tolerance=TOLERANCE)


def test_githubs_signature_alone_does_not_verify() -> None:
    delivery = altered(gitea_issue(secret="s"), headers={"X-Gitea-Signature": None})

    with pytest.raises(InvalidSignature, match="missing_signature"):
        gitea.verify(delivery.request(), secrets=["s"], tolerance=TOLERANCE)


def test_a_review_is_titled_by_place_actor_and_title() -> None:
    request = gitea_event(
        {
            "action": "reviewed",
            "pull_request": {"number": 18, "title": "Debounce"},
            "repository": {"full_name": "acme/widgets"},
            "sender": {"login": "nils"},
        },
        event="pull_request_rejected",
    ).request()

    description = gitea.describe("pull_request_rejected", request)

    assert description.label == "pull_request_rejected.reviewed"
    assert description.title == "acme/widgets#18 pull request rejected reviewed by nils: Debounce"
