"""SPEC-0028's scenarios for human owners, by title: each has a test of its name somewhere in the suite."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

SCENARIOS = [
    "Slack message in a channel",
    "Reply inside an existing thread",
    "Pull request comment on Gitea",
    "Generic webhook carrying a forge payload",
    "Unsafe field",
    "Fan-out",
    "Doorbell for a Slack-born todo",
    "Doorbell without an address",
    "Create without an encryption key",
    "Secret is never read back",
    "Duplicate account key",
    "Another human's connection",
    "Connection verbs are off by default",
    "Granted endpoint stores a connection",
    "Granted endpoint stays in its scope",
    "Cross-owner fan-out",
    "Host mismatch",
    "Allowlist refuses",
    "Reply while holding the claim",
    "Outcome after complete",
    "Window closed",
    "Another endpoint's todo",
    "Verb not granted",
    "Slack returns ok false",
    "Private Gitea not allowlisted",
    "Redirect",
    "Retried tool call",
    "Timeout after write",
    "Drawer shows replies",
    "Looping agent",
    "Provider throttles",
    "Our own comment comes back",
    "A human answers in the thread",
    "A token in the reply",
    "Provider adapter failure is structured",
]


def test_there_are_thirty_five_scenarios() -> None:
    assert len(set(SCENARIOS)) == 35


@pytest.mark.parametrize("title", SCENARIOS)
def test_every_scenario_has_its_test(title: str) -> None:
    words = re.findall(r"[a-z0-9]+", title.lower().replace("'", ""))
    assert f"test_{'_'.join(words)}" in _test_names()


@cache
def _test_names() -> frozenset[str]:
    trees = (ast.parse(path.read_text()) for path in Path(__file__).parent.rglob("test_*.py"))
    return frozenset(node.name for tree in trees for node in tree.body if isinstance(node, ast.FunctionDef))
