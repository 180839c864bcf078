"""The webhooks, secrets, routes and history families as an agent uses them."""

import json
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.test import Client

from routing.models import Webhook
from switchboard.accounts.models import Human
from tests.deliveries import generic_alert, signed, slack_challenge
from tests.factories import make_endpoint, make_event, make_human
from tests.mcp_bridge.agents import Agent, make_agent

pytestmark = pytest.mark.django_db


@pytest.fixture
def agent() -> Agent:
    return make_agent(verbs="all", queues=["work", "later"], webhook_max=2)


def post(url: str, delivery: Any) -> int:
    """Post a delivery to an ingest URL; return the status."""
    path = urlsplit(url).path
    headers = {name: value for name, value in delivery.headers.items() if name.lower() != "content-type"}
    response = Client().post(path, delivery.body, content_type="application/json", headers=headers)
    return int(response.status_code)


def test_a_created_webhook_takes_deliveries_signed_with_its_minted_secret(agent: Agent) -> None:
    made = agent.get("create_webhook", source_type="github", target_queue="later")
    assert set(made) == {
        "webhook_id",
        "ingest_url",
        "source_type",
        "target_queue",
        "trust_mode",
        "signing_secret",
    }
    delivery = signed("github", b'{"zen": "Keep it simple"}', secret=made["signing_secret"])
    assert post(made["ingest_url"], delivery) == 202
    assert agent.get("claim_next", queue="later")["todo"]["payload"] == {"zen": "Keep it simple"}


def test_a_supplied_secret_is_never_shown(agent: Agent) -> None:
    made = agent.call("create_webhook", source_type="github", target_queue="work", signing_secret="sesame-street")
    assert not made.failed
    assert "sesame-street" not in json.dumps([made.text, agent.get("list_webhooks")])


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"source_type": "slack", "target_queue": "work"}, "forbidden_source_type"),
        ({"source_type": "github", "target_queue": "elsewhere"}, "forbidden"),
        ({"source_type": "carrier-pigeon", "target_queue": "work"}, "invalid_argument"),
        ({"source_type": "github", "target_queue": "work", "signing_secret": "s" * 513}, "invalid_argument"),
        ({"source_type": "github", "target_queue": "work", "signing_secret": ""}, "invalid_argument"),
        ({"source_type": "generic", "target_queue": "work", "signing_secret": "one"}, "invalid_argument"),
    ],
)
def test_a_webhook_outside_the_ceiling_is_refused(arguments: dict[str, str], code: str) -> None:
    agent = make_agent(webhook_source_types=["github", "generic"])
    result = agent.call("create_webhook", **arguments)
    assert result.code == code
    assert not Webhook.objects.exists()


def test_one_webhook_too_many_is_refused(agent: Agent) -> None:
    for _ in range(2):
        agent.get("create_webhook", source_type="github", target_queue="work")
    assert agent.call("create_webhook", source_type="github", target_queue="work").code == "ceiling_exceeded"


def test_nothing_is_sealed_without_a_key(agent: Agent, settings: Any) -> None:
    settings.SWITCHBOARD_ENCRYPTION_KEY = None
    assert agent.call("create_webhook", source_type="github", target_queue="work").code == "encryption_required"


def test_the_list_shows_the_ceiling_but_no_address_and_no_secret(agent: Agent) -> None:
    made = agent.get("create_webhook", source_type="github", target_queue="work")
    listed = agent.get("list_webhooks")
    assert [row["webhook_id"] for row in listed["webhooks"]] == [made["webhook_id"]]
    assert listed["ceiling"]["max"] == 2
    assert listed["ceiling"]["queues"] == ["work", "later"]
    assert "generic" in listed["ceiling"]["source_types"]
    assert made["ingest_url"] not in json.dumps(listed)
    assert made["signing_secret"] not in json.dumps(listed)


def test_a_rotated_secret_replaces_the_former_one(agent: Agent) -> None:
    made = agent.get("create_webhook", source_type="github", target_queue="work")
    rotated = agent.get("rotate_webhook", webhook_id=made["webhook_id"])
    assert rotated["ingest_url"] == made["ingest_url"]
    assert post(made["ingest_url"], signed("github", b"{}", secret=made["signing_secret"])) == 401
    assert post(made["ingest_url"], signed("github", b"{}", secret=rotated["signing_secret"])) == 202


def test_a_rotated_address_can_overlap_with_the_former_one(agent: Agent) -> None:
    made = agent.get("create_webhook", source_type="generic", target_queue="work")
    moved = agent.get("rotate_webhook", webhook_id=made["webhook_id"], keep_previous_for_seconds=60)
    assert moved["ingest_url"] != made["ingest_url"]
    assert post(made["ingest_url"], generic_alert(delivery_id="a")) == 202
    assert post(moved["ingest_url"], generic_alert(delivery_id="b")) == 202


def test_a_deleted_webhook_is_gone(agent: Agent) -> None:
    made = agent.get("create_webhook", source_type="generic", target_queue="work")
    webhook_id = made["webhook_id"]
    assert agent.get("delete_webhook", webhook_id=webhook_id) == {"webhook_id": webhook_id, "deleted": True}
    assert post(made["ingest_url"], generic_alert()) == 404
    assert agent.call("delete_webhook", webhook_id=webhook_id).code == "not_found"


def test_a_slack_webhook_waits_for_the_secret_that_slack_issued(agent: Agent) -> None:
    made = agent.get("create_webhook", source_type="slack", target_queue="work")
    secret = "8f742231b10e8888abcd99yyyzzz85a5"
    assert post(made["ingest_url"], slack_challenge(secret=secret)) == 503
    answer = agent.call("set_webhook_secret", webhook_id=made["webhook_id"], signing_secret=secret)
    assert answer.content == {"webhook_id": made["webhook_id"], "has_secret": True}
    assert post(made["ingest_url"], slack_challenge(secret=secret)) == 200


def test_setting_a_secret_is_not_among_the_basic_verbs() -> None:
    agent = make_agent()
    made = agent.get("create_webhook", source_type="slack", target_queue="work")
    refused = agent.call("set_webhook_secret", webhook_id=made["webhook_id"], signing_secret="one")
    assert refused.code == "forbidden"


class TestRoutes:
    """Further delivery targets."""

    @pytest.fixture
    def webhook_id(self, agent: Agent) -> str:
        return str(agent.get("create_webhook", source_type="github", target_queue="work")["webhook_id"])

    def test_an_endpoint_of_the_same_owner_is_live_at_once(self, agent: Agent, webhook_id: str) -> None:
        colleague = make_endpoint(Human.objects.get(), name="colleague").endpoint
        route = agent.get("add_webhook_route", webhook_id=webhook_id, endpoint_id=str(colleague.pk))
        assert route["state"] == "live"
        assert agent.get("list_webhook_routes", webhook_id=webhook_id)["routes"] == [route]
        assert agent.get("add_webhook_route", webhook_id=webhook_id, endpoint_id=str(colleague.pk)) == route

    def test_another_owners_endpoint_waits_for_approval(self, agent: Agent, webhook_id: str) -> None:
        foreign = make_endpoint(make_human("stranger"), name="foreign").endpoint
        route = agent.get("add_webhook_route", webhook_id=webhook_id, endpoint_id=str(foreign.pk))
        assert (route["state"], route["granted_at"]) == ("waiting", None)
        grant = agent.get("list_webhook_rules", webhook_id=webhook_id)["grant"]
        assert [target["slug"] for target in grant["endpoints"]] == [agent.vended.endpoint.slug]

    def test_a_removed_route_is_gone_and_removing_it_again_is_fine(self, agent: Agent, webhook_id: str) -> None:
        colleague = str(make_endpoint(Human.objects.get(), name="colleague").endpoint.pk)
        agent.get("add_webhook_route", webhook_id=webhook_id, endpoint_id=colleague)
        for _ in range(2):
            removed = agent.get("remove_webhook_route", webhook_id=webhook_id, endpoint_id=colleague)
            assert removed == {"webhook_id": webhook_id, "endpoint_id": colleague, "removed": True}
        assert agent.get("list_webhook_routes", webhook_id=webhook_id)["routes"] == []

    def test_the_webhooks_own_endpoint_is_no_route(self, agent: Agent, webhook_id: str) -> None:
        own = str(agent.vended.endpoint.pk)
        assert agent.call("add_webhook_route", webhook_id=webhook_id, endpoint_id=own).code == "invalid_argument"


class TestHistory:
    """What arrived."""

    def test_events_are_listed_with_their_trace_and_without_payload(self, agent: Agent) -> None:
        trace = {"stage": "rule", "rule_id": "noise", "action": {"drop": True}}
        make_event(agent.vended.endpoint, disposition="dropped", routing_trace=trace, payload={"a": 1})
        [row] = agent.get("list_webhook_events", disposition="dropped")["events"]
        assert row["routing"] == trace
        assert "payload" not in row

    def test_events_are_listed_twenty_at_a_time(self, agent: Agent) -> None:
        made = [str(make_event(agent.vended.endpoint).pk) for _ in range(23)]
        first = agent.get("list_webhook_events")
        second = agent.get("list_webhook_events", cursor=first["next_cursor"])
        assert [row["event_id"] for row in first["events"] + second["events"]] == made[::-1]

    @pytest.mark.parametrize(
        "filters",
        [{"source": "gitea"}, {"kind": "push"}, {"disposition": "repeat"}, {"since": "2999-01-01T00:00:00Z"}],
    )
    def test_each_filter_narrows(self, agent: Agent, filters: dict[str, str]) -> None:
        make_event(agent.vended.endpoint)
        assert agent.get("list_webhook_events", **filters)["events"] == []

    def test_one_event_shows_headers_payload_and_todos(self, agent: Agent) -> None:
        made = agent.get("create_webhook", source_type="github", target_queue="work")
        post(made["ingest_url"], signed("github", b'{"n": 1}', secret=made["signing_secret"]))
        [row] = agent.get("list_webhook_events", webhook_id=made["webhook_id"])["events"]
        event = agent.get("get_webhook_event", event_id=row["event_id"])
        assert event["payload"] == {"n": 1}
        assert event["headers"]
        assert [todo["queue"] for todo in event["todos"]] == ["work"]
