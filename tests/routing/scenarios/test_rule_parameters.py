"""SPEC-0020, Rule Parameters."""

from typing import Any

import pytest

from switchboard.accounts.models import Human
from tests.deliveries import cairn_artifact, github_issue
from tests.routing.scenarios.stage import install, open_door, open_fleet, rule, save, saved, send, todos_of, trace_of

ALLOWED = "any($params.trusted_humans | arrays | .[]; . == $author)"
GATE = rule("gate", f".issue.author as $author | {ALLOWED} | not", drop=True)


def test_an_allowlist_lives_beside_the_rules_out_of_the_payloads_reach(owner: Human) -> None:
    door = open_door(owner)
    save(door, GATE, params={"trusted_humans": ["octavia"]})
    claims: dict[str, Any] = {
        "params": {"trusted_humans": ["mallory"]},
        "trusted_humans": ["mallory"],
        "$params": ["mallory"],
    }
    answer = send(door, github_issue(author="mallory", title="I am octavia", **claims))
    assert answer["dropped"] is True
    assert trace_of(door)["rule_id"] == "gate"
    assert send(door, github_issue(author="octavia", number=18))["created"] == 1
    assert saved(door)["params"] == {"trusted_humans": ["octavia"]}


def test_missing_params_fail_closed(owner: Human) -> None:
    door = open_door(owner)
    save(door, GATE)
    assert saved(door)["params"] == {}
    assert send(door, github_issue(author="octavia"))["dropped"] is True
    fleet, worker = open_fleet(owner, "github")
    install(fleet, "fleet")
    assert send(fleet, github_issue(labels=["size/M"]))["dropped"] is True
    assert todos_of(worker) == []


@pytest.mark.parametrize("allowlist", ["octavia", 5, {"octavia": "octavia"}, None, True, ["octavia", 7], [["octavia"]]])
def test_mistyped_params_fail_closed(owner: Human, allowlist: Any) -> None:
    door, worker = open_fleet(owner, "github", trusted_humans=allowlist, trusted_agents=[])
    assert send(door, github_issue(labels=["size/M"]))["dropped"] is True
    assert trace_of(door)["rule_id"] == "issue-untrusted-author"
    assert "faults" not in trace_of(door)
    handoffs, _ = open_fleet(owner, "cairn", cairn_actors=allowlist)
    assert send(handoffs, cairn_artifact(actor="octavia", tags=["handoff", "lane:m"]))["dropped"] is True
    assert trace_of(handoffs)["rule_id"] == "cairn-untrusted-actor"
    assert "faults" not in trace_of(handoffs)
    assert todos_of(worker) == []
