"""How long a prepared process is kept for the next delivery of its webhook."""

import json
import time
from collections.abc import Iterator

import pytest

from routing.sandbox.pool import Key, Pool
from routing.sandbox.process import SandboxProcess
from tests.routing.sandbox.evaluations import eventually, sandbox_pids

REQUEST = {
    "task": "evaluate",
    "expressions": ["true"],
    "params_text": "{}",
    "memory_mib": 128,
    "rule_cpu_ms": 50,
    "event_cpu_ms": 250,
}
KEY = Key("webhook", "rules")


@pytest.fixture
def pool() -> Iterator[Pool]:
    pool = Pool(capacity=2, idle_seconds=0.2)
    yield pool
    pool.close_all()


def prepared() -> SandboxProcess:
    process = SandboxProcess(json.dumps(REQUEST).encode())
    process.ask(b"{}", deadline=time.monotonic() + 5)
    return process


def test_an_idle_process_expires_by_itself(pool: Pool) -> None:
    pool.give_back(KEY, prepared())
    assert len(sandbox_pids()) == 1
    assert eventually(lambda: sandbox_pids() == [])
    assert pool.take(KEY) is None


def test_a_process_given_back_during_anothers_wait_expires_in_its_turn(pool: Pool) -> None:
    pool.give_back(KEY, prepared())
    time.sleep(0.1)
    pool.give_back(Key("other", "rules"), prepared())
    assert eventually(lambda: sandbox_pids() == [])


def test_a_taken_process_does_not_expire(pool: Pool) -> None:
    pool.give_back(KEY, prepared())
    process = pool.take(KEY)
    assert process is not None
    time.sleep(0.4)
    assert json.loads(process.ask(b"{}", deadline=time.monotonic() + 5)) == [0, []]
    process.close()


def test_the_longest_idle_process_makes_room(pool: Pool) -> None:
    processes = [prepared() for _ in range(3)]
    for number, process in enumerate(processes):
        pool.give_back(Key(str(number), "rules"), process)
    assert sandbox_pids() == sorted(process.pid for process in processes[1:])


def test_two_deliveries_of_one_webhook_at_a_time_keep_two_processes(pool: Pool) -> None:
    first, second = prepared(), prepared()
    pool.give_back(KEY, first)
    pool.give_back(KEY, second)
    assert {pool.take(KEY), pool.take(KEY)} == {first, second}
    assert pool.take(KEY) is None
    first.close()
    second.close()


def test_a_process_of_another_owner_or_of_other_rules_is_never_handed_out(pool: Pool) -> None:
    pool.give_back(KEY, prepared())
    assert pool.take(Key("other", "rules")) is None
    assert len(sandbox_pids()) == 1
    assert pool.take(Key("webhook", "other rules")) is None
    assert sandbox_pids() == []
