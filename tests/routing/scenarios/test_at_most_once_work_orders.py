"""SPEC-0020, At-Most-Once Work Orders."""

from switchboard.accounts.models import Endpoint, Human
from tests.deliveries import github_issue
from tests.routing.conftest import Line
from tests.routing.scenarios.stage import LANE, add_worker, open_door, rule, save, send, todos_of, trace_of


def test_a_relabel_does_not_re_run_the_work(owner: Human) -> None:
    door, workers = _lanes(owner)
    assert send(door, github_issue(action="labeled", labels=["size/M"], label="size/M"))["created"] == 1
    answer = send(door, github_issue(action="labeled", labels=["size/M", "bug"], label="bug"))
    assert answer == {"todos": [], "created": 0, "repeat": True, "verified": True, "trust_mode": "signed"}
    (todo,) = todos_of(workers["m"])
    trace = trace_of(door)
    assert (trace["rule_id"], trace["once"]) == ("m", "repeat")
    assert trace["once_key"] == todo["routing"]["once_key"]
    assert "once" not in todo["routing"]


def test_a_re_size_routes_again(owner: Human) -> None:
    door, workers = _lanes(owner)
    send(door, github_issue(action="labeled", labels=["size/M"], label="size/M"))
    answer = send(door, github_issue(action="labeled", labels=["size/L"], label="size/L"))
    assert (answer["created"], answer["queue"]) == (1, "lane-l")
    assert [todo["queue"] for todo in todos_of(workers["l"])] == ["lane-l"]
    assert len(todos_of(workers["m"])) == 1
    assert "once" not in trace_of(door)


def _lanes(owner: Human) -> tuple[Line, dict[str, Endpoint]]:
    """Return a door whose rules send each size to the lane of a worker of its own."""
    door = open_door(owner, webhook_queues=["inbox", "lane-m", "lane-l"])
    workers = {size: add_worker(door, f"lane-{size}", name=size) for size in ("m", "l")}
    save(
        door,
        rule("l", '.issue.labels | index("size/L")', queue="lane-l", **LANE),
        rule("m", '.issue.labels | index("size/M")', queue="lane-m", **LANE),
    )
    return door, workers
