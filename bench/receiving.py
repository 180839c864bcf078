"""How fast the production layout receives, as ratios to the floor of the same run.

    python -m bench.receiving [--seconds 5] [--rounds 3] [--senders 8]

Starts PostgreSQL, Redis, gunicorn and the Celery worker on this machine, posts 11 kB GitHub deliveries from eight
senders in turn to the floor view, to a webhook without rules, and to one with 32 rules of which the last matches.
"""

import argparse
import hashlib
import hmac
import os
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from statistics import median
from urllib.parse import urlsplit

from bench.cpu import cpu_seconds
from bench.floor import SECRET
from bench.payload import body, rules
from bench.senders import Figures, Load, measure
from tests.services import free_port, postgres, redis

HOST = "127.0.0.1"
CASES = ("floor", "no rules", "32 rules")


def main() -> None:
    """Run the benchmark and print its table."""
    options = _options()
    with ExitStack() as stack:
        port = free_port()
        environment = {
            "DJANGO_SETTINGS_MODULE": "bench.settings",
            "DATABASE_URL": stack.enter_context(postgres()),
            "REDIS_URL": stack.enter_context(redis()),
            "SWITCHBOARD_BASE_URL": f"http://{HOST}:{port}",
        }
        paths = prepare(environment)
        stack.enter_context(_processes(environment, port))
        found = _rounds(paths, port, options)
        faults = _faults()
    _print(found)
    print(f"faults: {faults or 'none'}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Deliveries per second against a floor of the same run.")
    parser.add_argument("--seconds", type=float, default=5, help="how long each case is posted to, a round")
    parser.add_argument("--rounds", type=int, default=3, help="how often all cases take their turn")
    parser.add_argument("--senders", type=int, default=8, help="how many producers post at a time")
    return parser.parse_args()


def prepare(environment: Mapping[str, str]) -> dict[str, str]:
    """Migrate, make the two webhooks, and return each case's path."""
    os.environ.update(environment)
    import django

    django.setup()
    from django.core.management import call_command
    from django.db import connection

    from bench.floor import TABLE

    call_command("migrate", verbosity=0)
    with connection.cursor() as cursor:
        cursor.execute(TABLE)
    paths = {"floor": "/bench/floor", "no rules": _webhook([]), "32 rules": _webhook(rules())}
    connection.close()
    return paths


def _webhook(configured: Sequence[Mapping[str, object]]) -> str:
    from routing.configure import set_rules
    from routing.webhooks import create_webhook, set_signing_secret
    from switchboard.accounts.models import Human
    from switchboard.accounts.reach import Principal
    from switchboard.accounts.vend import vend_endpoint

    human, _ = Human.objects.get_or_create(username="bench")
    principal = Principal.of_human(human)
    endpoint = vend_endpoint(human=human, name="bench", queues=["inbox", "lane"]).endpoint
    created = create_webhook(endpoint=endpoint, source_type="github", target_queue="inbox")
    webhook_id = str(created.webhook.pk)
    set_signing_secret(principal=principal, webhook_id=webhook_id, signing_secret=SECRET.decode())
    set_rules(principal=principal, webhook_id=webhook_id, rules=configured, params={"trusted": ["octavia"]})
    return urlsplit(created.ingest_url).path


def _faults() -> dict[str, int]:
    """Return how many evaluations faulted, by cause: on a machine that others use too, a slot may be busy."""
    from routing.models import Event

    traces = Event.objects.filter(routing_trace__has_key="faults").values_list("routing_trace", flat=True)
    return dict(Counter(f"{fault['cause']}: {fault.get('detail')}" for trace in traces for fault in trace["faults"]))


@contextmanager
def _processes(environment: Mapping[str, str], port: int) -> Iterator[None]:
    """Run the web and worker processes as the Procfile does."""
    bound = ["--bind", f"{HOST}:{port}", "--workers", "2", "--threads", "4", "-k", "gthread"]
    web = [sys.executable, "-m", "gunicorn", "-c", "python:switchboard.gunicorn_conf", *bound]
    worker = [sys.executable, "-m", "celery", "-A", "switchboard.celery", "worker", "-Q", "evaluate,default"]
    commands = [[*web, "switchboard.wsgi:application"], [*worker, "--concurrency", "2", "--loglevel", "warning"]]
    started = [_start(command, environment) for command in commands]
    try:
        _wait_until_ready(port)
        yield
    finally:
        for process in started:
            process.terminate()
        for process in started:
            process.wait(timeout=30)


def _start(command: Sequence[str], environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command, env={**os.environ, **environment}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def _wait_until_ready(port: int) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(f"http://{HOST}:{port}/readyz", timeout=5):
                return
        except OSError:
            time.sleep(0.2)
    raise SystemExit("The processes did not get ready within a minute.")


def _rounds(paths: Mapping[str, str], port: int, options: argparse.Namespace) -> dict[str, list[Figures]]:
    sent = body()
    digest = hmac.new(SECRET, sent, hashlib.sha256).hexdigest()
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "GitHub-Hookshot/bench",
        "X-GitHub-Event": "issues",
        "X-Hub-Signature-256": f"sha256={digest}",
    }
    loads = {case: Load(HOST, port, path, headers, sent) for case, path in paths.items()}
    for load in loads.values():
        measure(load, seconds=1, senders=options.senders)
    found: dict[str, list[Figures]] = {case: [] for case in CASES}
    for _ in range(options.rounds):
        for case in CASES:
            before = cpu_seconds()
            figures = measure(loads[case], seconds=options.seconds, senders=options.senders)
            found[case].append(replace(figures, cpu=_spent(before, figures.rate * options.seconds)))
    return found


def _spent(before: Mapping[str, float], deliveries: float) -> dict[str, float]:
    """Return the CPU milliseconds a delivery, by program, since `before`."""
    return {name: (total - before.get(name, 0.0)) / deliveries * 1000 for name, total in cpu_seconds().items()}


def _print(found: Mapping[str, Sequence[Figures]]) -> None:
    print(f"{'case':<10}{'per second':>12}{'p50 ms':>10}{'p99 ms':>10}{'of the floor':>14}")
    for case in CASES:
        rate, p50, p99 = (median(getattr(run, name) for run in found[case]) for name in ("rate", "p50", "p99"))
        pairs = zip(found[case], found["floor"], strict=True)
        ratio = median(run.rate / floor.rate for run, floor in pairs)
        print(f"{case:<10}{rate:>12.0f}{p50:>10.1f}{p99:>10.1f}{ratio:>14.2f}")
    for case in CASES:
        programs = sorted({name for run in found[case] for name in run.cpu})
        shares = {name: median(run.cpu.get(name, 0.0) for run in found[case]) for name in programs}
        listed = ", ".join(f"{name} {share:.2f}" for name, share in shares.items() if share >= 0.01)
        print(f"CPU ms a delivery, {case}: {sum(shares.values()):.2f} ({listed})")
    added = median(ruled.p50 - plain.p50 for ruled, plain in zip(found["32 rules"], found["no rules"], strict=True))
    print(f"median added by the 32 rules: {added:.1f} ms")


if __name__ == "__main__":
    main()
