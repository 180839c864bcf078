"""GitHub: the published vector, forms, and Gitea's headers on a GitHub webhook."""

import hashlib
import hmac
from datetime import UTC, datetime, timedelta
from urllib.parse import quote_plus

import pytest

from routing.sources import github
from routing.sources.request import InvalidSignature
from tests.deliveries import SignedDelivery, altered, gitea_issue, github_event, github_issue, signed

TOLERANCE = timedelta(seconds=300)


def test_the_vector_that_github_publishes_verifies() -> None:
    header = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
    delivery = SignedDelivery(body=b"Hello, World!", headers={"X-Hub-Signature-256": header}, at=datetime.now(UTC))

    github.verify(delivery.request(), secrets=["It's a Secret to Everybody"], tolerance=TOLERANCE)


def test_a_sha1_signature_alone_does_not_verify() -> None:
    delivery = github_issue(secret="s")
    sha1 = hmac.new(b"s", delivery.body, hashlib.sha1).hexdigest()
    changed = altered(delivery, headers={"X-Hub-Signature-256": None, "X-Hub-Signature": f"sha1={sha1}"})

    with pytest.raises(InvalidSignature, match="missing_signature"):
        github.verify(changed.request(), secrets=["s"], tolerance=TOLERANCE)


def test_a_form_is_verified_as_it_was_sent() -> None:
    json_text = github_issue().body
    form = b"payload=" + quote_plus(json_text).encode()
    as_form = {"Content-Type": "application/x-www-form-urlencoded"}
    delivery = altered(signed("github", form, secret="s"), headers=as_form)

    github.verify(delivery.request(), secrets=["s"], tolerance=TOLERANCE)

    signs_the_json = altered(signed("github", json_text, secret="s"), body=form, headers=as_form)
    with pytest.raises(InvalidSignature, match="signature_mismatch"):
        github.verify(signs_the_json.request(), secrets=["s"], tolerance=TOLERANCE)


def test_giteas_own_signature_means_nothing_on_a_github_webhook() -> None:
    delivery = gitea_issue(secret="s")

    github.verify(delivery.request(), secrets=["s"], tolerance=TOLERANCE)

    without = altered(delivery, headers={"X-Hub-Signature-256": None})
    with pytest.raises(InvalidSignature, match="missing_signature"):
        github.verify(without.request(), secrets=["s"], tolerance=TOLERANCE)


def test_an_issue_is_titled_by_place_actor_and_title() -> None:
    description = github.describe("issues", github_issue(title="Crash on\nstart").request())

    assert description.label == "issues.opened"
    assert description.title == "acme/widgets#17 opened by octavia: Crash on start"


def test_a_comment_and_a_push_are_titled_too() -> None:
    comment = github_issue(event="issue_comment", action="created", comment={"id": 1}).request()
    push = github_event(
        {"ref": "refs/heads/main", "repository": {"full_name": "acme/widgets"}, "sender": {"login": "nils"}},
        event="push",
    ).request()

    assert (
        github.describe("issue_comment", comment).title
        == "acme/widgets#17 issue comment created by octavia: Crash on start"
    )
    assert github.describe("push", push).title == "acme/widgets push by nils: refs/heads/main"


def test_a_long_title_is_cut_to_one_readable_line() -> None:
    title = github.describe("issues", github_issue(title="x" * 5000).request()).title

    assert len(title) == 200
    assert title.endswith("…")
