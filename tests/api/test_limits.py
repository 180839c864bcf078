"""All routes and tokens of one human share one allowance of calls."""

import pytest

from switchboard.api import views
from tests.api.caller import Caller, make_caller

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _three_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views, "CALLS_PER_MINUTE", 1)
    monkeypatch.setattr(views, "CALLS_AT_ONCE", 3)


def test_the_promised_allowance_is_a_hundred_at_once_and_three_hundred_a_minute(
    owner: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    assert (views.CALLS_AT_ONCE, views.CALLS_PER_MINUTE) == (100, 300)
    statuses = [owner.call("GET", "/tokens").status_code for _ in range(100)]
    assert set(statuses) == {200}


def test_a_human_who_calls_too_often_is_told_when_to_come_back(owner: Caller) -> None:
    for path in ("/todos", "/connections", "/endpoints/unknown"):
        assert owner.call("GET", path).status_code in {200, 404}
    refused = owner.call("POST", "/connections", {})
    assert (refused.status_code, refused.json()["code"]) == (429, "rate_limited")
    assert int(refused.headers["Retry-After"]) == refused.json()["retry_after"] >= 1


def test_another_token_of_the_same_human_brings_no_further_calls(owner: Caller) -> None:
    second = make_caller("owner", human=owner.human)
    for caller in (owner, second, owner):
        assert caller.call("GET", "/todos").status_code == 200
    assert second.call("GET", "/todos").status_code == 429


def test_another_human_is_not_affected(owner: Caller, stranger: Caller) -> None:
    for _ in range(4):
        owner.call("GET", "/todos")
    assert stranger.call("GET", "/todos").status_code == 200


def test_a_call_without_a_token_costs_nobody_anything(owner: Caller) -> None:
    for _ in range(4):
        assert owner.send("GET", "/todos", b"", Authorization="Bearer sb_wrong").status_code == 401
    assert owner.call("GET", "/todos").status_code == 200
