"""Endpoints are vended, shown without their credential, and revoked for good."""

from tests.api.caller import Caller
from tests.factories import make_endpoint

WANTED = {
    "name": "Release bot",
    "queues": ["release"],
    "verbs": ["claim", "complete"],
    "webhook_max": 2,
    "webhook_source_types": ["gitea"],
    "webhook_queues": ["release", "later"],
    "default_lease_seconds": 60,
    "expires_at": "2099-01-01T01:00:00+01:00",
}


def test_a_vended_endpoint_has_what_was_asked_for_and_its_credential_once(owner: Caller) -> None:
    response = owner.call("POST", "/endpoints", WANTED)
    answer = response.json()
    endpoint = answer["endpoint"]
    assert response.status_code == 201
    assert endpoint | {**WANTED, "expires_at": "2099-01-01T00:00:00Z"} == endpoint
    assert answer["credential"].startswith("sbk_")
    assert answer["mcp_url"] == endpoint["mcp_url"]
    assert answer["mcp_json"]["mcpServers"]["switchboard"]["url"] == answer["mcp_url"]
    assert owner.get(f"/endpoints/{endpoint['id']}") == endpoint
    assert answer["credential"].encode() not in owner.call("GET", "/endpoints").content


def test_only_name_and_queues_are_needed(owner: Caller) -> None:
    endpoint = owner.call("POST", "/endpoints", {"name": "a", "queues": ["q"]}).json()["endpoint"]
    assert "claim" in endpoint["verbs"]
    assert "reply" not in endpoint["verbs"]
    assert endpoint["owner"] == {"human": "owner"}


def test_null_is_the_default_of_optional_fields(owner: Caller) -> None:
    body = {"name": "a", "queues": ["q"], "webhook_queues": None, "expires_at": None, "team": None}
    assert owner.call("POST", "/endpoints", body).json()["endpoint"]["webhook_queues"] == ["q"]


def test_a_team_is_unknown(owner: Caller) -> None:
    response = owner.call("POST", "/endpoints", {"name": "a", "queues": ["q"], "team": "core"})
    assert (response.status_code, response.json()["code"]) == (404, "not_found")
    assert owner.get("/endpoints")["endpoints"] == []


def test_a_revoked_endpoint_stays_listed_as_such(owner: Caller) -> None:
    endpoint = make_endpoint(owner.human).endpoint
    assert owner.call("DELETE", f"/endpoints/{endpoint.slug}").status_code == 204
    assert owner.call("DELETE", f"/endpoints/{endpoint.slug}").status_code == 204
    (shown,) = owner.get("/endpoints")["endpoints"]
    assert not shown["live"]
    assert shown["revoked_at"]
