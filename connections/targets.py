"""A connection's targets allowlist: which conversations its credential may be used for."""

from collections.abc import Collection, Iterable
from typing import Any, Final

from switchboard.object_ids import is_slack_id
from switchboard.reply_address import (
    FORGES,
    REPO_NAME,
    CairnComment,
    ForgeComment,
    Provider,
    ReplyAddress,
    SlackThread,
    is_repo,
)

MAX_TAG_CHARACTERS: Final = 128
ANY_ARTIFACT: Final = "*"
_ANY_REPO: Final = "/*"


def read_targets(kind: Provider, entries: object) -> list[str]:
    """Return the distinct entries of an allowlist, in order; an empty one admits everything: SPEC-0028 REQ-3.

    `owner/*` or `owner/name` for a forge, a channel id for Slack, an artifact's tag or `*` for Cairn. Raises
    ValueError with a sentence for people.
    """
    if not isinstance(entries, Iterable) or isinstance(entries, (str, bytes, dict)):
        raise ValueError("targets is a list.")
    found = list(entries)
    if not all(isinstance(entry, str) and _is_entry(kind, entry) for entry in found):
        raise ValueError(_RULES[kind])
    return list(dict.fromkeys(found))


def admits(targets: Collection[str], address: ReplyAddress, *, tags: Collection[str] = ()) -> bool:
    """Tell whether the allowlist admits the address: REQ-5. `tags` are the artifact's, from the verified body.

    Repositories are compared without regard to case, as both forges do; channels and tags exactly.
    """
    if not targets:
        return True
    match address:
        case ForgeComment():
            return _admits_repo(targets, address.repo)
        case SlackThread():
            return address.channel in targets
        case CairnComment():
            return ANY_ARTIFACT in targets or not set(tags).isdisjoint(targets)


def artifact_tags(payload: Any) -> frozenset[str]:
    """Return the tags of a parsed Cairn body; none when it is anything else.

    They are what Cairn's client says (nobody proves them), so they narrow a credential and never widen it.
    """
    data = payload.get("data") if isinstance(payload, dict) else None
    tags = data.get("tags") if isinstance(data, dict) else None
    return frozenset(tag for tag in tags if isinstance(tag, str)) if isinstance(tags, list) else frozenset()


_RULES: Final = {
    Provider.GITHUB: "A target of a GitHub connection is owner/* or owner/name.",
    Provider.GITEA: "A target of a Gitea connection is owner/* or owner/name.",
    Provider.SLACK: "A target of a Slack connection is a channel id, such as C0123ABCD.",
    Provider.CAIRN: "A target of a Cairn connection is a tag of at most 128 characters, or * for every artifact.",
}


def _is_entry(kind: Provider, entry: str) -> bool:
    if kind in FORGES:
        return is_repo(entry) or (
            entry.endswith(_ANY_REPO) and bool(REPO_NAME.fullmatch(entry.removesuffix(_ANY_REPO)))
        )
    if kind is Provider.SLACK:
        return is_slack_id(entry)
    return bool(entry) and entry == entry.strip() and entry.isprintable() and len(entry) <= MAX_TAG_CHARACTERS


def _admits_repo(targets: Collection[str], repo: str) -> bool:
    owner = repo.partition("/")[0]
    allowed = {target.lower() for target in targets}
    return repo.lower() in allowed or f"{owner.lower()}{_ANY_REPO}" in allowed
