"""What is out of reach answers exactly like what does not exist."""

import pytest

from switchboard.accounts.models import Endpoint
from tests.api.caller import Caller
from tests.api.surface import ROUTES, Route, furnish
from tests.factories import make_endpoint

WITH_IDS = [route for route in ROUTES if "{" in route.path]
UNKNOWN = "01900000-0000-7000-8000-000000000000"


@pytest.mark.parametrize("named", ["unknown", "malformed", "with NUL"])
@pytest.mark.parametrize("route", WITH_IDS, ids=str)
def test_foreign_ids_answer_byte_for_byte_like_others(
    owner: Caller, stranger: Caller, route: Route, named: str
) -> None:
    foreign = furnish(owner.human)
    text = {"unknown": UNKNOWN, "malformed": "no-such-thing", "with NUL": "a%00b"}[named]
    refused = stranger.call(route.method, route.path.format(**foreign), route.body)
    absent = stranger.call(route.method, route.path.format(**dict.fromkeys(foreign, text)), route.body)
    assert (refused.status_code, refused.content) == (404, absent.content)
    assert refused.headers.keys() == absent.headers.keys()


@pytest.mark.parametrize(
    "listing", ["/endpoints", "/webhooks", "/routes", "/events", "/todos", "/tokens", "/connections"]
)
def test_lists_hold_nothing_of_another_human(owner: Caller, stranger: Caller, listing: str) -> None:
    furnish(owner.human)
    found = stranger.get(listing)
    assert found.pop("next_cursor") is None
    assert len(next(iter(found.values()))) == (1 if listing == "/tokens" else 0)


def test_an_endpoint_is_found_by_its_slug_too(owner: Caller) -> None:
    endpoint = make_endpoint(owner.human).endpoint
    assert owner.get(f"/endpoints/{endpoint.slug}") == owner.get(f"/endpoints/{endpoint.pk}")


def test_a_foreign_slug_is_unknown(owner: Caller, stranger: Caller) -> None:
    endpoint = make_endpoint(owner.human).endpoint
    assert stranger.call("DELETE", f"/endpoints/{endpoint.slug}").status_code == 404
    assert Endpoint.objects.get(pk=endpoint.pk).revoked_at is None


def test_anothers_routes_cannot_be_approved_by_who_asked_for_them(owner: Caller, stranger: Caller) -> None:
    webhook = furnish(owner.human)["webhook"]
    target = make_endpoint(stranger.human).endpoint
    asked = owner.call("PUT", f"/webhooks/{webhook}/routes/{target.pk}").json()
    assert asked["state"] == "waiting"
    assert owner.call("POST", f"/routes/{asked['route_id']}/approve").status_code == 404
    assert stranger.call("POST", f"/routes/{asked['route_id']}/approve").json()["state"] == "live"


def test_both_sides_see_a_route_between_them(owner: Caller, stranger: Caller) -> None:
    webhook = furnish(owner.human)["webhook"]
    target = make_endpoint(stranger.human).endpoint
    route = owner.call("PUT", f"/webhooks/{webhook}/routes/{target.pk}").json()
    assert route in owner.get("/routes")["routes"]
    assert stranger.get("/routes")["routes"] == [route]
