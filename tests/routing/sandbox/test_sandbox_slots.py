"""At most two evaluations at a time on a host, over all its server processes."""

import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from pathlib import Path

import pytest

from routing.sandbox import client
from routing.sandbox.client import Evaluation, Fault, Limits, SandboxUnavailableError, check_compiles
from routing.sandbox.slots import host_slot, runtime_directory
from tests.routing.sandbox.evaluations import causes, evaluate_rules

BUSY = Evaluation(None, (Fault(-1, "sandbox_busy", "no evaluation slot was free in time"),))
HOLDER = textwrap.dedent("""
    import sys, tempfile
    tempfile.tempdir = sys.argv[1]
    from routing.sandbox.slots import host_slot
    with host_slot(count=2, wait_seconds=1), host_slot(count=2, wait_seconds=1):
        print("held", flush=True)
        sys.stdin.read()
""")


def test_a_third_evaluation_of_this_process_waits_for_a_slot_then_routes_by_default() -> None:
    with host_slot(count=2, wait_seconds=1), host_slot(count=2, wait_seconds=1):
        began = time.monotonic()
        assert evaluate_rules("true", slot_wait_seconds=0.3) == BUSY
        assert 0.3 <= time.monotonic() - began < 2
    assert evaluate_rules("true") == Evaluation(0, ())


def test_the_slots_are_shared_with_other_server_processes() -> None:
    holder = _start_holder()
    try:
        assert evaluate_rules("true", slot_wait_seconds=0.2) == BUSY
    finally:
        holder.communicate()
    assert evaluate_rules("true") == Evaluation(0, ())


def test_a_killed_server_process_frees_its_slots() -> None:
    holder = _start_holder()
    holder.kill()
    holder.communicate()
    assert evaluate_rules("true", slot_wait_seconds=0.5) == Evaluation(0, ())


def test_a_waiting_evaluation_goes_on_as_soon_as_a_slot_is_free() -> None:
    with host_slot(count=1, wait_seconds=1):
        waiting: list[Evaluation] = []
        thread = threading.Thread(target=lambda: waiting.append(evaluate_rules("true", slots=1)))
        thread.start()
        thread.join(0.2)
        assert waiting == []
    thread.join()
    assert waiting == [Evaluation(0, ())]


def test_never_more_than_two_evaluations_run_at_a_time() -> None:
    rules = ("reduce range(40000) as $i (0; . + 1) | false",)
    began = time.monotonic()
    threads = [
        threading.Thread(target=evaluate_rules, args=rules, kwargs={"owner": str(number), "slot_wait_seconds": 5})
        for number in range(6)
    ]
    for thread in threads:
        thread.start()
    most = 0
    while any(thread.is_alive() for thread in threads):
        most = max(most, _held_slots())
        assert time.monotonic() - began < 10
    assert most <= 2


def test_a_failed_evaluation_gives_its_slot_back() -> None:
    for _ in range(3):
        evaluate_rules('"x" * 1000000000', slots=1)
    assert evaluate_rules("true", slots=1, slot_wait_seconds=0.1) == Evaluation(0, ())


def test_a_runtime_directory_that_others_may_enter_is_not_used() -> None:
    runtime_directory().chmod(0o755)
    assert causes(evaluate_rules("true")) == [(-1, "sandbox_failure")]


def test_a_runtime_directory_that_is_a_link_is_not_used(tmp_path: Path) -> None:
    directory = runtime_directory()
    directory.rename(tmp_path / "elsewhere")
    directory.symlink_to(tmp_path / "elsewhere")
    assert causes(evaluate_rules("true")) == [(-1, "sandbox_failure")]


def test_a_compile_check_takes_a_slot_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "_CHECK_SLOT_WAIT_SECONDS", 0.1)
    with host_slot(count=1, wait_seconds=1), pytest.raises(SandboxUnavailableError):
        check_compiles(expressions=["true"], limits=Limits(slots=1))


def _start_holder() -> subprocess.Popen[str]:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, tempfile.gettempdir()],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(client.__file__).parents[2],
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    return holder


def _held_slots() -> int:
    locks = Path("/proc/locks").read_text()
    return sum(f":{slot.stat().st_ino} " in locks for slot in runtime_directory().glob("slot-*"))
