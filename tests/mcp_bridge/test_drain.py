"""The drain family as an agent uses it."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from switchboard.todos.models import Todo
from tests.factories import make_endpoint, make_event, make_todo
from tests.mcp_bridge.agents import Agent, make_agent

pytestmark = pytest.mark.django_db


@pytest.fixture
def agent() -> Agent:
    return make_agent(queues=["work", "later"])


def todo_of(agent: Agent, **fields: Any) -> str:
    return str(make_todo(agent.vended.endpoint, **fields).pk)


def test_a_claimed_todo_comes_with_everything_needed_to_work_on_it(agent: Agent) -> None:
    event = make_event(agent.vended.endpoint, payload={"issue": {"number": 7}})
    order = {"version": 1, "lane": "work"}
    todo_id = todo_of(agent, event=event, work_order=order, routing_trace={"stage": "rule", "rule_id": "r1"})
    todo = agent.get("claim", id=todo_id)["todo"]
    assert todo["state"] == "claimed"
    assert todo["attempt"] == 1
    assert todo["payload"] == {"issue": {"number": 7}}
    assert todo["routing"] == {"stage": "rule", "rule_id": "r1"}
    assert todo["work_order"] == order
    assert todo["event_id"] == str(event.pk)


def test_every_todo_explains_itself(agent: Agent) -> None:
    """SPEC-0020, Routing Trace: the trace names the rule that put a todo in its queue."""
    trace = {"stage": "rule", "rule_index": 0, "rule_id": "bugs", "rule_name": "Bugs", "action": {"queue": "work"}}
    assert agent.get("get_todo", id=todo_of(agent, routing_trace=trace))["todo"]["routing"] == trace


def test_claim_next_takes_the_oldest_of_the_named_queue(agent: Agent) -> None:
    todo_of(agent, queue="work")
    wanted = todo_of(agent, queue="later")
    todo_of(agent, queue="later")
    answer = agent.get("claim_next", queue="later", lease_ttl_seconds=60)
    assert answer["empty"] is False
    assert answer["todo"]["id"] == wanted
    assert "lease_token" not in answer


def test_claim_next_says_when_nothing_waits(agent: Agent) -> None:
    assert agent.get("claim_next") == {"empty": True}


def test_a_fenced_claim_answers_to_its_token_only(agent: Agent) -> None:
    todo_id = todo_of(agent)
    token = agent.get("claim", id=todo_id, require_fence=True)["lease_token"]
    for verb in ("heartbeat", "complete", "fail", "release"):
        assert agent.call(verb, id=todo_id).code == "conflict"
        assert agent.call(verb, id=todo_id, lease_token="lt_wrong").code == "conflict"
    assert agent.get("complete", id=todo_id, lease_token=token)["todo"]["state"] == "done"


def test_a_claim_is_extended_finished_failed_or_given_back(agent: Agent) -> None:
    first, second, third = (todo_of(agent) for _ in range(3))
    leased = agent.get("claim", id=first, lease_ttl_seconds=60)["todo"]["lease_expires_at"]
    assert agent.get("heartbeat", id=first, lease_ttl_seconds=600)["todo"]["lease_expires_at"] > leased
    assert agent.get("complete", id=first, result={"ok": True})["todo"]["state"] == "done"
    agent.get("claim", id=second)
    failed = agent.get("fail", id=second, result="no luck")["todo"]
    assert (failed["state"], failed["dead_letter"]) == ("failed", False)
    assert failed["next_retry_at"]
    agent.get("claim", id=third)
    released = agent.get("release", id=third)["todo"]
    assert (released["state"], released["attempt"]) == ("pending", 0)


def test_a_lapsed_lease_can_neither_complete_nor_heartbeat(agent: Agent) -> None:
    todo_id = todo_of(agent)
    agent.get("claim", id=todo_id)
    Todo.objects.update(lease_expires_at=timezone.now() - timedelta(seconds=1))
    for verb in ("heartbeat", "complete", "fail", "release"):
        assert agent.call(verb, id=todo_id).code == "conflict"


def test_a_todo_that_somebody_holds_is_a_conflict(agent: Agent) -> None:
    todo_id = todo_of(agent)
    agent.get("claim", id=todo_id)
    assert agent.call("claim", id=todo_id).code == "conflict"


def test_a_queue_outside_the_scope_is_forbidden(agent: Agent) -> None:
    assert agent.call("claim_next", queue="elsewhere").code == "forbidden"


def test_todos_are_listed_twenty_at_a_time_newest_first(agent: Agent) -> None:
    made = [todo_of(agent) for _ in range(25)]
    first = agent.get("list_todos")
    second = agent.get("list_todos", cursor=first["next_cursor"])
    shown = [row["id"] for row in first["todos"] + second["todos"]]
    assert len(first["todos"]) == 20
    assert shown == made[::-1]
    assert second["next_cursor"] is None


def test_a_page_of_rows_stays_small(agent: Agent) -> None:
    for number in range(30):
        event = make_event(agent.vended.endpoint, title=f"Issue {number} " + "t" * 200, payload={"big": "x" * 10_000})
        todo_of(agent, event=event)
    page = agent.get("list_todos")
    assert len(json.dumps(page)) / 4 < 10_000
    assert "payload" not in page["todos"][0]


def test_a_list_can_be_narrowed_to_a_queue_and_a_state(agent: Agent) -> None:
    todo_of(agent, queue="work")
    wanted = todo_of(agent, queue="later", state="done")
    rows = agent.get("list_todos", queue="later", state="done", limit=200)["todos"]
    assert [row["id"] for row in rows] == [wanted]


def test_what_another_endpoint_of_the_owner_drains_is_not_listed(agent: Agent) -> None:
    human = agent.vended.endpoint.owner_human
    assert human
    make_todo(make_endpoint(human, name="colleague", queues=["work"]).endpoint)
    assert agent.get("list_todos")["todos"] == []
    assert agent.get("claim_next") == {"empty": True}
