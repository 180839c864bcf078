"""The shipped rule packs: they install, decide as their README says, and fail closed whatever their params are."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from routing import configure
from routing.envelope import Delivery
from routing.models import Event
from routing.packs import Pack, install_pack, list_packs, load_pack
from routing.router import Configuration, evaluate_rules
from routing.sandbox.client import Evaluation
from routing.sources import Source, trust_mode_of
from switchboard.accounts.models import Human
from switchboard.errors import Conflict, InvalidParams, NotFound, NotGranted
from tests.deliveries import SignedDelivery, cairn_artifact, gitea_issue, github_event, github_issue, signed
from tests.factories import make_human
from tests.routing.scenarios.stage import FLEET_PARAMS, LANE, add_worker, install, open_door, open_fleet, send, trace_of

FLEET, POOL = load_pack("fleet"), load_pack("pool-review")
LANES = {"lane-s", "lane-m", "lane-l", "lane-vision", "lane-auto"}
ALLOWLISTS = ["cairn_actors", "trusted_humans", "trusted_agents", "repo_prefixes"]
WRONG_LISTS: list[Any] = [
    "octavia",
    "",
    0,
    1,
    True,
    False,
    None,
    {},
    {"octavia": "octavia", "octavia@example.com": "octavia@example.com", "acme/": "acme/"},
    [1],
    [None],
    ["octavia", "octavia@example.com", "acme/", 7],
    [["octavia", "octavia@example.com", "acme/"]],
    [{"octavia": True}],
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.sampled_from(["octavia", "acme/"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
HANDOFF = cairn_artifact(tags=["handoff", "lane:m"])
ISSUE = github_issue(labels=["size/M"])
UNSIGNED_ISSUE = signed("generic", ISSUE.body, headers={"X-GitHub-Event": "issues"})
FOREIGN: dict[str, Any] = {"author": "mallory", "sender": "mallory", "repo": "mallory/widgets", "labels": ["size/M"]}
UNTRUSTED = [
    ("cairn", cairn_artifact(actor="mallory@example.com", tags=["handoff", "lane:m"], on_behalf_of="octavia")),
    ("github", github_issue(**FOREIGN)),
    ("gitea", gitea_issue(action="label_updated", event_type="issue_label", **FOREIGN)),
]


@pytest.fixture
def owner(db: None) -> Human:
    return make_human("owner")


def judge(pack: Pack, params: Mapping[str, Any], source: str, delivery: SignedDelivery) -> Evaluation:
    """Return what the pack's rules say about a delivery that verified as far as its source can."""
    request = delivery.request()
    arrived = Delivery(
        source=Source(source),
        webhook_id="a webhook",
        trust_mode=trust_mode_of(Source(source)),
        verified=source != "generic",
        content_type=request.content_type,
        headers=request.headers,
        body=request.body,
        document=request.document,
    )
    return evaluate_rules(Configuration("a webhook", "an owner", pack.rules, pack.default_action, params), arrived)


def outcome(pack: Pack, params: Mapping[str, Any], source: str, delivery: SignedDelivery) -> tuple[str | None, bool]:
    """Return the id of the rule that decides, and whether the delivery becomes work of a lane."""
    evaluation = judge(pack, params, source, delivery)
    assert evaluation.faults == ()
    if evaluation.matched is None:
        return None, False
    rule = pack.rules[evaluation.matched]
    return rule["id"], rule["action"].get("queue") in LANES


def test_two_packs_are_shipped() -> None:
    assert [pack.name for pack in list_packs()] == ["fleet", "pool-review"]
    assert POOL.default_action is None
    assert set(FLEET.params) == {"require_verified", *ALLOWLISTS}
    assert set(POOL.params) == {"identity"}


@pytest.mark.parametrize("pack", list_packs(), ids=lambda pack: pack.name)
def test_a_pack_names_the_queues_that_its_actions_use(pack: Pack) -> None:
    actions = [rule["action"] for rule in pack.rules] + [pack.default_action or {}]
    assert set(pack.queues) == {action["queue"] for action in actions if "queue" in action}


@pytest.mark.parametrize("pack", list_packs(), ids=lambda pack: pack.name)
def test_no_rule_reads_on_behalf_of(pack: Pack) -> None:
    assert "on_behalf_of" not in json.dumps(list(pack.rules))


@pytest.mark.parametrize("name", ["unknown", "", "../rule-packs/fleet", "fleet.json", "README", "fleet\0"])
def test_an_unknown_pack_is_not_found(name: str) -> None:
    with pytest.raises(NotFound, match="there are: fleet, pool-review"):
        load_pack(name)


def test_every_lane_is_exclusive_once_and_a_work_order() -> None:
    lanes = [rule for rule in FLEET.rules if rule["action"].get("queue") in LANES]
    assert {rule["action"]["queue"] for rule in lanes} == LANES
    assert all({**rule["action"], "queue": ""} == {"queue": "", **LANE} for rule in lanes)


@pytest.mark.parametrize(
    ("tags", "rule_id"),
    [
        (["handoff", "lane:s"], "cairn-lane-s"),
        (["handoff", "lane:m"], "cairn-lane-m"),
        (["lane:l", "handoff"], "cairn-lane-l"),
        (["handoff", "lane:vision"], "cairn-lane-vision"),
        (["handoff", "lane:auto"], "cairn-lane-auto"),
        (["handoff", "lane:auto", "size:s"], "cairn-lane-s"),
        (["handoff", "size:m", "lane:auto"], "cairn-lane-m"),
        (["handoff", "lane:auto", "size:xl"], "cairn-lane-l"),
        (["handoff", "lane:auto", "size:huge"], "cairn-lane-auto"),
        (["handoff", "lane:m", "lane:s", "size:xl"], "cairn-lane-m"),
        (["handoff", 7, None, ["lane:s"], "lane:m"], "cairn-lane-m"),
        (["handoff"], "cairn-no-lane"),
        (["handoff", "lane:M"], "cairn-no-lane"),
        (["handoff", "size:m"], "cairn-no-lane"),
        (["Handoff", "lane:m"], "cairn-not-a-handoff"),
        ([], "cairn-not-a-handoff"),
        (None, "cairn-not-a-handoff"),
    ],
)
def test_tags_choose_the_lane_of_a_trusted_handoff(tags: list[Any] | None, rule_id: str) -> None:
    assert outcome(FLEET, FLEET_PARAMS, "cairn", cairn_artifact(tags=tags))[0] == rule_id


def test_only_a_new_artifact_with_an_id_is_a_handoff() -> None:
    tags = ["handoff", "lane:m"]
    for kind in ("artifact.updated", "artifact.deleted"):
        assert outcome(FLEET, FLEET_PARAMS, "cairn", cairn_artifact(kind=kind, tags=tags))[0] == "cairn-not-a-handoff"
    assert outcome(FLEET, FLEET_PARAMS, "cairn", cairn_artifact(id="", tags=tags))[0] == "cairn-no-lane"


@pytest.mark.parametrize(
    ("issue", "rule_id"),
    [
        ({"labels": ["size/M"]}, "issue-lane-m"),
        ({"labels": ["bug", "size/s"]}, "issue-lane-s"),
        ({"labels": ["size/L"]}, "issue-lane-l"),
        ({"labels": ["size/XL"]}, "issue-lane-l"),
        ({"labels": ["size/S", "lane/vision"]}, "issue-lane-vision"),
        ({"labels": ["lane/auto"]}, "issue-lane-auto"),
        ({"labels": ["lane/auto", "size/m"]}, "issue-lane-m"),
        ({"labels": ["size/m"], "author": "octavia-agent", "sender": "octavia-agent"}, "issue-lane-m"),
        ({"labels": ["size/m"], "action": "reopened", "sender": "mallory"}, "issue-lane-m"),
        ({"labels": ["size/m"], "action": "labeled", "sender": "octavia-agent"}, "issue-lane-m"),
        ({"labels": ["size/m"], "action": "labeled", "sender": "mallory"}, "issue-untrusted-sender"),
        ({"labels": ["size/m"], "author": "mallory"}, "issue-untrusted-author"),
        ({"labels": ["size/m"], "author": "Octavia"}, "issue-untrusted-author"),
        ({"labels": ["size/m"], "author": None}, "issue-untrusted-author"),
        ({"labels": ["size/m"], "repo": "acme-evil/widgets"}, "issue-untrusted-repo"),
        ({"labels": ["size/m"], "repo": ["acme/widgets"]}, "issue-untrusted-repo"),
        ({"labels": ["size/m"], "action": "edited"}, "issue-not-a-trigger"),
        ({"labels": ["size/m"], "number": 0}, "issue-no-lane"),
        ({}, "issue-no-lane"),
    ],
)
def test_labels_choose_the_lane_of_a_trusted_issue(issue: dict[str, Any], rule_id: str) -> None:
    assert outcome(FLEET, FLEET_PARAMS, "github", github_issue(**issue))[0] == rule_id


def test_a_label_on_a_closed_issue_is_no_work() -> None:
    body = json.loads(github_issue(action="labeled", labels=["size/m"]).body)
    body["issue"]["state"] = "closed"
    assert outcome(FLEET, FLEET_PARAMS, "github", github_event(body, event="issues"))[0] == "issue-not-a-trigger"


@pytest.mark.parametrize("event", ["pull_request", "push", "ping"])
def test_what_is_neither_handoff_nor_issue_is_no_work(event: str) -> None:
    assert outcome(FLEET, FLEET_PARAMS, "github", github_event({"a": 1}, event=event))[0] == "not-work"


def test_a_repository_prefix_without_a_slash_is_a_whole_owner() -> None:
    params = {**FLEET_PARAMS, "repo_prefixes": ["acme", "other/widg"]}
    verdicts = {
        repo: outcome(FLEET, params, "github", github_issue(repo=repo, labels=["size/m"]))[1]
        for repo in ("acme/widgets", "acme-evil/widgets", "other/widgets", "other/else")
    }
    assert verdicts == {"acme/widgets": True, "acme-evil/widgets": False, "other/widgets": True, "other/else": False}


@pytest.mark.parametrize("value", WRONG_LISTS, ids=repr)
@pytest.mark.parametrize("name", ALLOWLISTS)
def test_an_allowlist_of_the_wrong_shape_admits_nobody(name: str, value: Any) -> None:
    params = {**FLEET_PARAMS, "trusted_agents": [], name: value}
    if name == "trusted_agents":
        params["trusted_humans"] = []
    source, delivery = ("cairn", HANDOFF) if name == "cairn_actors" else ("github", ISSUE)
    rule_id, works = outcome(FLEET, params, source, delivery)
    assert not works
    assert rule_id in {"cairn-untrusted-actor", "issue-untrusted-repo", "issue-untrusted-author"}


@pytest.mark.parametrize("value", [True, "false", "", 0, 1, None, [], [False], {}, {"false": False}], ids=repr)
def test_only_false_lifts_the_requirement_to_be_verified(value: Any) -> None:
    params = {**FLEET_PARAMS, "require_verified": value}
    assert outcome(FLEET, params, "generic", UNSIGNED_ISSUE) == ("unverified", False)


def test_an_unsigned_delivery_is_work_where_the_owner_says_so() -> None:
    params = {**FLEET_PARAMS, "require_verified": False}
    assert outcome(FLEET, params, "generic", UNSIGNED_ISSUE) == ("issue-lane-m", True)


@settings(max_examples=25, deadline=None)
@given(params=st.fixed_dictionaries({}, optional=dict.fromkeys(FLEET.params, JSON)))
def test_whatever_the_params_nothing_untrusted_becomes_work(params: dict[str, Any]) -> None:
    for source, delivery in UNTRUSTED:
        rule_id, works = outcome(FLEET, params, source, delivery)
        assert not works
        assert rule_id in {"cairn-untrusted-actor", "issue-untrusted-repo", "issue-untrusted-author"}


def test_no_lane_relies_on_the_rules_before_it() -> None:
    lanes = replace(FLEET, rules=tuple(rule for rule in FLEET.rules if "queue" in rule["action"]))
    unsigned = ("generic", UNSIGNED_ISSUE)
    for source, delivery in [*UNTRUSTED, unsigned]:
        assert outcome(lanes, FLEET_PARAMS, source, delivery) == (None, False)


@pytest.mark.parametrize("body", [[], "text", 5, None, {"data": []}, {"issue": [], "repository": "acme/widgets"}])
def test_no_body_makes_a_rule_fault(body: Any) -> None:
    text = json.dumps(body).encode()
    for source in ("cairn", "github"):
        delivery = signed(source, text, headers={"X-GitHub-Event": "issues"})
        assert not outcome(FLEET, FLEET_PARAMS, source, delivery)[1]
    for pull in (
        body,
        {"action": "opened", "pull_request": body},
        {"action": "opened", "pull_request": {"user": body}},
    ):
        assert judge(POOL, {"identity": "octavia"}, "github", github_event(pull, event="pull_request")).faults == ()


@pytest.mark.parametrize("reviewer", [[], "octavia", 5, None, {}, {"login": None}, {"login": ["octavia"]}], ids=repr)
@pytest.mark.parametrize("action", ["review_requested", "review_request_removed"])
def test_a_review_request_that_names_nobody_is_for_nobody(action: str, reviewer: Any) -> None:
    delivery = github_event({"action": action, "requested_reviewer": reviewer}, event="pull_request")
    assert outcome(POOL, {"identity": "octavia"}, "github", delivery)[0] == "review-request-not-for-me"


@settings(max_examples=25, deadline=None)
@given(identity=JSON.filter(lambda value: value != "octavia"))
def test_an_identity_of_the_wrong_shape_gets_no_review_request(identity: Any) -> None:
    requested = {"action": "review_requested", "requested_reviewer": {"login": "octavia"}}
    delivery = github_event(requested, event="pull_request")
    assert outcome(POOL, {"identity": identity}, "github", delivery)[0] == "review-request-not-for-me"
    comment = github_event({"action": "created"}, event="pull_request_review_comment")
    assert outcome(POOL, {"identity": identity}, "github", comment)[0] is None


def test_logins_are_compared_without_regard_to_case() -> None:
    own = github_event({"action": "opened", "pull_request": {"user": {"login": "JoeStump"}}}, event="pull_request")
    for identity in ("joestump", "JOESTUMP"):
        assert outcome(POOL, {"identity": identity}, "github", own)[0] == "own-pr-review-trigger"


def test_installing_replaces_rules_default_and_params(owner: Human) -> None:
    door, _ = open_fleet(owner, "github")
    before = configure.list_rules(principal=door.principal, webhook_id=door.webhook_id)
    assert [rule["id"] for rule in before["rules"]] == [rule["id"] for rule in FLEET.rules]
    assert before["default_action"] == {"queue": "hold", "exclusive": True}
    assert before["params"] == FLEET_PARAMS
    assert "warnings" not in before
    after = install(door, "pool-review", identity="octavia")
    assert (len(after["rules"]), after["default_action"], after["params"]) == (2, None, {"identity": "octavia"})


def test_a_queue_that_the_webhook_may_not_use_is_refused_naming_the_rule(owner: Human) -> None:
    door = open_door(owner, queues=["hold", "lane-vision"])
    with pytest.raises(NotGranted) as refused:
        install(door, "fleet")
    assert refused.value.code == "forbidden"
    assert refused.value.extra["rule"]["id"] == "cairn-lane-l"
    assert configure.list_rules(principal=door.principal, webhook_id=door.webhook_id)["rules"] == []


def test_a_lane_that_no_target_drains_is_refused_naming_the_rule(owner: Human) -> None:
    door = open_door(owner, queues=["hold"], webhook_queues=["hold", *LANES])
    add_worker(door, "lane-vision", "lane-l")
    with pytest.raises(NotGranted) as refused:
        install(door, "fleet")
    assert refused.value.extra["rule"]["id"] == "cairn-lane-m"


def test_params_and_version_are_checked_like_those_of_any_save(owner: Human) -> None:
    door = open_door(owner)
    with pytest.raises(InvalidParams):
        install(door, "pool-review", identity="x" * 16_385)
    install(door, "pool-review", identity="octavia")
    with pytest.raises(Conflict):
        install_pack(principal=door.principal, webhook_id=door.webhook_id, name="pool-review", params=None, version=0)


def test_a_held_issue_is_held_once_and_goes_to_its_lane_when_it_is_labelled(owner: Human) -> None:
    door, worker = open_fleet(owner, "github")
    assert send(door, github_issue())["todos"][0]["endpoint_id"] == str(door.endpoint.pk)
    assert send(door, github_issue(action="labeled", labels=["bug"], label="bug"))["repeat"] is True
    answer = send(door, github_issue(action="labeled", labels=["size/M"], label="size/M"))
    assert [(todo["endpoint_id"], todo["queue"]) for todo in answer["todos"]] == [(str(worker.pk), "lane-m")]
    assert trace_of(door)["rule_id"] == "issue-lane-m"
    assert Event.objects.filter(disposition="routed").count() == 2
