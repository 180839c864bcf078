"""The scenarios from the delivery to the post: a producer, agents over MCP, owners over the API, a provider over TLS.

Each runs both ways: dialled in the agent's own process, and by a Celery dialler on Redis.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.test import Client

from tests import deliveries
from tests.api.caller import Caller, make_caller
from tests.deliveries import SignedDelivery, gitea_event, gitea_issue, github_event, github_issue, slack_message
from tests.factories import make_endpoint
from tests.mcp_bridge.agents import Agent
from tests.replies.both_ways import broker_url as broker_url  # noqa: PLC0414 - the fixtures
from tests.replies.both_ways import dialler as dialler  # noqa: PLC0414
from tests.replies.both_ways import provider as provider  # noqa: PLC0414
from tests.replies.stage import PLACES, SECRET, Place, answering, github
from tests.stand_in import StandIn

pytestmark = pytest.mark.django_db(transaction=True)


@dataclass(frozen=True)
class Party:
    """An owner who calls the API, and the agent of one endpoint of theirs."""

    owner: Caller
    agent: Agent

    def watch(self, source: str) -> "Watch":
        """Have the agent make a webhook of the source, with the secret that every delivery is signed with."""
        secret = {} if source == "generic" else {"signing_secret": deliveries.SECRET}
        made = self.agent.get("create_webhook", source_type=source, target_queue="work", **secret)
        return Watch(made["webhook_id"], urlsplit(made["ingest_url"]).path)

    def connect(self, place: Place, *, secret: str = SECRET, **options: Any) -> None:
        """Store a connection to the place."""
        named = {"kind": place.provider.value, "name": "outbound", "account_key": place.account_key, "secret": secret}
        made = self.owner.call("POST", "/connections", {"owner": {"human": "me"}, **named, **options})
        assert made.status_code == 201, made.content

    def claim(self) -> dict[str, Any]:
        """Claim the oldest todo and return it as the agent sees it."""
        return dict(self.agent.get("claim_next", queue="work")["todo"])

    def reply(self, todo: dict[str, Any], text: str = "Picked this up.") -> dict[str, Any]:
        """Reply to the todo and return the result, or the error of a refused call."""
        answer = self.agent.call("reply", todo_id=todo["id"], text=text)
        return dict(answer.text["error"] if answer.failed else answer.text)


@dataclass(frozen=True)
class Watch:
    """A webhook of somebody's."""

    webhook_id: str
    path: str

    def post(self, delivery: SignedDelivery) -> dict[str, Any]:
        """Deliver, and return the answer to the producer."""
        response = delivery.post(Client(), self.path)
        assert response.status_code == 202, response.content
        return dict(response.json())


Enter = Callable[[str], Party]


@pytest.fixture
def enter(db: None) -> Enter:
    """Return a function that brings an owner of that name with an agent of theirs."""

    def make(name: str) -> Party:
        caller = make_caller(name)
        sources = ["github", "gitea", "slack", "generic"]
        vended = make_endpoint(caller.human, name=name, verbs="all", webhook_max=4, webhook_source_types=sources)
        return Party(caller, Agent(vended))

    return make


@pytest.fixture
def owner(enter: Enter) -> Party:
    return enter("owner")


@pytest.fixture
def friend(enter: Enter) -> Party:
    return enter("friend")


@pytest.fixture
def forge(provider: StandIn) -> Place:
    """An issue of a small Gitea."""
    return answered(provider, "gitea")


def answered(provider: StandIn, name: str) -> Place:
    """Return a place of the provider where every post is taken."""
    place = PLACES[name](provider)
    provider.on(place.path, place.good)
    return place


def issue_of(forge: Place, **changed: Any) -> SignedDelivery:
    """Issue 7 of acme/widgets, as the small Gitea delivers it."""
    repository = {"full_name": "acme/widgets", "html_url": f"{forge.account_key}/acme/widgets", **changed}
    return gitea_issue(number=7, repository=repository)


def share(owner: Party, watch: Watch, friend: Party) -> None:
    """Route the webhook to the friend's endpoint too, which the friend approves."""
    target = friend.agent.vended.endpoint.pk
    asked = owner.owner.call("PUT", f"/webhooks/{watch.webhook_id}/routes/{target}").json()
    assert friend.owner.call("POST", f"/routes/{asked['route_id']}/approve").json()["state"] == "live"


def credentials_of(provider: StandIn) -> list[str]:
    return [seen.headers["authorization"] for seen in provider.requests]


def test_slack_message_in_a_channel(owner: Party) -> None:
    owner.watch("slack").post(slack_message(team="T0123", channel="C0123", ts="1726990000.000100"))

    assert owner.claim()["reply_to"] == {
        "kind": "slack_thread",
        "team_id": "T0123",
        "channel": "C0123",
        "thread_ts": "1726990000.000100",
        "display": "slack #C0123 thread 1726990000.000100",
    }


def test_reply_inside_an_existing_thread(owner: Party) -> None:
    owner.watch("slack").post(slack_message(ts="1726990000.000100", thread_ts="1726980000.000200"))

    assert owner.claim()["reply_to"]["thread_ts"] == "1726980000.000200"


def test_pull_request_comment_on_gitea(owner: Party) -> None:
    page = "https://gitea.example.net/stump.wtf/switchboard"
    body = {
        "action": "created",
        "is_pull": True,
        "issue": {"number": 482, "title": "A pull request", "html_url": f"{page}/pulls/482", "pull_request": {}},
        "comment": {"id": 5, "body": "Please look.", "user": {"login": "octavia"}},
        "repository": {"full_name": "stump.wtf/switchboard", "html_url": page},
        "sender": {"login": "octavia"},
    }
    owner.watch("gitea").post(gitea_event(body, event="issue_comment", event_type="pull_request_comment"))

    assert owner.claim()["reply_to"] == {
        "kind": "forge_comment",
        "provider": "gitea",
        "host": "gitea.example.net",
        "repo": "stump.wtf/switchboard",
        "number": 482,
        "display": "gitea stump.wtf/switchboard#482",
    }


def test_generic_webhook_carrying_a_forge_payload(owner: Party, provider: StandIn) -> None:
    owner.connect(github(provider))
    delivery = github_issue()
    assert delivery.headers["X-GitHub-Event"] == "issues"
    owner.watch("generic").post(delivery)

    todo = owner.claim()

    assert "reply_to" not in todo
    assert owner.reply(todo)["code"] == "no_reply_address"
    assert not provider.connections


def test_unsafe_field(owner: Party, forge: Place, provider: StandIn) -> None:
    owner.connect(forge)
    created = owner.watch("gitea").post(issue_of(forge, full_name="acme/../widgets"))

    todo = owner.claim()

    assert (created["created"], todo["state"]) == (1, "claimed")
    assert todo["title"].endswith("opened by octavia: Crash on start")
    assert "reply_to" not in todo
    assert owner.reply(todo)["code"] == "no_reply_address"
    assert not provider.connections


def test_fan_out(owner: Party, friend: Party, forge: Place, provider: StandIn) -> None:
    owner.connect(forge, secret="owners-credential")
    friend.connect(forge, secret="friends-credential")
    watch = owner.watch("gitea")
    share(owner, watch, friend)
    assert watch.post(issue_of(forge))["created"] == 2

    owners, friends = owner.claim(), friend.claim()

    assert owners["id"] != friends["id"]
    assert owners["reply_to"] == friends["reply_to"] == forge.address.as_json()
    assert friend.reply(friends)["state"] == owner.reply(owners)["state"] == "sent"
    assert credentials_of(provider) == ["token friends-credential", "token owners-credential"]


def test_cross_owner_fan_out(owner: Party, friend: Party, forge: Place, provider: StandIn) -> None:
    owner.connect(forge)
    watch = owner.watch("gitea")
    share(owner, watch, friend)
    watch.post(issue_of(forge))
    owners, friends = owner.claim(), friend.claim()

    assert friend.reply(friends)["code"] == "no_connection"
    assert not provider.connections
    assert owner.reply(owners)["state"] == "sent"


def test_host_mismatch(owner: Party, forge: Place, provider: StandIn) -> None:
    owner.connect(forge)
    owner.watch("gitea").post(issue_of(forge, html_url="https://git.attacker.example/acme/widgets"))

    todo = owner.claim()

    assert todo["reply_to"]["host"] == "git.attacker.example"
    assert owner.reply(todo)["code"] == "no_connection"
    assert not provider.connections


def test_allowlist_refuses(owner: Party, forge: Place, provider: StandIn) -> None:
    owner.connect(forge, targets=["acme/*"])
    owner.watch("gitea").post(issue_of(forge, full_name="other/repo"))

    assert owner.reply(owner.claim())["code"] == "target_not_allowed"
    assert not provider.connections


def test_another_endpoints_todo(owner: Party, friend: Party, forge: Place, provider: StandIn) -> None:
    for party in (owner, friend):
        party.connect(forge)
    owner.watch("gitea").post(issue_of(forge))
    todo = owner.claim()

    refused = friend.reply(todo)

    assert refused == friend.reply({"id": "00000000-0000-7000-8000-000000000000"})
    assert refused["code"] == "not_found"
    assert not provider.connections


def test_drawer_shows_replies(owner: Party, forge: Place, provider: StandIn) -> None:
    owner.connect(forge)
    owner.watch("gitea").post(issue_of(forge))
    todo = owner.claim()
    sent = owner.reply(todo, "one")
    provider.next(answering({"message": "words of the provider"}, status=403))
    owner.reply(todo, "two")

    drawer = owner.owner.get(f"/todos/{todo['id']}/replies")["replies"]

    told = [(row["text"], row["state"], row["display"], row["permalink"]) for row in drawer]
    assert told == [
        ("two", "failed", "gitea acme/widgets#7", None),
        ("one", "sent", "gitea acme/widgets#7", sent["permalink"]),
    ]
    assert all(row["created_at"] for row in drawer)
    assert SECRET not in json.dumps(drawer)
    assert "words of the provider" not in json.dumps(drawer)
    expected = {"count": 2, "last_state": "failed", "last_permalink": None}
    assert owner.owner.get(f"/todos/{todo['id']}")["replies"] == expected
    assert owner.agent.get("get_todo", id=todo["id"])["todo"]["replies"] == expected


def test_our_own_comment_comes_back(owner: Party, provider: StandIn) -> None:
    place = answered(provider, "github")
    owner.connect(place)
    watch = owner.watch("github")
    watch.post(github_issue(number=7))
    assert owner.reply(owner.claim())["state"] == "sent"

    answer = watch.post(comment_on_github(number=99001))

    assert (answer["dropped"], answer["todos"]) == (True, [])
    [echo] = owner.owner.get("/events?disposition=self_reply")["events"]
    assert (echo["disposition"], echo["routing"]["cause"]) == ("self_reply", "self_reply")
    assert owner.agent.get("claim_next")["empty"] is True
    assert watch.post(comment_on_github(number=99002))["created"] == 1


def comment_on_github(*, number: int) -> SignedDelivery:
    page = "https://github.com/acme/widgets"
    body = {
        "action": "created",
        "issue": {"number": 7, "title": "Crash on start", "html_url": f"{page}/issues/7"},
        "comment": {"id": number, "body": "Anything.", "user": {"login": "octavia"}},
        "repository": {"full_name": "acme/widgets", "html_url": page},
        "sender": {"login": "octavia"},
    }
    return github_event(body, event="issue_comment")


def test_a_human_answers_in_the_thread(owner: Party, provider: StandIn) -> None:
    owner.connect(answered(provider, "slack"))
    watch = owner.watch("slack")
    watch.post(message_in_the_thread(ts="1726990000.000100"))
    assert owner.reply(owner.claim())["state"] == "sent"

    ours = watch.post(message_in_the_thread(ts="1726990001.000200", user="U0999"))
    theirs = watch.post(message_in_the_thread(ts="1726990002.000300", text="Thank you!"))

    assert (ours["dropped"], theirs["created"]) == (True, 1)
    assert owner.claim()["reply_to"]["thread_ts"] == "1726990000.000100"


def message_in_the_thread(**message: Any) -> SignedDelivery:
    return slack_message(team="T0123", channel="C0123", thread_ts="1726990000.000100", **message)
