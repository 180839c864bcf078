"""Lists come in pages that neither lose nor repeat a row, and refuse what they do not understand."""

import base64
from urllib.parse import urlencode

import pytest
from django.utils import timezone

from switchboard.todos.models import Todo
from tests.api.caller import Caller
from tests.factories import make_endpoint, make_event, make_todo

LISTS = ["/endpoints", "/tokens", "/webhooks", "/routes", "/events", "/todos"]


def walk(caller: Caller, path: str, plural: str, **query: object) -> list[list[dict[str, object]]]:
    pages: list[list[dict[str, object]]] = []
    cursor = None
    while cursor is not None or not pages:
        given = {**query, **({"cursor": cursor} if cursor else {})}
        answer = caller.get(f"{path}?{urlencode(given)}")
        pages.append(answer[plural])
        cursor = answer["next_cursor"]
    return pages


def test_a_fan_out_of_five_is_paged_by_two_all_five_once(owner: Caller) -> None:
    event = make_event(make_endpoint(owner.human).endpoint)
    endpoints = [make_endpoint(owner.human, name=f"agent {number}").endpoint for number in range(5)]
    moment = timezone.now()
    todos = [make_todo(endpoint, event=event, created_at=moment) for endpoint in endpoints]
    pages = walk(owner, "/todos", "todos", limit=2)
    assert [len(page) for page in pages] == [2, 2, 1]
    assert [row["id"] for page in pages for row in page] == [str(todo.pk) for todo in reversed(todos)]


def test_a_row_that_arrives_between_two_pages_shifts_nothing(owner: Caller) -> None:
    endpoint = make_endpoint(owner.human).endpoint
    known = {str(make_todo(endpoint).pk) for _ in range(4)}
    first = owner.get("/todos?limit=2")
    make_todo(endpoint)
    second = owner.get(f"/todos?limit=2&cursor={first['next_cursor']}")
    assert {row["id"] for row in first["todos"] + second["todos"]} == known


def test_fifty_rows_are_a_page_unless_told_otherwise(owner: Caller) -> None:
    endpoint = make_endpoint(owner.human).endpoint
    event = make_event(endpoint)
    for number in range(51):
        make_todo(endpoint, event=event, idempotency_key=str(number))
    assert [len(page) for page in walk(owner, "/todos", "todos")] == [50, 1]
    assert [len(page) for page in walk(owner, "/todos", "todos", limit=200)] == [51]
    assert Todo.objects.count() == 51


@pytest.mark.parametrize("limit", ["0", "-1", "201", "x", "", "1.5", "1e2", "٣", " 5", "9" * 5000])
@pytest.mark.parametrize("path", LISTS)
def test_a_limit_outside_1_to_200_is_refused(owner: Caller, path: str, limit: str) -> None:
    response = owner.call("GET", f"{path}?{urlencode({'limit': limit})}")
    assert (response.status_code, response.json()["code"], response.json()["field"]) == (
        400,
        "invalid_argument",
        "limit",
    )


@pytest.mark.parametrize(
    "cursor", ["garbage", "%", "AAAA", "=" * 24, "ü", "A" * 21 + "\0", base64.b64encode(b"x" * 17).decode()]
)
@pytest.mark.parametrize("path", LISTS)
def test_a_cursor_that_no_page_gave_is_refused(owner: Caller, path: str, cursor: str) -> None:
    response = owner.call("GET", f"{path}?{urlencode({'cursor': cursor})}")
    assert (response.status_code, response.json()["code"], response.json()["field"]) == (
        400,
        "invalid_argument",
        "cursor",
    )


@pytest.mark.parametrize("path", LISTS)
def test_an_unknown_query_parameter_is_refused_by_name(owner: Caller, path: str) -> None:
    response = owner.call("GET", f"{path}?page=2")
    assert response.status_code == 400
    assert response.json()["field"] == "page"


@pytest.mark.parametrize(
    "query",
    [
        "state=open",
        "source=gitlab",
        "queue=two words",
        "event_id=7",
        "kind=a%00b",
        "state=done&state=done",
        "kind=%ED%A0%80%00",
    ],
)
def test_a_malformed_filter_of_todos_is_refused(owner: Caller, query: str) -> None:
    response = owner.call("GET", f"/todos?{query}")
    assert (response.status_code, response.json()["code"]) == (400, "invalid_argument")


@pytest.mark.parametrize(
    "query", ["since=yesterday", "until=2026-01-01T00:00:00", "disposition=lost", "source=x", "rule_id=a.b"]
)
def test_a_malformed_filter_of_events_is_refused(owner: Caller, query: str) -> None:
    response = owner.call("GET", f"/events?{query}")
    assert (response.status_code, response.json()["code"]) == (400, "invalid_argument")


def test_filters_and_pages_go_together(owner: Caller) -> None:
    endpoint = make_endpoint(owner.human, queues=["work", "rest"]).endpoint
    wanted = [make_todo(endpoint, queue="rest") for _ in range(3)]
    make_todo(endpoint, queue="work")
    pages = walk(owner, "/todos", "todos", limit=2, queue="rest", endpoint=endpoint.slug)
    assert [row["id"] for page in pages for row in page] == [str(todo.pk) for todo in reversed(wanted)]
