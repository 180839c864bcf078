"""Evaluate a rule list where evaluation runs: in the worker with a broker, else in this host's sandbox."""

from collections.abc import Sequence
from functools import cache

from django.conf import settings

from routing import remote
from routing.sandbox import client
from routing.sandbox.client import Evaluation, Limits
from switchboard.health import NotReady


@cache
def limits() -> Limits:
    """Return the sandbox limits of this instance."""
    return Limits(memory_mib=settings.SWITCHBOARD_SANDBOX_MEMORY_MIB)


def evaluate(
    *, owner: str, tenant: str, expressions: Sequence[str], params_text: str, envelope_text: str
) -> Evaluation:
    """Return which rule matched and what faulted; never raises, whatever the rules and the envelope hold.

    `expressions` are jq texts in order; `params_text` and `envelope_text` are JSON.
    """
    run = evaluate_here if settings.REDIS_URL is None else remote.evaluate_in_worker
    return run(
        owner=owner, tenant=tenant, expressions=expressions, params_text=params_text, envelope_text=envelope_text
    )


def evaluate_here(
    *, owner: str, tenant: str, expressions: Sequence[str], params_text: str, envelope_text: str
) -> Evaluation:
    """Evaluate in a sandbox process of this host, started by this process."""
    return client.evaluate(
        owner=owner,
        tenant=tenant,
        expressions=expressions,
        params_text=params_text,
        envelope_text=envelope_text,
        limits=limits(),
    )


def check_sandbox() -> None:
    """Raise NotReady unless a rule can be evaluated; a sandbox that is busy works."""
    evaluation = evaluate(
        owner="readiness", tenant="readiness", expressions=["true"], params_text="{}", envelope_text="{}"
    )
    causes = {fault.cause for fault in evaluation.faults}
    if evaluation.matched != 0 and (causes != {"sandbox_busy"} or settings.REDIS_URL is not None):
        raise NotReady("the sandbox does not evaluate")
