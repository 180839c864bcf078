"""How fast rules are evaluated, against a naive sandbox: a fresh child a delivery that compiles each rule.

python -m bench.sandbox [--deliveries 200]
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

import jq

from bench.payload import body, rules
from routing.sandbox import client
from routing.sandbox.client import Limits

PARAMS = '{"trusted":["octavia"]}'
NAIVE = """
import json, sys
sys.path.append(sys.argv[1])
import jq
call = json.load(sys.stdin)
for index, expression in enumerate(call["expressions"]):
    program = jq.compile(expression, args={"params": json.loads(call["params"])})
    if next(iter(program.input_text(call["envelope"])), None) not in (None, False):
        print(index)
        break
"""


def main() -> None:
    """Run both sandboxes over the same deliveries and print rates and the ratio."""
    parser = argparse.ArgumentParser(description="Evaluations per second, prepared against naive.")
    parser.add_argument("--deliveries", type=int, default=200)
    count = parser.parse_args().deliveries
    issue = {"author": "octavia", "title": "Crash on start", "labels": [f"label-{number}" for number in range(20)]}
    envelope = json.dumps({"kind": "issues", "issue": issue, "payload": json.loads(body())})
    for expressions in (_expressions()[-1:], _expressions()):
        prepared = _median(lambda: _prepared(expressions, envelope), count)  # noqa: B023 - called before the next turn
        naive = _median(lambda: _naive(expressions, envelope), max(10, count // 10))  # noqa: B023
        print(
            f"{len(expressions):>2} rules: prepared {prepared * 1000:.2f} ms ({1 / prepared:.0f}/s), "
            f"naive {naive * 1000:.1f} ms ({1 / naive:.0f}/s), {naive / prepared:.1f} times as fast"
        )
    client.close_all()


def _expressions() -> list[str]:
    return [str(rule["expr"]) for rule in rules()]


def _median(evaluate: Callable[[], int | None], count: int) -> float:
    times = []
    for _ in range(count):
        started = time.perf_counter()
        if evaluate() is None:
            raise SystemExit("The last rule should have matched.")
        times.append(time.perf_counter() - started)
    return median(times)


def _prepared(expressions: Sequence[str], envelope: str) -> int | None:
    evaluation = client.evaluate(
        owner="bench", expressions=expressions, params_text=PARAMS, envelope_text=envelope, limits=Limits()
    )
    return evaluation.matched


def _naive(expressions: Sequence[str], envelope: str) -> int | None:
    call = json.dumps({"expressions": list(expressions), "params": PARAMS, "envelope": envelope})
    command = [sys.executable, "-I", "-S", "-c", NAIVE, str(Path(jq.__file__).parent)]
    printed = subprocess.run(command, input=call, capture_output=True, text=True, check=True).stdout.strip()
    return int(printed) if printed else None


if __name__ == "__main__":
    main()
