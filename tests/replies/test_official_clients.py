"""The providers' own clients do what we do: the same calls, and they read what we posted."""

import json
import os
from typing import Any

import pytest
from github import Auth, Github
from slack_sdk import WebClient

from tests.replies.conftest import OpenConversation
from tests.replies.stage import Conversation, answering
from tests.stand_in import SeenRequest

ISSUE = "/repos/acme/widgets/issues/7"


@pytest.fixture
def on_github(converse: OpenConversation) -> Conversation:
    conversation = converse(provider="github")
    url = conversation.server.url_for("localhost")
    conversation.server.on(ISSUE, answering({"number": 7, "url": f"{url}{ISSUE}"}))
    return conversation


def their_issue(conversation: Conversation) -> Any:
    url, authority = conversation.server.url_for("localhost"), os.environ["SSL_CERT_FILE"]
    return Github(base_url=url, auth=Auth.Token("x"), verify=authority, lazy=True).get_repo("acme/widgets").get_issue(7)


def test_pygithub_posts_the_same_call(on_github: Conversation) -> None:
    on_github.reply("Done: <b> & ✓")
    their_issue(on_github).create_comment("Done: <b> & ✓")
    ours, theirs = on_github.server.requests

    assert as_said(ours) == as_said(theirs)


def test_pygithub_reads_what_we_posted(on_github: Conversation) -> None:
    result = on_github.reply("Done.")
    posted = json.loads(on_github.server.requests[0].body)
    comment = {**json.loads(on_github.place.good.body), **posted}
    on_github.server.on(f"{ISSUE}/comments", answering([comment]))

    [read] = their_issue(on_github).get_comments()

    assert (read.body, str(read.id), read.html_url) == ("Done.", on_github.row.object_id, result["permalink"])


@pytest.fixture
def on_slack(converse: OpenConversation) -> Conversation:
    return converse(provider="slack")


def their_slack(conversation: Conversation) -> WebClient:
    base = f"{conversation.server.url_for('localhost')}/api/"
    return WebClient(token="xoxb-x", base_url=base, ssl=conversation.server.trust)


def test_slack_sdk_posts_the_same_call(on_slack: Conversation) -> None:
    on_slack.reply("Done: <b> & ✓")
    their_slack(on_slack).chat_postMessage(channel="C0123", thread_ts="1726990000.000100", text="Done: <b> & ✓")
    ours, theirs = on_slack.server.requests

    assert as_said(ours) == as_said(theirs)


def test_slack_sdk_reads_what_we_posted(on_slack: Conversation) -> None:
    on_slack.reply("Done.")
    posted = json.loads(on_slack.server.requests[0].body)
    message = {**json.loads(on_slack.place.good.body)["message"], "text": posted["text"], "ts": "1726990001.000200"}
    on_slack.server.on(None, answering({"ok": True, "messages": [message]}))

    read = their_slack(on_slack).conversations_replies(channel=posted["channel"], ts=posted["thread_ts"])

    assert [said["text"] for said in read["messages"]] == ["Done."]
    assert f"C0123:{read['messages'][0]['ts']}" == on_slack.row.object_id


def as_said(request: SeenRequest) -> tuple[str, str, str, Any]:
    """The method, the path, the media type and what the body says."""
    media_type = request.headers["content-type"].partition(";")[0]
    return request.method, request.path, media_type, json.loads(request.body)
