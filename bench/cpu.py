"""CPU time of the processes that serve, from /proc: unlike wall time it hardly depends on who else is busy."""

import os
from collections.abc import Iterator
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds() -> dict[str, float]:
    """Return the CPU seconds spent so far by this process's descendants and their ended children, by program."""
    spent: dict[str, float] = {}
    for pid in _descendants(os.getpid()):
        name, seconds = _program(pid), _seconds(pid)
        spent[name] = spent.get(name, 0.0) + seconds
    return spent


def _descendants(root: int) -> Iterator[int]:
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (fields := _stat(int(entry.name))):
            children.setdefault(int(fields[1]), []).append(int(entry.name))
    waiting = list(children.get(root, []))
    while waiting:
        pid = waiting.pop()
        yield pid
        waiting.extend(children.get(pid, []))


def _stat(pid: int) -> list[str]:
    """Return the fields of /proc/<pid>/stat behind the program's name; none when the process has ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _seconds(pid: int) -> float:
    fields = _stat(pid)
    return sum(map(int, fields[11:15])) / TICKS if fields else 0.0


def _program(pid: int) -> str:
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
    except OSError:
        return "ended"
    for word, name in (("gunicorn", "web"), ("celery", "worker"), ("postgres", "database"), ("valkey", "redis")):
        if word in command:
            return name
    return "sandbox" if "sys.path" in command else "other"
