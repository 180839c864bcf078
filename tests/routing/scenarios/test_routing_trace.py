"""SPEC-0020, Routing Trace."""

from switchboard.accounts.models import Human
from switchboard.accounts.reach import Principal
from switchboard.todos.lifecycle import claim_next
from switchboard.todos.reading import find_todo
from switchboard.todos.shapes import full_todo
from tests.deliveries import github_issue
from tests.routing.scenarios.stage import open_door, rule, save, send


def test_every_todo_explains_itself(owner: Human) -> None:
    door = open_door(owner, queues=["inbox", "bugs"])
    named = {**rule("bugs", '.issue.labels | index("bug")', queue="bugs"), "name": "Bugs go to the bug queue"}
    save(door, named)
    by_rule, by_default = send(door, github_issue(labels=["bug"])), send(door, github_issue(number=18))
    inspected = full_todo(find_todo(principal=Principal.of_human(owner), todo_id=by_rule["id"]))
    assert inspected["routing"] == {
        "stage": "rule",
        "rule_index": 0,
        "rule_id": "bugs",
        "rule_name": "Bugs go to the bug queue",
        "action": {"queue": "bugs"},
    }
    claim = claim_next(endpoint=door.endpoint, queue="inbox")
    assert claim is not None
    assert str(claim.todo.pk) == by_default["id"]
    assert full_todo(claim.todo)["routing"] == {
        "stage": "default",
        "cause": "no_match_default",
        "action": {"queue": "inbox"},
    }
