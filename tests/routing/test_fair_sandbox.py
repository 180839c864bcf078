"""A tenant's costly rules cost that tenant: the rules of others go on deciding."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from routing.evaluate import evaluate
from routing.sandbox.client import Evaluation

COSTLY = ["def f: f; f"] * 6
SENDERS = 8


def run(tenant: str, *expressions: str, webhook: str = "") -> Evaluation:
    return evaluate(
        owner=webhook or tenant, tenant=tenant, expressions=expressions, params_text="{}", envelope_text='{"a":1}'
    )


@contextmanager
def flood(tenant: str) -> Iterator[None]:
    """Evaluate costly rules of several of the tenant's webhooks from many threads while the block lasts."""
    ending = threading.Event()

    def send(number: int) -> None:
        while not ending.is_set():
            run(tenant, *COSTLY, webhook=f"{tenant}-{number}")

    senders = [threading.Thread(target=send, args=(number,)) for number in range(SENDERS)]
    for sender in senders:
        sender.start()
    try:
        yield
    finally:
        ending.set()
        for sender in senders:
            sender.join()


def test_the_rules_of_others_decide_while_one_tenant_floods_the_sandbox() -> None:
    run("calm", "true")
    with flood("hostile"):
        found = [run("calm", "false", "true") for _ in range(15)]
    assert {evaluation.matched for evaluation in found} == {1}
    assert not any(evaluation.faults for evaluation in found)


def test_a_tenant_that_floods_the_sandbox_is_told_so() -> None:
    with flood("hostile"):
        causes = {fault.cause for fault in run("hostile", "true").faults}
    assert causes <= {"sandbox_busy"}
