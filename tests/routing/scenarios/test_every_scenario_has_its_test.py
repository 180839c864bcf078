"""SPEC-0020's deterministic scenarios, by title: each has a test of its name in this folder."""

import ast
import re
from pathlib import Path

import pytest

SCENARIOS = [
    "A forged header does not change a verified cairn kind",
    "First match wins",
    "Deterministic replay",
    "A runaway rule does not block the rules after it",
    "Typo in a rule is rejected, not silently inert",
    "A rule cannot add a delivery target",
    "A revoked route beats a saved rule",
    "Noise is auditable but silent",
    "A dropped delivery stays dropped",
    "Every todo explains itself",
    "Another human's webhook is opaque",
    "Candidate rules are tried, not saved",
    "Another webhook's delivery is unreachable",
    "An allowlist lives beside the rules, out of the payload's reach",
    "Missing params fail closed",
    "Mistyped params fail closed",
    "Gitea and GitHub label events read alike",
    "A pull request is not an issue",
    "A handoff's lane is readable, its authority is not",
    "Two identities scoped to one lane",
    "The router is never the executor",
    "A relabel does not re-run the work",
    "A re-size routes again",
    "A worker gets a handle, not a payload to interpret",
    "Tags cannot talk an untrusted actor past the allowlist",
    "on_behalf_of cannot vouch for an actor",
    "An unverified delivery is never work",
    "An injected instruction inside an eligible handoff is refused",
    "Eligibility is not permission",
    "A review request reaches only the requested identity",
    "Nobody reviews their own pull request",
    "A pool with no identity fails closed",
    "Cross-tenant routing is impossible",
]


def test_there_are_thirty_three_scenarios() -> None:
    assert len(set(SCENARIOS)) == 33


@pytest.mark.parametrize("title", SCENARIOS)
def test_every_scenario_has_its_test(title: str) -> None:
    words = re.findall(r"[a-z0-9]+", title.lower().replace("'", ""))
    assert f"test_{'_'.join(words)}" in _test_names()


def _test_names() -> set[str]:
    trees = (ast.parse(path.read_text()) for path in Path(__file__).parent.glob("test_*.py"))
    return {node.name for tree in trees for node in tree.body if isinstance(node, ast.FunctionDef)}
