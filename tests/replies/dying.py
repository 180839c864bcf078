"""A process that replies and stands still at one step, for a test to kill: `python -m tests.replies.dying STEP …`.

It prints the step when it has come there, and the state of the reply when it was never stopped.
"""

import sys
import time
from collections.abc import Callable
from typing import Any, NoReturn

import django

django.setup()

from replies import dial, submit  # noqa: E402
from switchboard.accounts.models import Endpoint  # noqa: E402

# The function that stands still in each step. In the others, the provider does.
STEPS: dict[str, tuple[Any, str]] = {
    "before the row": (submit, "insert_reply"),
    "after the row": (submit, "dispatch"),
    "after the row was taken": (dial, "_dial"),
    "after the answer": (dial, "end_taken"),
}


def stand_still(step: str) -> Callable[..., NoReturn]:
    """Return a function that says where it is and goes no further."""

    def wait(*_: Any, **__: Any) -> NoReturn:
        print(step, flush=True)  # noqa: T201 - the test reads it
        while True:
            time.sleep(60)

    return wait


def main(step: str, endpoint_id: str, todo_id: str) -> None:
    """Reply to the todo and stand still at the step."""
    if step in STEPS:
        module, name = STEPS[step]
        setattr(module, name, stand_still(step))
    endpoint = Endpoint.objects.get(pk=endpoint_id)
    result = submit.submit_reply(endpoint=endpoint, todo_id=todo_id, text="Done.", idempotency_key="k")
    print(result.reply.state, flush=True)  # noqa: T201 - the test reads it


if __name__ == "__main__":
    main(*sys.argv[1:])
