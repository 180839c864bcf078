"""Agents manage their owner's connections only where the owner granted it, and in that scope (SPEC-0028 REQ-4)."""

import pytest
from pytest_django import Settings

from connections.models import Connection
from switchboard.accounts.models import Human
from switchboard.sealing import fingerprint
from tests.api.caller import Caller
from tests.factories import make_connection, make_endpoint, make_human
from tests.mcp_bridge.agents import Agent, make_agent

pytestmark = pytest.mark.django_db
VERBS = ["list_connections", "create_connection", "rotate_connection", "delete_connection"]
SECRET = "xoxb-a-token-that-nobody-may-see"
SLACK = {"kind": "slack", "name": "acme", "account_key": "T0123ABCD", "secret": SECRET}
UNKNOWN = "0192f0c1-8a3e-7c11-9d52-3f6e1b7a4c20"


@pytest.fixture
def olga() -> Human:
    return make_human("olga")


@pytest.fixture
def agent(olga: Human) -> Agent:
    return make_agent(olga, verbs=VERBS)


def listed_tools(agent: Agent) -> set[str]:
    return {tool["name"] for tool in agent.request("tools/list")["result"]["tools"]}


def test_connection_verbs_are_off_by_default(owner: Caller) -> None:
    vended = owner.call("POST", "/endpoints", {"name": "api", "queues": ["work"], "verbs": "basics"}).json()
    assert not set(vended["endpoint"]["verbs"]) & set(VERBS)
    assert not listed_tools(Agent(make_endpoint(owner.human, verbs="basics"))) & set(VERBS)


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_that_was_not_granted_is_forbidden(olga: Human, verb: str) -> None:
    assert make_agent(olga, verbs="basics").call(verb).code == "forbidden"


def test_granted_endpoint_stores_a_connection(
    olga: Human, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level("DEBUG")
    agent = make_agent(olga, verbs=["create_connection", "list_connections"])
    created = agent.get("create_connection", **SLACK)
    stored = Connection.objects.get()

    assert stored.open_secret().reveal() == SECRET
    assert SECRET not in stored.secret_sealed
    assert (stored.owner_human, stored.owner_team) == (olga, None)
    assert (stored.created_by, stored.acting_human) == (olga, olga)
    assert stored.acting_endpoint == agent.vended.endpoint
    assert agent.get("list_connections")["connections"] == [created]
    assert created["fingerprint"] == fingerprint(SECRET)
    printed = capfd.readouterr()
    assert SECRET not in str(created) + caplog.text + printed.out + printed.err


def test_a_listing_holds_what_the_specification_names_and_nothing_more(olga: Human, agent: Agent) -> None:
    make_connection(olga, signature_line="Sent by agents")
    [row] = agent.get("list_connections")["connections"]
    assert set(row) == {"id", "kind", "name", "account_key", "targets", "endpoints", "fingerprint"}


def test_granted_endpoint_stays_in_its_scope(agent: Agent) -> None:
    foreign = make_connection(make_human("bert"))
    answers = [
        agent.call("rotate_connection", connection_id=identifier, secret=SECRET)
        for identifier in (str(foreign.pk), UNKNOWN)
    ]
    assert answers[0] == answers[1]
    assert answers[0].code == "not_found"
    assert Connection.objects.get().secret_sealed == foreign.secret_sealed


def test_a_rotation_records_the_acting_endpoint_and_its_human(olga: Human, agent: Agent) -> None:
    connection = make_connection(olga)
    rotated = agent.get("rotate_connection", connection_id=str(connection.pk), secret=SECRET)
    connection.refresh_from_db()
    assert rotated["fingerprint"] == connection.fingerprint == fingerprint(SECRET)
    assert (connection.acting_endpoint, connection.acting_human) == (agent.vended.endpoint, olga)


def test_a_humans_write_records_no_endpoint(olga: Human) -> None:
    connection = make_connection(olga)
    assert connection.acting_endpoint is None
    assert connection.acting_human == olga


def test_a_deleted_connection_is_gone(olga: Human, agent: Agent) -> None:
    connection = make_connection(olga)
    assert agent.get("delete_connection", connection_id=str(connection.pk))["deleted"] is True
    assert not Connection.objects.exists()


def test_an_agent_cannot_set_a_signature_line(agent: Agent) -> None:
    assert agent.call("create_connection", **SLACK, signature_line="Obey me").code == "invalid_argument"
    assert not Connection.objects.exists()


@pytest.mark.parametrize("verb", ["create_connection", "rotate_connection"])
def test_nothing_is_stored_without_an_encryption_key(olga: Human, agent: Agent, verb: str, settings: Settings) -> None:
    before = make_connection(olga)
    settings.SWITCHBOARD_ENCRYPTION_KEY = None
    arguments = SLACK if verb == "create_connection" else {"connection_id": str(before.pk), "secret": SECRET}
    assert agent.call(verb, **arguments).code == "encryption_required"
    assert Connection.objects.get().secret_sealed == before.secret_sealed


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"secret": 7}, "secret"),
        ({"secret": "a b"}, "secret"),
        ({"secret": "a" * 5000}, "secret"),
        ({"account_key": 7}, "account_key"),
        ({"name": "two\nlines"}, "name"),
        ({"targets": "C0123"}, "targets"),
        ({"targets": ["general"]}, "targets"),
        ({"endpoints": [UNKNOWN]}, "endpoints"),
        ({"kind": "stripe"}, "kind"),
    ],
)
def test_a_malformed_argument_is_refused_by_name(agent: Agent, change: dict[str, object], field: str) -> None:
    refused = agent.call("create_connection", **SLACK | change)
    assert (refused.code, refused.text["error"]["field"]) == ("invalid_argument", field)
    assert SECRET not in str(refused.text)


def test_a_second_connection_for_the_account_conflicts(agent: Agent) -> None:
    agent.get("create_connection", **SLACK)
    assert agent.call("create_connection", **SLACK | {"name": "again"}).code == "conflict"
