"""A copy of the project with a virtual environment and a var/ of its own, to run the commands of bin/ for real."""

import hashlib
import os
import shutil
import site
import socket
import sys
import venv
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
LEFT_OUT = shutil.ignore_patterns(".*", "var", "__pycache__", "node_modules", "*.sqlite3")


def make_copy(folder: Path) -> Path:
    """Return a copy of the project below `folder`, with everything installed that bin/setup.sh would install.

    Its environment borrows the packages of the running interpreter, so that nothing is downloaded.
    """
    copy = folder / "switchboard copy"  # with a space: a path may have one
    shutil.copytree(PROJECT, copy, ignore=LEFT_OUT)
    environment = copy / ".venv"
    venv.create(environment, with_pip=True, symlinks=True)
    packages = environment / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
    (packages / "borrowed.pth").write_text("\n".join(site.getsitepackages()) + "\n")
    locked = hashlib.sha256((copy / "requirements.txt").read_bytes()).hexdigest()
    (environment / ".installed-requirements.txt").write_text(f"{locked}\n")
    return copy


def bare_environment(**more: str) -> dict[str, str]:
    """Return the environment of a shell in which nobody set anything of ours, and `more`."""
    kept = ("PATH", "HOME", "LANG", "TMPDIR")
    return {name: os.environ[name] for name in kept if name in os.environ} | more


def free_port() -> int:
    """Return a port of 127.0.0.1 that nobody uses right now."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])
