"""What a delivery is about: an issue's fields, an artifact's fields, the key of both."""

import json
from typing import Any

import pytest

from routing.document import UNPARSED, parse_document
from routing.sources import Source
from routing.subject import artifact_projection, issue_projection, subject_key, work_order_subject
from tests.deliveries import (
    SignedDelivery,
    cairn_artifact,
    gitea_event,
    gitea_issue,
    github_event,
    github_issue,
    signed,
    slack_message,
)


def issue_of(delivery: SignedDelivery, source: Source) -> dict[str, Any]:
    request = delivery.request()
    issue = issue_projection(source, request.headers, request.document)
    assert issue is not None
    return issue


def has_issue(delivery: SignedDelivery, source: Source) -> bool:
    request = delivery.request()
    return issue_projection(source, request.headers, request.document) is not None


def artifact_of(delivery: SignedDelivery) -> dict[str, Any]:
    artifact = artifact_projection(Source.CAIRN, delivery.request().document)
    assert artifact is not None
    return artifact


def key_of(delivery: SignedDelivery, source: Source) -> str | None:
    request = delivery.request()
    return subject_key(source, request.headers, request.document)


def order_of(delivery: SignedDelivery, source: Source) -> Any:
    request = delivery.request()
    return work_order_subject(source, request.headers, request.document)


def test_every_field_of_a_github_issue_is_projected() -> None:
    delivery = github_issue(
        action="labeled",
        text="Größe 🚀",
        author="octavia",
        sender="nils",
        labels=["bug", "size/m"],
        label="size/m",
    )

    assert issue_of(delivery, Source.GITHUB) == {
        "provider": "github",
        "action": "labeled",
        "event_type": "issues",
        "repo": "acme/widgets",
        "number": 17,
        "title": "Crash on start",
        "url": "https://github.com/acme/widgets/issues/17",
        "state": "open",
        "author": "octavia",
        "sender": "nils",
        "labels": ["bug", "size/m"],
        "label": "size/m",
        "body_size": 12,
        "label_event": True,
        "key": "github:acme/widgets#17",
    }


def test_gitea_and_github_label_events_read_alike() -> None:
    gitea = gitea_issue(action="label_updated", event_type="issue_label", labels=["bug", "size/m"], sender="nils")
    github = github_issue(action="labeled", labels=["bug", "size/m"], label="size/m", sender="nils")

    issues = [issue_of(gitea, Source.GITEA), issue_of(github, Source.GITHUB)]

    for issue in issues:
        assert issue["label_event"] is True
        assert issue["labels"] == ["bug", "size/m"]
        assert issue["sender"] == "nils"
    assert [issue["event_type"] for issue in issues] == ["issue_label", "issues"]
    assert [issue["label"] for issue in issues] == [None, "size/m"]


def test_a_pull_request_is_not_an_issue() -> None:
    pull_request = {"number": 18, "title": "Debounce", "labels": [{"name": "size/m"}]}
    label_event = gitea_event(
        {"action": "label_updated", "number": 18, "pull_request": pull_request},
        event="pull_request",
        event_type="pull_request_label",
    )

    assert not has_issue(label_event, Source.GITEA)
    assert not has_issue(gitea_issue(pull_request=pull_request), Source.GITEA)
    assert not has_issue(github_issue(issue={"number": 2, "pull_request": {"url": "x"}}), Source.GITHUB)


def test_an_issue_whose_pull_request_is_null_is_an_issue() -> None:
    assert has_issue(gitea_issue(), Source.GITEA)
    assert has_issue(github_issue(pull_request=None), Source.GITHUB)


@pytest.mark.parametrize("event", ["issue_comment", "push", "Issues", ""])
def test_only_the_event_issues_is_one(event: str) -> None:
    assert not has_issue(github_issue(event=event), Source.GITHUB)


@pytest.mark.parametrize("source", [Source.SLACK, Source.STRIPE, Source.CAIRN])
def test_only_forges_and_generic_have_issues(source: Source) -> None:
    assert not has_issue(github_issue(), source)


@pytest.mark.parametrize("body", [b"", b"\xff", b"[]", b"null", b'"issues"', b'{"n":NaN}'])
def test_a_body_that_is_no_object_has_no_issue(body: bytes) -> None:
    assert not has_issue(signed("github", body, headers={"X-GitHub-Event": "issues"}), Source.GITHUB)


def test_generic_takes_its_provider_from_the_event_header() -> None:
    assert issue_of(gitea_issue(), Source.GENERIC)["provider"] == "gitea"
    assert issue_of(github_issue(), Source.GENERIC)["provider"] == "github"


def test_on_a_github_webhook_giteas_event_header_decides_and_the_provider_stays_github() -> None:
    issue = issue_of(gitea_issue(event_type="issue_label"), Source.GITHUB)

    assert (issue["provider"], issue["event_type"]) == ("github", "issue_label")


def test_fields_of_the_wrong_type_are_null_and_labels_a_list() -> None:
    body = {
        "action": ["labeled"],
        "issue": {
            "number": "7",
            "title": 5,
            "user": None,
            "labels": [{"name": 1}, "bug", {"name": "ok"}],
            "body": {},
        },
        "repository": "acme/widgets",
        "sender": [],
    }

    issue = issue_of(github_event(body, event="issues"), Source.GITHUB)

    assert issue == {
        **dict.fromkeys(["action", "repo", "number", "title", "url", "state", "author", "sender", "label", "key"]),
        "provider": "github",
        "event_type": "issues",
        "labels": ["ok"],
        "body_size": 0,
        "label_event": False,
    }


def test_the_size_of_a_null_body_is_zero() -> None:
    assert issue_of(github_issue(text=None), Source.GITHUB)["body_size"] == 0


@pytest.mark.parametrize("number", ["17", 17.0, True, 0, -1, None])
def test_without_a_real_number_there_is_no_key(number: object) -> None:
    assert key_of(github_issue(issue={"number": number}), Source.GITHUB) is None


@pytest.mark.parametrize("repository", [None, "acme/widgets", {}, {"full_name": ""}, {"full_name": 7}])
def test_without_a_real_repository_there_is_no_key(repository: object) -> None:
    assert key_of(github_issue(repository=repository), Source.GITHUB) is None


def test_every_field_of_an_artifact_is_projected() -> None:
    delivery = cairn_artifact(
        event_id="6b0a",
        created_at="2026-03-04T09:15:27Z",
        tags=["handoff", "lane:m"],
        channel="via MCP",
        model="example-model-1",
        on_behalf_of="example-agent/1.4.0",
        expires_at="2026-03-11T09:15:27Z",
        metadata={"deep": [1, 2.5, None]},
    )

    assert artifact_of(delivery) == {
        "event_id": "6b0a",
        "kind": "artifact.created",
        "created_at": "2026-03-04T09:15:27Z",
        "id": "4kQ9zTbX",
        "handle": "mcp://cairn/4kQ9zTbX",
        "url": "https://cairn.example.com/4kQ9zTbX",
        "title": "Task brief",
        "share_type": "markdown",
        "channel": "via MCP",
        "model": "example-model-1",
        "actor_id": "octavia@example.com",
        "on_behalf_of": "example-agent/1.4.0",
        "expires_at": "2026-03-11T09:15:27Z",
        "tags": ["handoff", "lane:m"],
        "metadata": {"deep": [1, 2.5, None]},
    }


def test_a_handoffs_lane_is_readable_its_authority_is_not() -> None:
    plain = artifact_of(cairn_artifact(event_id="1", created_at="2026-03-04T09:15:27Z"))
    tagged = artifact_of(
        cairn_artifact(
            event_id="1",
            created_at="2026-03-04T09:15:27Z",
            tags=["handoff", "lane:m", "trusted", "actor_id:nils", "verified"],
        )
    )

    assert "lane:m" in tagged["tags"]
    assert {**tagged, "tags": None} == plain
    assert tagged["actor_id"] == "octavia@example.com"


def test_tags_that_are_no_list_are_null_and_a_list_passes_as_it_came() -> None:
    assert artifact_of(cairn_artifact(tags=["a", 7, None]))["tags"] == ["a", 7, None]
    assert artifact_of(signed("cairn", b'{"data":{"tags":"handoff"}}'))["tags"] is None


def test_an_artifact_without_data_has_null_fields_and_no_handle() -> None:
    artifact = artifact_of(signed("cairn", b'{"kind":"run.closed","data":[]}'))

    assert {name for name, value in artifact.items() if value is not None} == {"kind"}
    assert artifact_of(cairn_artifact(id=""))["handle"] is None


@pytest.mark.parametrize("source", [source for source in Source if source is not Source.CAIRN])
def test_only_cairn_has_artifacts(source: Source) -> None:
    assert artifact_projection(source, cairn_artifact().request().document) is None


def test_a_body_that_is_no_object_has_no_artifact() -> None:
    assert artifact_projection(Source.CAIRN, UNPARSED) is None
    assert artifact_projection(Source.CAIRN, parse_document(b"[]", content_type=None)) is None


def test_an_artifacts_key_is_its_id_whatever_the_event() -> None:
    assert key_of(cairn_artifact(), Source.CAIRN) == "cairn:4kQ9zTbX"
    assert key_of(cairn_artifact(kind="comment.created"), Source.CAIRN) == "cairn:4kQ9zTbX"
    assert key_of(cairn_artifact(id=""), Source.CAIRN) is None
    assert key_of(signed("cairn", b'{"data":{"id":7}}'), Source.CAIRN) is None


def test_an_issues_key_names_provider_repository_and_number() -> None:
    assert key_of(github_issue(), Source.GITHUB) == "github:acme/widgets#17"
    assert key_of(gitea_issue(), Source.GITEA) == "gitea:acme/widgets#17"
    assert key_of(gitea_issue(), Source.GENERIC) == "gitea:acme/widgets#17"
    assert key_of(slack_message(), Source.SLACK) is None


def test_the_subject_of_an_issues_work_order_is_the_whole_issue() -> None:
    delivery = gitea_issue(labels=["size/m"])

    assert order_of(delivery, Source.GITEA) == issue_of(delivery, Source.GITEA)


def test_the_subject_of_a_handoff_keeps_only_the_text_tags_in_order() -> None:
    delivery = cairn_artifact(tags=["b", 7, "a", None, ["c"], "b"], on_behalf_of="example-agent/1.4.0")

    assert order_of(delivery, Source.CAIRN) == {
        "id": "4kQ9zTbX",
        "handle": "mcp://cairn/4kQ9zTbX",
        "url": "https://cairn.example.com/4kQ9zTbX",
        "title": "Task brief",
        "share_type": "markdown",
        "actor_id": "octavia@example.com",
        "on_behalf_of": "example-agent/1.4.0",
        "tags": ["b", "a", "b"],
    }


def test_the_subject_of_a_work_order_can_be_stored() -> None:
    subject = order_of(github_issue(title="a\0b"), Source.GITHUB)

    assert subject["title"] == "a\ufffdb"
    assert "\\u0000" not in json.dumps(subject)


def test_without_a_key_there_is_no_subject() -> None:
    assert order_of(slack_message(), Source.SLACK) is None
    assert order_of(github_issue(repository=None), Source.GITHUB) is None
    assert order_of(cairn_artifact(id=""), Source.CAIRN) is None
