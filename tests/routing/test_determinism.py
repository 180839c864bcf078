"""The same envelope and rules give the same route, also while both cores are busy."""

import multiprocessing
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from routing.evaluate import evaluate
from tests.deliveries import github_issue

MISSES = [f'.issue.title | test("(?i)^urgent {number}\\\\b")' for number in range(31)]
DELIVERIES = 500


def burn(seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        sum(range(1000))


@contextmanager
def busy_cores(count: int = 2, seconds: float = 120) -> Iterator[None]:
    context = multiprocessing.get_context("spawn")
    burners = [context.Process(target=burn, args=(seconds,)) for _ in range(count)]
    for burner in burners:
        burner.start()
    try:
        yield
    finally:
        for burner in burners:
            burner.kill()
            burner.join()


def test_five_hundred_deliveries_of_one_list_take_one_route_under_load() -> None:
    envelope = '{"issue":{"title":"Crash on start"},"payload":' + github_issue().body.decode() + "}"
    expressions = [*MISSES, '.issue.title == "Crash on start"']
    with busy_cores():
        found = {
            evaluate(
                owner="determinism",
                tenant="determinism",
                expressions=expressions,
                params_text="{}",
                envelope_text=envelope,
            )
            for _ in range(DELIVERIES)
        }
    assert len(found) == 1
    [evaluation] = found
    assert (evaluation.matched, evaluation.faults) == (31, ())


@pytest.mark.django_db
def test_two_evaluations_of_one_envelope_agree_on_faults_too() -> None:
    expressions = ["error(1)", ".a.b.c", "true"]
    runs = [
        evaluate(owner="faults", tenant="faults", expressions=expressions, params_text="{}", envelope_text='{"a":1}')
        for _ in range(5)
    ]
    assert len(set(runs)) == 1
    assert [fault.cause for fault in runs[0].faults] == ["error", "error"]
