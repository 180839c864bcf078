"""A targets allowlist narrows a credential to repositories, channels or tagged artifacts."""

import pytest

from connections.targets import admits, artifact_tags, read_targets
from switchboard.reply_address import CairnComment, ForgeComment, Provider, ReplyAddress, SlackThread

GITHUB, GITEA, SLACK, CAIRN = Provider.GITHUB, Provider.GITEA, Provider.SLACK, Provider.CAIRN
ISSUE = ForgeComment(GITHUB, "github.com", "acme/widgets", 7)
THREAD = SlackThread("T0123", "C0123", "1726990000.000100")
ARTIFACT = CairnComment("https://cairn.example.com", "4kQ9zTbX")


@pytest.mark.parametrize("kind", Provider)
def test_an_empty_list_is_a_list(kind: Provider) -> None:
    assert read_targets(kind, []) == []


@pytest.mark.parametrize(
    ("kind", "entries"),
    [
        (GITHUB, ["acme/*", "other/repo"]),
        (GITEA, ["stump.wtf/switchboard", "stump.wtf/*"]),
        (SLACK, ["C0123", "G0456"]),
        (CAIRN, ["handoff", "repo:acme/widgets", "*", "needs review"]),
    ],
)
def test_well_formed_entries_are_kept_in_order_and_once(kind: Provider, entries: list[str]) -> None:
    assert read_targets(kind, [*entries, entries[0]]) == entries


@pytest.mark.parametrize(
    ("kind", "entry"),
    [
        (GITHUB, "acme"), (GITHUB, "*"), (GITHUB, "*/*"), (GITHUB, "*/widgets"), (GITHUB, "acme/wid*"),
        (GITHUB, "../*"), (GITHUB, "acme/.."), (GITHUB, "acme/**"), (GITHUB, "acme/widgets/*"), (GITHUB, ""),
        (GITHUB, "acme/"), (GITHUB, 7),
        (GITEA, "https://git.example.net/acme/*"), (GITEA, "acme/*\n"), (SLACK, "general"), (SLACK, "#C0123"),
        (SLACK, "c0123"), (SLACK, "*"), (SLACK, ""), (SLACK, None), (CAIRN, ""), (CAIRN, " handoff"), (CAIRN, "a\nb"),
        (CAIRN, "a" * 129), (CAIRN, ["handoff"]),
    ],
)  # fmt: skip
def test_a_malformed_entry_is_refused_in_a_sentence(kind: Provider, entry: object) -> None:
    with pytest.raises(ValueError, match=r"^A target of a .+ connection is .+\.$"):
        read_targets(kind, [entry])


@pytest.mark.parametrize("entries", [None, "acme/*", b"x", 7, {"acme/*": 1}])
def test_targets_that_are_no_list_are_refused(entries: object) -> None:
    with pytest.raises(ValueError, match="list"):
        read_targets(GITHUB, entries)


@pytest.mark.parametrize("address", [ISSUE, THREAD, ARTIFACT])
def test_an_empty_allowlist_admits_everything(address: ReplyAddress) -> None:
    assert admits([], address)


def test_allowlist_refuses() -> None:
    assert not admits(["acme/*"], ForgeComment(GITHUB, "github.com", "other/repo", 7))


@pytest.mark.parametrize(
    ("targets", "expected"),
    [
        (["acme/*"], True),
        (["acme/widgets"], True),
        (["ACME/Widgets"], True),
        (["Acme/*"], True),
        (["other/*", "acme/widgets"], True),
        (["acme/widgets2"], False),
        (["acme2/*"], False),
        (["me/*"], False),
        (["widgets/*"], False),
    ],
)
def test_a_repository_is_admitted_by_name_or_owner_in_any_case(targets: list[str], expected: bool) -> None:
    assert admits(targets, ISSUE) is expected


@pytest.mark.parametrize(("targets", "expected"), [(["C0123"], True), (["C9999"], False), (["C012"], False)])
def test_a_channel_is_admitted_by_its_id(targets: list[str], expected: bool) -> None:
    assert admits(targets, THREAD) is expected


@pytest.mark.parametrize(
    ("targets", "tags", "expected"),
    [
        (["*"], [], True),
        (["handoff"], ["handoff", "prio:high"], True),
        (["handoff"], ["Handoff"], False),
        (["handoff"], [], False),
        (["handoff"], ["*"], False),
    ],
)
def test_an_artifact_is_admitted_by_a_tag_of_its_own(targets: list[str], tags: list[str], expected: bool) -> None:
    assert admits(targets, ARTIFACT, tags=tags) is expected


@pytest.mark.parametrize(
    ("payload", "tags"),
    [
        ({"data": {"tags": ["handoff", 7, None, "x"]}}, {"handoff", "x"}),
        ({"data": {"tags": "handoff"}}, set()),
        ({"data": []}, set()),
        ([], set()),
        (None, set()),
    ],
)
def test_the_tags_come_from_the_body_and_are_texts(payload: object, tags: set[str]) -> None:
    assert artifact_tags(payload) == tags
