"""SPEC-0020, Work Order Trust, as the fleet pack implements it."""

from switchboard.accounts.models import Human
from tests.deliveries import cairn_artifact, github_issue, signed
from tests.routing.scenarios.stage import open_fleet, send, todos_of, trace_of


def test_tags_cannot_talk_an_untrusted_actor_past_the_allowlist(owner: Human) -> None:
    door, worker = open_fleet(owner, "cairn")
    answer = send(door, cairn_artifact(actor="mallory@example.com", tags=["handoff", "trusted", "lane:s"]))
    assert (answer["dropped"], trace_of(door)["rule_id"]) == (True, "cairn-untrusted-actor")
    assert send(door, cairn_artifact(tags=["handoff", "trusted", "lane:s"]))["queue"] == "lane-s"
    assert len(todos_of(worker)) == 1


def test_on_behalf_of_cannot_vouch_for_an_actor(owner: Human) -> None:
    door, _ = open_fleet(owner, "cairn", cairn_actors=["octavia@example.com", "joestump-agent"])
    tags = ["handoff", "lane:m"]
    answer = send(door, cairn_artifact(actor="mallory@example.com", tags=tags, on_behalf_of="joestump-agent"))
    assert (answer["dropped"], trace_of(door)["rule_id"]) == (True, "cairn-untrusted-actor")
    for number, name in enumerate([None, "", "joestump-agent", "mallory", ["octavia@example.com"], {"a": 1}]):
        routed = send(door, cairn_artifact(id=f"a{number}", tags=tags, on_behalf_of=name))
        assert (routed["queue"], trace_of(door)["rule_id"]) == ("lane-m", "cairn-lane-m")


def test_an_unverified_delivery_is_never_work(owner: Human) -> None:
    door, worker = open_fleet(owner, "generic", require_verified=True)
    body = github_issue(author="octavia", labels=["size/M"]).body
    delivery = signed("generic", body, headers={"X-GitHub-Event": "issues"})
    answer = send(door, delivery)
    assert (answer["dropped"], answer["verified"]) == (True, False)
    assert trace_of(door)["rule_id"] == "unverified"
    assert todos_of(worker) == []
