"""Rules are read, replaced, added, changed, moved, removed and tried out over the API."""

from typing import Any

import pytest

from routing.webhooks import create_webhook
from tests.api.caller import Caller
from tests.api.surface import RULE
from tests.factories import make_endpoint, make_event

DROP = {"id": "noise", "name": None, "expr": '.kind == "star"', "action": {"drop": True}}


@pytest.fixture
def path(owner: Caller) -> str:
    endpoint = make_endpoint(owner.human, queues=["work", "later"]).endpoint
    webhook = create_webhook(endpoint=endpoint, source_type="github", target_queue="work").webhook
    return f"/webhooks/{webhook.pk}/rules"


def ids(answer: dict[str, Any]) -> list[str]:
    return [rule["id"] for rule in answer["rules"]]


def without_health(rules: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{key: value for key, value in rule.items() if key != "health"} for rule in rules]


def test_a_get_body_is_a_valid_put_body(owner: Caller, path: str) -> None:
    config = {"rules": [RULE, DROP], "default_action": {"queue": "later"}, "params": {"bots": ["a"]}}
    owner.call("PUT", path, config)
    read = owner.get(path)
    written = owner.call("PUT", path, read)
    assert (written.status_code, written.json()) == (200, read)
    assert without_health(read["rules"]) == config["rules"]
    assert read | {"rules": read["rules"]} | {key: config[key] for key in ("default_action", "params")} == read


def test_a_rules_health_is_ignored_in_a_put_body(owner: Caller, path: str) -> None:
    body = {"rules": [{**RULE, "health": {"matches": 3}}]}
    [saved] = owner.call("PUT", path, body).json()["rules"]
    assert without_health([saved]) == [RULE]
    assert saved["health"]["matches"] == 0


def test_an_unconfigured_webhook_round_trips_too(owner: Caller, path: str) -> None:
    read = owner.get(path)
    assert owner.call("PUT", path, read).json() == read


def test_replacing_without_params_clears_them(owner: Caller, path: str) -> None:
    owner.call("PUT", path, {"rules": [], "params": {"a": 1}})
    assert owner.call("PUT", path, {"rules": []}).json()["params"] == {}


def test_a_field_that_no_result_has_is_refused_in_a_put_body(owner: Caller, path: str) -> None:
    response = owner.call("PUT", path, {"rules": [], "rule": []})
    assert (response.status_code, response.json()["field"]) == (400, "rule")


def test_rules_are_added_moved_changed_and_removed(owner: Caller, path: str) -> None:
    owner.call("POST", path, RULE)
    added = owner.call("POST", path, {"expr": "false", "action": {"drop": True}, "position": 0}).json()
    minted = added["rules"][0]["id"]
    assert ids(added) == [minted, "r1"]
    assert ids(owner.call("POST", f"{path}/r1/move", {"position": 0}).json()) == ["r1", minted]
    changed = owner.call("PATCH", f"{path}/r1", {"expr": ".verified"}).json()
    assert without_health(changed["rules"][:1]) == [{**RULE, "expr": ".verified"}]
    assert ids(owner.call("DELETE", f"{path}/{minted}").json()) == ["r1"]


def test_a_rule_with_the_id_test_is_changed_and_removed_like_any_other(owner: Caller, path: str) -> None:
    owner.call("POST", path, {**RULE, "id": "test"})
    assert owner.call("PATCH", f"{path}/test", {"name": "new"}).json()["rules"][0]["name"] == "new"
    assert owner.call("DELETE", f"{path}/test").json()["rules"] == []


def test_an_unknown_rule_is_named_as_such_but_its_removal_succeeds(owner: Caller, path: str) -> None:
    for response in (
        owner.call("PATCH", f"{path}/none", {"name": "x"}),
        owner.call("POST", f"{path}/none/move", {"position": 0}),
    ):
        assert (response.status_code, response.json()["code"]) == (404, "rule_not_found")
    assert owner.call("DELETE", f"{path}/none").status_code == 200


@pytest.mark.parametrize(
    ("rule", "status", "code"),
    [
        ({**RULE, "expr": "this is not jq ("}, 400, "invalid_expression"),
        ({**RULE, "expr": "env"}, 400, "forbidden_function"),
        ({**RULE, "action": {"drop": True, "once": True}}, 400, "invalid_rule"),
        ({**RULE, "action": {"queue": "elsewhere"}}, 403, "forbidden"),
    ],
)
def test_a_refused_rule_is_named_and_the_former_list_stays(
    owner: Caller, path: str, rule: dict[str, Any], status: int, code: str
) -> None:
    before = owner.call("PUT", path, {"rules": [DROP]}).json()
    response = owner.call("PUT", path, {"rules": [DROP, rule]})
    assert (response.status_code, response.json()["code"]) == (status, code)
    assert response.json()["rule"] == {"index": 1, "id": "r1", "name": "all"}
    assert owner.get(path) == before


def test_too_many_rules_and_bad_params_have_their_codes(owner: Caller, path: str) -> None:
    many = [{**RULE, "id": f"r{number}"} for number in range(33)]
    assert owner.call("PUT", path, {"rules": many}).json()["code"] == "too_many_rules"
    assert owner.call("PUT", path, {"rules": [], "params": []}).json()["code"] == "invalid_params"


@pytest.mark.parametrize(
    ("method", "suffix", "body"),
    [
        ("PUT", "", {"rules": []}),
        ("POST", "", {**RULE, "id": "new"}),
        ("PATCH", "/r1", {"name": "x"}),
        ("POST", "/r1/move", {"position": 0}),
        ("DELETE", "/r1", {}),
    ],
)
def test_a_stale_version_is_a_conflict(
    owner: Caller, path: str, method: str, suffix: str, body: dict[str, Any]
) -> None:
    version = owner.call("POST", path, RULE).json()["version"]
    stale = owner.call(method, f"{path}{suffix}", {**body, "version": version - 1})
    assert (stale.status_code, stale.json()["code"]) == (409, "conflict")
    assert owner.call(method, f"{path}{suffix}", {**body, "version": version}).status_code == 200


def test_candidate_rules_are_tried_and_not_saved(owner: Caller, path: str) -> None:
    body = {"payload": {"a": 1}, "headers": {"X-GitHub-Event": "star"}, "rules": [DROP]}
    answer = owner.call("POST", f"{path}/test", body).json()
    assert answer["decision"]["drop"] is True
    assert answer["trace"]["rule_id"] == "noise"
    assert answer["envelope"]["kind"] == "star"
    assert owner.get(path)["rules"] == []


def test_a_sample_with_nul_is_tried_like_a_delivery(owner: Caller, path: str) -> None:
    rule = {"expr": r'.payload.title == "a\u0000b"', "action": {"drop": True}}
    body = {"payload": {"title": "a\0b"}, "rules": [rule], "omit_envelope": True}
    assert owner.call("POST", f"{path}/test", body).json()["decision"]["drop"] is True


def test_null_is_a_payload(owner: Caller, path: str) -> None:
    assert owner.call("POST", f"{path}/test", {"payload": None}).json()["envelope"]["payload"] is None


@pytest.mark.parametrize("body", [{}, {"payload": 1, "event_id": "x"}, {"payload": 1, "persist": True}])
def test_a_dry_run_needs_exactly_one_input_and_known_fields(owner: Caller, path: str, body: dict[str, Any]) -> None:
    response = owner.call("POST", f"{path}/test", body)
    assert (response.status_code, response.json()["code"]) == (400, "invalid_argument")


def test_another_webhooks_delivery_is_unreachable(owner: Caller, stranger: Caller, path: str) -> None:
    event = make_event(make_endpoint(stranger.human).endpoint)
    response = owner.call("POST", f"{path}/test", {"event_id": str(event.pk)})
    assert (response.status_code, response.json()["code"]) == (404, "not_found")
