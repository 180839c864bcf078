"""Where a delivery's time goes: verify, evaluate and write, in one process on PostgreSQL.

python -m bench.stages [--deliveries 300]
"""

import argparse
import hashlib
import hmac
import time
from collections.abc import Callable
from typing import Any
from uuid import uuid4

from bench.floor import SECRET
from bench.payload import body
from bench.receiving import prepare
from tests.services import postgres

STAGES = {"verify": "_verify", "name": "_arrival", "evaluate": "evaluate_rules", "write": "deliver"}


def main() -> None:
    """Receive deliveries without rules and with 32, and print each stage's share of the time."""
    parser = argparse.ArgumentParser(description="The share of each stage of receiving.")
    parser.add_argument("--deliveries", type=int, default=300)
    count = parser.parse_args().deliveries
    with postgres() as url:
        paths = prepare({"DJANGO_SETTINGS_MODULE": "bench.settings", "DATABASE_URL": url})
        spent = _watch()
        for case in ("no rules", "32 rules"):
            total = _receive(paths[case].rsplit("/", 1)[1], count, spent)
            shares = ", ".join(f"{name} {spent[name] / total:.0%}" for name in STAGES)
            print(f"{case}: {total / count * 1000:.2f} ms a delivery ({shares})")
        from routing.sandbox import client

        client.close_all()


def _watch() -> dict[str, float]:
    """Add up the time that each stage's function takes."""
    from routing import receive

    spent = dict.fromkeys(STAGES, 0.0)
    for name, function in STAGES.items():
        setattr(receive, function, _timed(getattr(receive, function), spent, name))
    return spent


def _timed(function: Callable[..., Any], spent: dict[str, float], name: str) -> Callable[..., Any]:
    def timed(*arguments: Any, **options: Any) -> Any:
        started = time.perf_counter()
        try:
            return function(*arguments, **options)
        finally:
            spent[name] += time.perf_counter() - started

    return timed


def _receive(token: str, count: int, spent: dict[str, float]) -> float:
    from routing.receive import receive_delivery

    sent = body()
    signature = "sha256=" + hmac.new(SECRET, sent, hashlib.sha256).hexdigest()
    headers = {"x-github-event": "issues", "x-hub-signature-256": signature, "content-type": "application/json"}
    started = time.perf_counter()
    for number in range(count + 20):
        if number == 20:
            spent.update(dict.fromkeys(STAGES, 0.0))
            started = time.perf_counter()
        named = {**headers, "x-github-delivery": str(uuid4())}
        receive_delivery(token=token, headers=named, body=sent, content_type="application/json")
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
