"""Who sees which todo: everything out of reach answers exactly like an id that does not exist."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest

from switchboard.accounts.models import Endpoint, Human
from switchboard.accounts.reach import Principal
from switchboard.errors import InvalidArgument, NotFound, SwitchboardError
from switchboard.todos import lifecycle
from switchboard.todos.models import Todo
from switchboard.todos.reading import agent_todos, find_todo, list_todos
from tests.factories import make_endpoint, make_event, make_human, make_todo

AGENT_VERBS = [
    lifecycle.claim,
    lifecycle.heartbeat,
    lifecycle.complete,
    lifecycle.fail,
    lifecycle.release,
]
OPERATOR_VERBS = [
    lifecycle.retry_todo,
    lifecycle.release_todo,
    lifecycle.complete_todo,
    lifecycle.fail_todo,
    find_todo,
]
MALFORMED = ["", "x", "0", "' or 1=1", "a\0b", "\ud800", "{id}\n", "{upper}", "{hex}", 7, None]


@pytest.fixture
def stranger(db: None) -> Human:
    return make_human("stranger")


def refusal(verb: Callable[..., object], **arguments: Any) -> tuple[str, str, int, dict[str, Any]]:
    with pytest.raises(NotFound) as refused:
        verb(**arguments)
    error: SwitchboardError = refused.value
    return error.message, error.code, error.status, error.extra


def spelled(form: Any, todo: Todo) -> Any:
    if not isinstance(form, str):
        return form
    return form.format(id=todo.pk, upper=str(todo.pk).upper(), hex=todo.pk.hex) if "{" in form else form


@pytest.mark.parametrize("verb", AGENT_VERBS, ids=lambda verb: verb.__name__)
def test_what_an_agent_may_not_reach_looks_unknown(
    endpoint: Endpoint, owner: Human, stranger: Human, verb: Callable[..., object]
) -> None:
    out_of_reach = [
        make_todo(make_endpoint(owner, name="sibling").endpoint),
        make_todo(make_endpoint(stranger).endpoint),
        make_todo(endpoint, queue="outside-the-scope"),
    ]
    unknown = refusal(verb, endpoint=endpoint, todo_id=str(uuid4()))
    answers = [refusal(verb, endpoint=endpoint, todo_id=str(todo.pk)) for todo in out_of_reach]
    assert answers == [unknown] * 3
    assert set(Todo.objects.values_list("state", flat=True)) == {"pending"}


@pytest.mark.parametrize("verb", OPERATOR_VERBS, ids=lambda verb: verb.__name__)
def test_what_an_operator_may_not_reach_looks_unknown(
    endpoint: Endpoint, stranger: Human, verb: Callable[..., object]
) -> None:
    principal = Principal.of_human(stranger)
    todo = make_todo(endpoint)
    unknown = refusal(verb, principal=principal, todo_id=str(uuid4()))
    assert refusal(verb, principal=principal, todo_id=str(todo.pk)) == unknown


@pytest.mark.parametrize("form", MALFORMED)
def test_a_malformed_id_looks_unknown(endpoint: Endpoint, owner: Human, form: Any) -> None:
    todo = make_todo(endpoint)
    unknown = refusal(lifecycle.claim, endpoint=endpoint, todo_id=str(uuid4()))
    assert refusal(lifecycle.claim, endpoint=endpoint, todo_id=spelled(form, todo)) == unknown
    assert refusal(find_todo, principal=Principal.of_human(owner), todo_id=spelled(form, todo)) == unknown


def test_an_owner_reaches_the_todos_of_all_own_endpoints(endpoint: Endpoint, owner: Human, stranger: Human) -> None:
    mine = {make_todo(endpoint), make_todo(endpoint, queue="outside-the-scope")}
    mine.add(make_todo(make_endpoint(owner, name="second").endpoint))
    make_todo(make_endpoint(stranger).endpoint)
    assert set(list_todos(principal=Principal.of_human(owner))) == mine


def test_an_agent_reaches_its_own_todos_in_the_queues_of_its_scope(endpoint: Endpoint, owner: Human) -> None:
    mine = make_todo(endpoint)
    make_todo(endpoint, queue="outside-the-scope")
    make_todo(make_endpoint(owner, name="sibling").endpoint)
    agent = Principal.of_endpoint(endpoint)
    assert list(list_todos(principal=agent)) == list(agent_todos(endpoint)) == [mine]
    assert find_todo(principal=agent, todo_id=str(mine.pk)) == mine


def test_each_filter_narrows_the_list(endpoint: Endpoint, owner: Human) -> None:
    event = make_event(endpoint, source="slack", kind="message")
    wanted = make_todo(endpoint, queue="more-work", event=event, state="done")
    make_todo(endpoint)
    principal = Principal.of_human(owner)
    filters: list[dict[str, str]] = [
        {"queue": "more-work"},
        {"state": "done"},
        {"source": "slack"},
        {"kind": "message"},
        {"event_id": str(event.pk)},
    ]
    assert [list(list_todos(principal=principal, **one)) for one in filters] == [[wanted]] * 5
    assert list(list_todos(principal=principal, **{k: v for one in filters for k, v in one.items()})) == [wanted]


def test_the_list_is_narrowed_by_an_endpoints_id_or_slug(endpoint: Endpoint, owner: Human, stranger: Human) -> None:
    todo = make_todo(endpoint)
    make_todo(make_endpoint(owner, name="second").endpoint)
    principal = Principal.of_human(owner)
    assert list(list_todos(principal=principal, endpoint=endpoint.slug)) == [todo]
    assert list(list_todos(principal=principal, endpoint=str(endpoint.pk))) == [todo]
    with pytest.raises(NotFound):
        list_todos(principal=Principal.of_human(stranger), endpoint=endpoint.slug)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("queue", "a b"),
        ("queue", "w\0rk"),
        ("state", "claimable"),
        ("state", ""),
        ("source", "gitlab"),
        ("kind", "a\0b"),
        ("kind", "\ud800"),
        ("event_id", "x"),
    ],
)
def test_a_malformed_filter_is_refused_by_name(owner: Human, field: str, value: str) -> None:
    with pytest.raises(InvalidArgument) as refused:
        list_todos(principal=Principal.of_human(owner), **{field: value})
    assert refused.value.extra == {"field": field}


def test_an_unknown_value_of_a_filter_matches_nothing(endpoint: Endpoint, owner: Human) -> None:
    make_todo(endpoint)
    principal = Principal.of_human(owner)
    unknown = [{"queue": "nowhere"}, {"kind": "never"}, {"event_id": str(uuid4())}]
    assert not any(list_todos(principal=principal, **one).exists() for one in unknown)
