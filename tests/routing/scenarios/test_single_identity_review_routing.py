"""SPEC-0020, Single-Identity Review Routing, as the pool-review pack implements it."""

import pytest

from switchboard.accounts.models import Human
from tests.deliveries import SignedDelivery, gitea_event, github_event, github_issue
from tests.routing.conftest import Line
from tests.routing.scenarios.stage import install, open_door, send, trace_of

FORGES = pytest.mark.parametrize("source", ["github", "gitea"])


@FORGES
def test_a_review_request_reaches_only_the_requested_identity(owner: Human, stranger: Human, source: str) -> None:
    requested, author = _pool(owner, source, "joestump-agent"), _pool(stranger, source, "joestump")
    delivery = _pull_request(source, "review_requested", requested_reviewer={"login": "joestump-agent"})
    assert send(requested, delivery)["created"] == 1
    assert send(author, delivery)["dropped"] is True
    assert trace_of(author)["rule_id"] == "review-request-not-for-me"
    withdrawn = _pull_request(source, "review_request_removed", requested_reviewer={"login": "joestump-agent"})
    assert (send(requested, withdrawn)["created"], send(author, withdrawn)["dropped"]) == (1, True)


@FORGES
def test_nobody_reviews_their_own_pull_request(owner: Human, source: str) -> None:
    pool = _pool(owner, source, "joestump")
    pushed = "synchronize" if source == "github" else "synchronized"
    for action in ("opened", "reopened", pushed, "edited", "ready_for_review", "review_requested"):
        delivery = _pull_request(source, action, requested_reviewer={"login": "joestump"})
        assert send(pool, delivery)["dropped"] is True
        assert trace_of(pool)["rule_id"] == "own-pr-review-trigger"
    assert send(pool, _review_comment(source))["created"] == 1
    assert send(pool, _pull_request(source, "closed"))["created"] == 1
    assert send(pool, _pull_request(source, "opened", author="mona"))["created"] == 1


@FORGES
def test_a_pool_with_no_identity_fails_closed(owner: Human, source: str) -> None:
    pool = open_door(owner, source)
    install(pool, "pool-review")
    for action in ("review_requested", "review_request_removed"):
        for reviewer in ({"login": "joestump"}, {"login": None}, None):
            assert send(pool, _pull_request(source, action, requested_reviewer=reviewer))["dropped"] is True
            assert trace_of(pool)["rule_id"] == "review-request-not-for-me"
    assert send(pool, _review_comment(source))["created"] == 1
    if source == "github":
        assert send(pool, github_issue())["created"] == 1


def _pool(human: Human, source: str, identity: str) -> Line:
    pool = open_door(human, source)
    install(pool, "pool-review", identity=identity)
    return pool


def _pull_request(source: str, action: str, *, author: str = "joestump", **more: object) -> SignedDelivery:
    body = {
        "action": action,
        "number": 4,
        "pull_request": {"number": 4, "title": "A change", "user": {"login": author}},
        "repository": {"full_name": "acme/widgets"},
        "sender": {"login": author},
        **more,
    }
    if source == "gitea":
        return gitea_event(body, event="pull_request", event_type=f"pull_request_{action}")
    return github_event(body, event="pull_request")


def _review_comment(source: str) -> SignedDelivery:
    body = {
        "action": "created" if source == "github" else "reviewed",
        "pull_request": {"number": 4, "user": {"login": "joestump"}},
        "comment": {"body": "Please rename this.", "user": {"login": "mona"}},
        "repository": {"full_name": "acme/widgets"},
    }
    if source == "gitea":
        return gitea_event(body, event="pull_request_comment")
    return github_event(body, event="pull_request_review_comment")
