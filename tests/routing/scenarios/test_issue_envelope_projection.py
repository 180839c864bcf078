"""SPEC-0020, Issue Envelope Projection."""

from typing import Any

from routing import dry_run
from routing.models import Event
from switchboard.accounts.models import Human
from tests.deliveries import SignedDelivery, gitea_event, gitea_issue, github_issue
from tests.routing.conftest import Line
from tests.routing.scenarios.stage import open_door, rule, save, send, trace_of


def test_gitea_and_github_label_events_read_alike(owner: Human) -> None:
    gitea, github = open_door(owner, "gitea"), open_door(owner, "github")
    relabelled = gitea_issue(action="label_updated", event_type="issue_label", labels=["bug", "size/M"], sender="mona")
    labelled = github_issue(action="labeled", labels=["bug", "size/M"], label="size/M", sender="mona")
    projections = [_issue_of(gitea, relabelled), _issue_of(github, labelled)]
    for issue in projections:
        assert issue["label_event"] is True
        assert (issue["labels"], issue["sender"]) == (["bug", "size/M"], "mona")
    assert [issue["event_type"] for issue in projections] == ["issue_label", "issues"]
    assert [issue["label"] for issue in projections] == [None, "size/M"]


def test_a_pull_request_is_not_an_issue(owner: Human) -> None:
    door = open_door(owner, "gitea")
    save(door, rule("issue", ".issue != null", drop=True))
    body = {
        "action": "label_updated",
        "number": 4,
        "pull_request": {"number": 4, "title": "A change", "user": {"login": "octavia"}, "labels": []},
        "repository": {"full_name": "acme/widgets"},
        "sender": {"login": "octavia"},
    }
    assert send(door, gitea_event(body, event="pull_request", event_type="pull_request_label"))["created"] == 1
    assert send(door, gitea_event(body, event="issues", event_type="issue_label"))["created"] == 1
    assert trace_of(door)["cause"] == "no_match_default"


def _issue_of(door: Line, delivery: SignedDelivery) -> dict[str, Any]:
    """Return `.issue` of a delivery that a rule over it has routed."""
    save(door, rule("labelled", ".issue.label_event", queue="inbox"))
    send(door, delivery)
    assert trace_of(door)["rule_id"] == "labelled"
    event_id = str(Event.objects.get(webhook=door.webhook).pk)
    result = dry_run.test_rules(principal=door.principal, webhook_id=door.webhook_id, arguments={"event_id": event_id})
    issue: dict[str, Any] = result["envelope"]["issue"]
    return issue
