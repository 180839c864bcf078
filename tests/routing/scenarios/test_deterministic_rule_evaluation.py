"""SPEC-0020, Deterministic Rule Evaluation."""

from switchboard.accounts.models import Human
from tests.deliveries import github_issue
from tests.routing.scenarios.stage import open_door, rule, save, send, trace_of


def test_first_match_wins(owner: Human) -> None:
    door = open_door(owner, queues=["inbox", "first", "second"])
    save(
        door,
        rule("first", ".issue.number == 17", queue="first"),
        rule("second", 'error("evaluated")', queue="second"),
    )
    assert send(door, github_issue(number=17))["queue"] == "first"
    assert trace_of(door) == {"stage": "rule", "rule_index": 0, "rule_id": "first", "action": {"queue": "first"}}


def test_deterministic_replay(owner: Human) -> None:
    door = open_door(owner, queues=["inbox", "bugs"])
    save(door, rule("bugs", '.issue.labels | index("bug")', queue="bugs"))
    delivery = github_issue(labels=["bug"], delivery_id="one")
    first, again = send(door, delivery), send(door, delivery)
    assert (again["id"], again["queue"], again["created"]) == (first["id"], first["queue"], 0)
    afresh = send(door, github_issue(labels=["bug"], delivery_id="another"))
    assert (afresh["queue"], afresh["created"]) == ("bugs", 1)
    traces = [event.routing_trace for event in door.events]
    assert len(traces) == 2
    assert traces[0] == traces[1]


def test_a_runaway_rule_does_not_block_the_rules_after_it(owner: Human) -> None:
    door = open_door(owner, queues=["inbox", "later"])
    save(door, rule("runaway", "def f: f; f", drop=True), rule("later", "true", queue="later"))
    assert send(door, github_issue())["queue"] == "later"
    trace = trace_of(door)
    assert (trace["stage"], trace["rule_id"]) == ("rule", "later")
    assert trace["faults"] == [{"rule_index": 0, "rule_id": "runaway", "cause": "timeout"}]
