"""What a sandbox process can see of the server, of other webhooks and of earlier deliveries: nothing."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path
from typing import Any

import pytest

from routing.sandbox import client
from tests.routing.sandbox.evaluations import causes, children_of, evaluate_rules, eventually, sandbox_pids, zombies

RUNAWAY = "def f: f; f"


def test_the_child_has_an_empty_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgres://secret")
    evaluate_rules("true")
    (pid,) = sandbox_pids()
    assert Path(f"/proc/{pid}/environ").read_bytes() == b""


def test_the_child_inherits_no_descriptor() -> None:
    inheritable, other = os.pipe()
    os.set_inheritable(inheritable, True)
    try:
        evaluate_rules("true")
        (pid,) = sandbox_pids()
        descriptors = {int(path.name): str(path.readlink()) for path in Path(f"/proc/{pid}/fd").iterdir()}
    finally:
        os.close(inheritable)
        os.close(other)
    assert descriptors.keys() == {0, 1, 2}
    assert descriptors[0].startswith("socket:")
    assert descriptors[1] == descriptors[2] == "/dev/null"


def test_the_child_stands_outside_the_servers_session_and_directory() -> None:
    evaluate_rules("true")
    (pid,) = sandbox_pids()
    assert os.getsid(pid) == os.getpgid(pid) == pid
    assert Path(f"/proc/{pid}/cwd").readlink() == Path("/")


def test_the_child_maps_nothing_of_django_nor_of_the_network() -> None:
    evaluate_rules("true")
    (pid,) = sandbox_pids()
    libraries = Path(f"/proc/{pid}/maps").read_text()
    assert "jq." in libraries
    assert not [name for name in ("psycopg", "_ssl", "cryptography", "libpq") if name in libraries]


def test_the_modules_of_the_child_import_the_standard_library_and_jq_only() -> None:
    program = "import sys; sys.path += sys.argv[1:]; import routing.sandbox.child; print(*sys.modules)"
    paths = client.__file__.rsplit("/routing/", 1)[0], *[path for path in sys.path if path.endswith("site-packages")]
    command = [sys.executable, "-I", "-S", "-c", program, *paths]
    loaded = {name.partition(".")[0] for name in subprocess.check_output(command, text=True).split()}
    loaded = {name for name in loaded if not name.startswith("_cython")}
    assert loaded - sys.stdlib_module_names <= {"__main__", "jq", "routing", "cython_runtime"}


def test_the_childs_limits_are_set_before_it_compiles_anything() -> None:
    evaluate_rules("true", memory_mib=100)
    (pid,) = sandbox_pids()
    limits = {line[:26].strip(): line[26:].split()[:2] for line in Path(f"/proc/{pid}/limits").read_text().splitlines()}
    assert limits["Max address space"] == [str(100 * 1024 * 1024)] * 2
    assert limits["Max core file size"] == ["0", "0"]
    assert limits["Max file size"] == ["0", "0"]
    assert limits["Max open files"] == ["16", "16"]


def test_a_blocked_and_ignored_signal_of_the_server_does_not_free_a_rule_of_its_time() -> None:
    former = signal.signal(signal.SIGPROF, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGPROF])
    try:
        assert causes(evaluate_rules(RUNAWAY)) == [(0, "timeout")]
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGPROF])
        signal.signal(signal.SIGPROF, former)


def test_a_delivery_leaves_no_state_for_the_next_one() -> None:
    rule = "[$params, .] | tojson | length"
    rules = (f"({rule}) > 60", "$params.seen", ".seen")
    assert evaluate_rules(*rules, envelope={"seen": "y" * 100}).matched == 0
    assert evaluate_rules(*rules, envelope={}).matched is None


def test_a_rule_list_is_prepared_once_and_serves_many_deliveries() -> None:
    evaluate_rules("true")
    first = sandbox_pids()
    for _ in range(5):
        evaluate_rules("true")
    assert sandbox_pids() == first


def test_two_webhooks_with_the_same_rules_never_share_a_process() -> None:
    evaluate_rules("true", owner="one")
    (first,) = sandbox_pids()
    evaluate_rules("true", owner="two")
    assert len(sandbox_pids()) == 2
    assert first in sandbox_pids()


@pytest.mark.parametrize("change", [{"params_text": '{"a":1}'}, {"memory_mib": 96}, {"rule_cpu_ms": 40}])
def test_a_changed_configuration_gets_a_new_process_and_the_former_one_ends(change: dict[str, Any]) -> None:
    evaluate_rules("true")
    former = sandbox_pids()
    evaluate_rules("true", **change)
    assert len(sandbox_pids()) == 1
    assert sandbox_pids() != former


def test_changed_rules_get_a_new_process_and_the_former_one_ends() -> None:
    evaluate_rules("true")
    former = sandbox_pids()
    assert evaluate_rules("false", "true").matched == 1
    assert len(sandbox_pids()) == 1
    assert sandbox_pids() != former


def test_idle_processes_are_few() -> None:
    for number in range(12):
        evaluate_rules("true", owner=f"webhook {number}")
    assert len(sandbox_pids()) == 8


def test_a_process_that_died_while_it_was_idle_is_replaced() -> None:
    evaluate_rules("true")
    (pid,) = sandbox_pids()
    os.kill(pid, signal.SIGKILL)
    assert evaluate_rules("true").matched == 0
    assert sandbox_pids() not in ([], [pid])


def test_a_process_that_failed_is_not_used_again() -> None:
    rules = ('if .payload == "bad" then "x" as $x | $x * 1000000000 else true end',)
    evaluate_rules(*rules)
    former = sandbox_pids()
    assert causes(evaluate_rules(*rules, envelope={"payload": "bad"})) == [(-1, "sandbox_failure")]
    assert sandbox_pids() == []
    assert evaluate_rules(*rules).matched == 0
    assert sandbox_pids() != former


def test_a_deadline_ends_the_process_and_what_it_forked() -> None:
    endless = {"rule_cpu_ms": 60_000, "event_cpu_ms": 60_000, "deadline_seconds": 0.6}
    thread = threading.Thread(target=evaluate_rules, args=(RUNAWAY,), kwargs=endless)
    thread.start()
    assert eventually(lambda: bool(sandbox_pids() and children_of(sandbox_pids()[0])))
    (fork,) = children_of(sandbox_pids()[0])
    thread.join()
    assert sandbox_pids() == []
    assert eventually(lambda: not _is_sandbox(fork))


def test_failures_leave_no_descriptor_and_no_zombie_behind() -> None:
    evaluate_rules("true")
    client.close_all()
    before = len(os.listdir("/proc/self/fd"))
    for expression in ("true", '"x" * 1000000000', '"x" as $x | $x * 1000000000', ".a |", RUNAWAY):
        evaluate_rules(expression)
    evaluate_rules(RUNAWAY, rule_cpu_ms=60_000, event_cpu_ms=60_000, deadline_seconds=0.3)
    client.close_all()
    assert len(os.listdir("/proc/self/fd")) == before
    assert zombies() == []


def test_threads_evaluate_side_by_side() -> None:
    found: list[int | None] = []

    def work(number: int) -> None:
        for _ in range(5):
            evaluation = evaluate_rules(
                ".nope", f".payload == {number}", envelope={"payload": number}, owner=str(number)
            )
            found.append(evaluation.matched)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [1] * 20


def test_a_forked_server_process_does_not_use_its_parents_sandboxes() -> None:
    # In an interpreter of its own: forking the test process would fork its threads' locks too.
    program = textwrap.dedent("""
        import os
        from tests.routing.sandbox.evaluations import evaluate_rules, sandbox_pids
        evaluate_rules("true")
        parents = sandbox_pids()
        pid = os.fork()
        if pid == 0:
            sound = evaluate_rules("true").matched == 0 and len(sandbox_pids()) == 1
            os._exit(0 if sound else 1)
        _, status = os.waitpid(pid, 0)
        print(status, sandbox_pids() == parents, evaluate_rules("true").matched, sandbox_pids() == parents)
    """)
    output = subprocess.check_output([sys.executable, "-c", program], text=True, cwd=Path(client.__file__).parents[2])
    assert output.split() == ["0", "True", "0", "True"]


def test_a_sandbox_ends_with_the_server_that_started_it() -> None:
    program = textwrap.dedent("""
        import os
        from tests.routing.sandbox.evaluations import evaluate_rules, sandbox_pids
        evaluate_rules("true")
        print(*sandbox_pids(), flush=True)
        os.kill(os.getpid(), 9)
    """)
    command = [sys.executable, "-c", program]
    killed = subprocess.run(command, text=True, cwd=Path(client.__file__).parents[2], capture_output=True, check=False)
    assert eventually(lambda: not _is_sandbox(int(killed.stdout)))


def _is_sandbox(pid: int) -> bool:
    try:
        return b"routing.sandbox.child" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
