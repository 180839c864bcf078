"""Who may call the operator API: live tokens only, with the scope that the call needs."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from switchboard.accounts.models import ApiToken
from switchboard.sealing import hash_token
from tests.api.caller import Caller
from tests.api.surface import DRY_RUN, READS, ROUTES, WRITES, Route, furnish
from tests.factories import make_endpoint

ANYWHERE = dict.fromkeys(
    ["endpoint", "other_endpoint", "webhook", "event", "todo", "route", "token", "connection"],
    "00000000-0000-7000-8000-000000000000",
)


def path_of(route: Route) -> str:
    return route.path.format(**ANYWHERE)


@pytest.mark.parametrize("route", ROUTES, ids=str)
def test_every_route_refuses_a_call_without_a_token(db: None, route: Route) -> None:
    response = Client().generic(route.method, f"/api/v1{path_of(route)}")
    assert (response.status_code, response.json()["code"]) == (401, "unauthenticated")
    assert response.headers["WWW-Authenticate"].startswith("Bearer ")


@pytest.mark.parametrize("route", ROUTES, ids=str)
def test_every_route_refuses_an_endpoints_credential(owner: Caller, route: Route) -> None:
    agent = Caller(owner.human, make_endpoint(owner.human).credential)
    response = agent.call(route.method, path_of(route), route.body)
    assert (response.status_code, response.json()["code"]) == (401, "unauthenticated")


@pytest.mark.parametrize("route", WRITES, ids=str)
def test_a_read_only_token_changes_nothing(reader: Caller, route: Route) -> None:
    response = reader.call(route.method, path_of(route), route.body)
    assert (response.status_code, response.json()["code"]) == (403, "forbidden")


@pytest.mark.parametrize("route", READS, ids=str)
def test_a_read_only_token_reads(reader: Caller, route: Route) -> None:
    reader.get(route.path.format(**furnish(reader.human)))


def test_a_read_only_token_may_ask_for_a_dry_run(reader: Caller) -> None:
    path = DRY_RUN.path.format(**furnish(reader.human))
    assert reader.call("POST", path, DRY_RUN.body).status_code == 200


def test_a_write_only_token_does_not_read(owner: Caller) -> None:
    ApiToken.objects.filter(token_hash=hash_token(owner.token)).update(scopes=["write"])
    assert owner.call("GET", "/todos").status_code == 403


@pytest.mark.parametrize(
    "change",
    [
        {"revoked_at": timezone.now()},
        {"expires_at": timezone.now() - timedelta(seconds=1)},
        {"token_hash": "0" * 64},
    ],
    ids=["revoked", "expired", "unknown"],
)
def test_a_dead_token_is_refused_like_no_token(owner: Caller, change: dict[str, object]) -> None:
    ApiToken.objects.filter(token_hash=hash_token(owner.token)).update(**change)
    dead = owner.call("GET", "/todos")
    absent = Client().get("/api/v1/todos")
    assert (dead.status_code, dead.content) == (absent.status_code, absent.content)


def test_the_token_of_an_inactive_human_is_refused(owner: Caller) -> None:
    owner.human.is_active = False
    owner.human.save()
    assert owner.call("GET", "/todos").status_code == 401


@pytest.mark.parametrize("header", ["", "Bearer", "Basic abc", "Bearer \xff\xfe", "Bearer sb_\x00", "bearer sb_ x"])
def test_a_malformed_authorization_header_is_refused(db: None, header: str) -> None:
    assert Client().get("/api/v1/todos", headers={"Authorization": header}).status_code == 401


def test_a_signed_in_session_has_no_authority(owner: Caller) -> None:
    client = Client()
    client.force_login(owner.human)
    assert client.get("/api/v1/todos").status_code == 401
