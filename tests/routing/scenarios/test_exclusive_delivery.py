"""SPEC-0020, Exclusive Delivery."""

from switchboard.accounts.models import Human
from tests.deliveries import github_issue
from tests.routing.scenarios.stage import add_worker, open_door, rule, save, send, todos_of


def test_two_identities_scoped_to_one_lane(owner: Human) -> None:
    door = open_door(owner, webhook_queues=["inbox", "lane-m"])
    first, second = add_worker(door, "lane-m", name="first"), add_worker(door, "lane-m", name="second")
    save(door, rule("lane", "true", queue="lane-m", exclusive=True))
    for number in range(3):
        answer = send(door, github_issue(number=number + 1))
        assert [todo["endpoint_id"] for todo in answer["todos"]] == [str(first.pk)]
    assert (len(todos_of(first)), len(todos_of(second)), len(todos_of(door.endpoint))) == (3, 0, 0)


def test_the_router_is_never_the_executor(owner: Human) -> None:
    door = open_door(owner, queues=["inbox"], webhook_queues=["inbox", "lane-m"])
    worker = add_worker(door, "lane-m")
    save(door, rule("lane", "true", queue="lane-m", exclusive=True))
    send(door, github_issue())
    assert todos_of(door.endpoint) == []
    assert [todo["queue"] for todo in todos_of(worker)] == ["lane-m"]
