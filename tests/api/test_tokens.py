"""A human's own API tokens: shown once, never wider than the token that asks, revoked for good."""

from switchboard.accounts.credentials import create_api_token
from tests.api.caller import Caller, make_caller


def test_a_created_token_works_and_is_shown_once(owner: Caller) -> None:
    response = owner.call("POST", "/tokens", {"name": "ci", "scopes": ["read"]})
    created = response.json()
    assert response.status_code == 201
    assert Caller(owner.human, created["token"]).get("/todos")["todos"] == []
    assert created["token"].encode() not in owner.call("GET", "/tokens").content
    assert created["id"] in {token["id"] for token in owner.get("/tokens")["tokens"]}


def test_a_token_cannot_issue_a_wider_one(owner: Caller) -> None:
    writer = make_caller("owner", human=owner.human, scopes=("write",))
    assert writer.call("POST", "/tokens", {"scopes": ["read"]}).status_code == 403
    assert writer.call("POST", "/tokens", {"scopes": ["write"]}).status_code == 201


def test_unknown_scopes_and_past_ends_are_refused(owner: Caller) -> None:
    bodies: list[dict[str, object]] = [{"scopes": ["admin"]}, {"scopes": []}, {"expires_at": "2020-01-01T00:00:00Z"}]
    for body in bodies:
        assert owner.call("POST", "/tokens", body).json()["code"] == "invalid_argument"


def test_a_revoked_token_is_refused_at_once(owner: Caller) -> None:
    other = create_api_token(human=owner.human)
    assert owner.call("DELETE", f"/tokens/{other.record.pk}").status_code == 204
    assert owner.call("DELETE", f"/tokens/{other.record.pk}").status_code == 204
    assert Caller(owner.human, other.token).call("GET", "/todos").status_code == 401
