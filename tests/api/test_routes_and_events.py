"""Routes to own endpoints are live at once; event history is filtered and shows one delivery in full."""

import pytest

from routing.webhooks import create_webhook
from tests.api.caller import Caller
from tests.factories import make_endpoint, make_event, make_todo


@pytest.fixture
def webhook(owner: Caller) -> str:
    endpoint = make_endpoint(owner.human).endpoint
    return str(create_webhook(endpoint=endpoint, source_type="github", target_queue="work").webhook.pk)


def test_a_route_to_an_own_endpoint_is_live_at_once_and_added_once(owner: Caller, webhook: str) -> None:
    target = make_endpoint(owner.human, name="target").endpoint
    first = owner.call("PUT", f"/webhooks/{webhook}/routes/{target.pk}")
    assert (first.status_code, first.json()["state"]) == (200, "live")
    assert owner.call("PUT", f"/webhooks/{webhook}/routes/{target.pk}").json() == first.json()
    assert owner.get(f"/webhooks/{webhook}/routes")["routes"] == [first.json()]


def test_a_route_is_removed_from_either_side(owner: Caller, stranger: Caller, webhook: str) -> None:
    target = make_endpoint(stranger.human).endpoint
    path = f"/webhooks/{webhook}/routes/{target.pk}"
    route = owner.call("PUT", path).json()
    assert stranger.call("DELETE", f"/routes/{route['route_id']}").status_code == 204
    assert owner.get(f"/webhooks/{webhook}/routes")["routes"] == []
    owner.call("PUT", path)
    assert owner.call("DELETE", path).status_code == 204
    assert owner.call("DELETE", path).status_code == 204
    assert stranger.get("/routes")["routes"] == []


def test_one_event_shows_headers_payload_and_todos(owner: Caller) -> None:
    endpoint = make_endpoint(owner.human).endpoint
    event = make_event(endpoint, payload={"a": 1}, headers={"x-github-event": "issues"})
    todo = make_todo(endpoint, event=event)
    shown = owner.get(f"/events/{event.pk}")
    assert (shown["headers"], shown["payload"]) == ({"x-github-event": "issues"}, {"a": 1})
    assert [made["id"] for made in shown["todos"]] == [str(todo.pk)]


def test_a_body_that_does_not_parse_is_shown_all_the_same(owner: Caller) -> None:
    event = make_event(make_endpoint(owner.human).endpoint, body=b"\xff not json")
    assert owner.call("GET", f"/events/{event.pk}").status_code == 200


@pytest.mark.parametrize(
    "query",
    ["source=slack", "kind=push", "disposition=dropped", "rule_id=r9", "since=2099-01-01T00:00:00Z", "webhook_id=x"],
)
def test_each_filter_leaves_out_what_differs(owner: Caller, query: str) -> None:
    make_event(make_endpoint(owner.human).endpoint)
    assert len(owner.get("/events")["events"]) == 1
    assert owner.get(f"/events?{query}")["events"] == []
