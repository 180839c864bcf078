"""Every verb is tried from every standing, and does exactly what the table of moves allows."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from switchboard.accounts.models import Endpoint, Human
from switchboard.accounts.reach import Principal
from switchboard.errors import Conflict
from switchboard.todos import lifecycle
from switchboard.todos.models import Todo
from switchboard.todos.standing import Standing, standing_in, standing_of
from tests.factories import make_todo

AN_HOUR = timedelta(hours=1)
AGENT_VERBS = ("claim", "heartbeat", "complete", "fail", "release")
OPERATOR_VERBS = ("retry_todo", "release_todo", "complete_todo", "fail_todo")

# The state a verb leads to, and whether the todo is then dead; a verb that is not named here is refused.
OUTCOMES: dict[Standing, dict[str, tuple[str, bool]]] = {
    Standing.PENDING: {
        "claim": ("claimed", False),
        "complete_todo": ("done", False),
        "fail_todo": ("failed", True),
    },
    Standing.HELD: {
        "heartbeat": ("claimed", False),
        "complete": ("done", False),
        "fail": ("failed", False),
        "release": ("pending", False),
        "release_todo": ("pending", False),
        "complete_todo": ("done", False),
        "fail_todo": ("failed", True),
    },
    Standing.LAPSED: {
        "claim": ("claimed", False),
        "release_todo": ("pending", False),
        "complete_todo": ("done", False),
        "fail_todo": ("failed", True),
    },
    Standing.SPENT: {
        "release_todo": ("pending", False),
        "complete_todo": ("done", False),
        "fail_todo": ("failed", True),
    },
    Standing.WAITING: {"retry_todo": ("pending", False), "complete_todo": ("done", False)},
    Standing.DUE: {
        "claim": ("claimed", False),
        "retry_todo": ("pending", False),
        "complete_todo": ("done", False),
    },
    Standing.DEAD: {"retry_todo": ("pending", False), "complete_todo": ("done", False)},
    Standing.DONE: {},
}
MATRIX = [(standing, verb) for standing in Standing for verb in (*AGENT_VERBS, *OPERATOR_VERBS)]


def make_standing(endpoint: Endpoint, standing: Standing, now: datetime) -> Todo:
    """Return a todo of the endpoint that stands at `standing`; the boundary moment itself counts as over."""
    claimed = {"state": "claimed", "claimed_at": now - AN_HOUR}
    columns: dict[Standing, dict[str, Any]] = {
        Standing.PENDING: {},
        Standing.HELD: {**claimed, "attempt": 2, "lease_expires_at": now + timedelta(microseconds=1)},
        Standing.LAPSED: {**claimed, "attempt": 2, "lease_expires_at": now},
        Standing.SPENT: {**claimed, "attempt": 5, "lease_expires_at": now},
        Standing.WAITING: {"state": "failed", "attempt": 2, "next_retry_at": now + timedelta(microseconds=1)},
        Standing.DUE: {"state": "failed", "attempt": 2, "next_retry_at": now},
        Standing.DEAD: {"state": "failed", "attempt": 5, "dead_letter": True},
        Standing.DONE: {"state": "done", "attempt": 2, "finished_at": now, "result": {"kept": True}},
    }
    return make_todo(endpoint, **columns[standing])


def call(verb: str, endpoint: Endpoint, owner: Human, todo: Todo, now: datetime) -> object:
    use_case: Callable[..., object] = getattr(lifecycle, verb)
    if verb in AGENT_VERBS:
        return use_case(endpoint=endpoint, todo_id=str(todo.pk), now=now)
    return use_case(principal=Principal.of_human(owner), todo_id=str(todo.pk), now=now)


@pytest.mark.parametrize(("standing", "verb"), MATRIX, ids=lambda part: getattr(part, "name", part))
def test_a_verb_moves_a_todo_only_from_where_it_is_allowed(
    endpoint: Endpoint, owner: Human, now: datetime, standing: Standing, verb: str
) -> None:
    todo = make_standing(endpoint, standing, now)
    if verb not in OUTCOMES[standing]:
        with pytest.raises(Conflict):
            call(verb, endpoint, owner, todo, now)
        return
    call(verb, endpoint, owner, todo, now)
    todo.refresh_from_db()
    assert (todo.state, todo.dead_letter) == OUTCOMES[standing][verb]


@pytest.mark.parametrize("verb", [*AGENT_VERBS, *OPERATOR_VERBS])
def test_a_done_todo_stays_exactly_as_it_was(endpoint: Endpoint, owner: Human, now: datetime, verb: str) -> None:
    todo = make_standing(endpoint, Standing.DONE, now)
    before = Todo.objects.filter(pk=todo.pk).values().get()
    with pytest.raises(Conflict):
        call(verb, endpoint, owner, todo, now)
    assert Todo.objects.filter(pk=todo.pk).values().get() == before


@pytest.mark.parametrize("verb", AGENT_VERBS)
@pytest.mark.parametrize("standing", [Standing.WAITING, Standing.DEAD, Standing.DONE], ids=lambda part: part.name)
def test_a_refused_agent_is_told_where_the_todo_stands_and_what_to_do(
    endpoint: Endpoint, owner: Human, now: datetime, standing: Standing, verb: str
) -> None:
    todo = make_standing(endpoint, standing, now)
    with pytest.raises(Conflict) as refused:
        call(verb, endpoint, owner, todo, now)
    assert str(standing) in refused.value.message
    assert "laim" in refused.value.message


@pytest.mark.parametrize("standing", Standing, ids=lambda part: part.name)
def test_the_database_and_the_record_agree_on_one_standing(
    endpoint: Endpoint, now: datetime, standing: Standing
) -> None:
    todo = make_standing(endpoint, standing, now)
    assert standing_of(todo, now) is standing
    assert [one for one in Standing if Todo.objects.filter(standing_in([one], now)).exists()] == [standing]


@pytest.mark.parametrize("standing", Standing, ids=lambda part: part.name)
def test_the_reaper_moves_only_what_is_overdue(endpoint: Endpoint, now: datetime, standing: Standing) -> None:
    todo = make_standing(endpoint, standing, now)
    overdue = {
        Standing.LAPSED: ("pending", False),
        Standing.SPENT: ("failed", True),
        Standing.DUE: ("pending", False),
    }
    expected = overdue.get(standing, (todo.state, todo.dead_letter))
    lifecycle.reap(now=now)
    todo.refresh_from_db()
    assert (todo.state, todo.dead_letter) == expected
