"""Who manages whose connections: a human their own, and nobody else's (SPEC-0028 REQ-4)."""

import json

import pytest

from connections.models import Connection
from tests.api.caller import NOTHING, Caller
from tests.factories import make_connection

pytestmark = pytest.mark.django_db
UNKNOWN = "0192f0c1-8a3e-7c11-9d52-3f6e1b7a4c20"
ROUTES = [
    ("GET", "", NOTHING),
    ("PATCH", "", {"name": "mine"}),
    ("DELETE", "", NOTHING),
    ("PUT", "/secret", {"secret": "stolen"}),
    ("POST", "/test", NOTHING),
]


@pytest.mark.parametrize(("method", "path", "body"), ROUTES)
def test_another_humans_connection(owner: Caller, stranger: Caller, method: str, path: str, body: object) -> None:
    make_connection(owner.human)
    before = Connection.objects.values().get()
    answers = [
        stranger.call(method, f"/connections/{identifier}{path}", body)
        for identifier in (before["id"], UNKNOWN, "no-such-thing", "a%00b")
    ]
    assert {(answer.status_code, answer.content) for answer in answers} == {(404, answers[1].content)}
    assert Connection.objects.values().get() == before


def test_a_list_holds_the_callers_own(owner: Caller, stranger: Caller) -> None:
    mine = make_connection(owner.human)
    make_connection(stranger.human)
    assert [row["id"] for row in owner.get("/connections")["connections"]] == [str(mine.pk)]


@pytest.mark.parametrize(
    ("method", "path"), [("POST", ""), ("PATCH", "/{id}"), ("PUT", "/{id}/secret"), ("POST", "/{id}/test")]
)
def test_a_body_of_more_than_16_kib_is_refused(owner: Caller, method: str, path: str) -> None:
    connection = make_connection(owner.human)
    at = f"/connections{path.format(id=connection.pk)}"
    full = json.dumps({"name": "a" * 20_000}).encode()
    assert owner.send(method, at, full[: 16 * 1024]).status_code == 400
    too_large = owner.send(method, at, full[: 16 * 1024 + 1])
    assert (too_large.status_code, too_large.json()["code"]) == (413, "too_large")
