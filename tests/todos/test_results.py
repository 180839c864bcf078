"""What a finished todo may carry as its result."""

from datetime import datetime
from typing import Any

import pytest

from switchboard.accounts.models import Endpoint, Human
from switchboard.accounts.reach import Principal
from switchboard.errors import InvalidArgument
from switchboard.todos.lifecycle import claim, complete, complete_todo, fail
from switchboard.todos.models import Todo
from switchboard.todos.results import MAX_RESULT_BYTES, read_result
from tests.factories import make_todo


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


GOOD = [
    None,
    False,
    0,
    "",
    [],
    {},
    -1.5,
    2**63,
    int("9" * 300),
    "\N{GRINNING FACE} \\u0000 \x01",
    {"a": [1, {"b": None}]},
    nested(64),
    "x" * (MAX_RESULT_BYTES - 2),
]
BAD = [
    "a\0b",
    {"a\0b": 1},
    ["\ud800"],
    {"\udfff": 1},
    float("nan"),
    [float("inf")],
    {"a": {"b": -float("inf")}},
    nested(65),
    nested(100_000),
    10**5_000,
    "x" * (MAX_RESULT_BYTES - 1),
    "\N{GRINNING FACE}" * (MAX_RESULT_BYTES // 4),
    {1: "a"},
    b"bytes",
    (1, 2),
]


@pytest.mark.parametrize("value", GOOD, ids=range(len(GOOD)))
def test_any_json_value_is_kept(endpoint: Endpoint, now: datetime, value: object) -> None:
    todo = claim(endpoint=endpoint, todo_id=str(make_todo(endpoint).pk), now=now).todo
    complete(endpoint=endpoint, todo_id=str(todo.pk), result=value, now=now)
    kept = Todo.objects.get(pk=todo.pk).result
    assert kept == value
    assert type(kept) is type(value)


@pytest.mark.parametrize("value", BAD, ids=range(len(BAD)))
def test_anything_else_is_refused_by_name(value: object) -> None:
    with pytest.raises(InvalidArgument) as refused:
        read_result(value)
    assert refused.value.extra == {"field": "result"}


def test_a_refused_result_changes_nothing(endpoint: Endpoint, owner: Human, now: datetime) -> None:
    todo = claim(endpoint=endpoint, todo_id=str(make_todo(endpoint).pk), now=now).todo
    operator = Principal.of_human(owner)
    with pytest.raises(InvalidArgument):
        complete(endpoint=endpoint, todo_id=str(todo.pk), result="a\0b", now=now)
    with pytest.raises(InvalidArgument):
        fail(endpoint=endpoint, todo_id=str(todo.pk), result="a\0b", now=now)
    with pytest.raises(InvalidArgument):
        complete_todo(principal=operator, todo_id=str(todo.pk), result="a\0b", now=now)
    todo.refresh_from_db()
    assert (todo.state, todo.result) == ("claimed", None)
