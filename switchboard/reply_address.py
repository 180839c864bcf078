"""Where an answer goes: one small immutable record for each kind of conversation (SPEC-0028 REQ-1)."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import ClassVar, Final, TypeAlias

from switchboard.object_ids import is_slack_id, is_slack_timestamp
from switchboard.web_address import canonical_host, read_web_address

REPO_NAME: Final = re.compile(r"(?!\.{1,2}\Z)[A-Za-z0-9._-]{1,100}")
MAX_NUMBER: Final = 2**63 - 1
# Cairn's ids are base62, 8 characters by default: the length is a setting of the instance.
_ARTIFACT_ID = re.compile(r"[0-9A-Za-z]{1,64}")


class Provider(StrEnum):
    """Who can be answered; also the kinds of connection (REQ-3)."""

    GITHUB = "github"
    GITEA = "gitea"
    SLACK = "slack"
    CAIRN = "cairn"


FORGES: Final = frozenset({Provider.GITHUB, Provider.GITEA})


class AddressKind(StrEnum):
    """What kind of conversation an address names."""

    FORGE_COMMENT = "forge_comment"
    SLACK_THREAD = "slack_thread"
    CAIRN_COMMENT = "cairn_comment"


@dataclass(frozen=True)
class ForgeComment:
    """An issue or pull request of a forge; `host` is canonical and has a port unless it is the default one."""

    provider: Provider
    host: str
    repo: str
    number: int
    kind: ClassVar = AddressKind.FORGE_COMMENT

    @classmethod
    def of(cls, *, provider: Provider, host: object, repo: object, number: object) -> "ForgeComment | None":
        """Return the address if every field is what it must be; nothing is repaired."""
        if not isinstance(host, str) or canonical_host(host) != host:
            return None
        if not isinstance(repo, str) or not is_repo(repo):
            return None
        if not isinstance(number, int) or isinstance(number, bool) or not 0 < number <= MAX_NUMBER:
            return None
        return cls(provider=provider, host=host, repo=repo, number=number)

    @property
    def account(self) -> str:
        """What a connection must be for: the host."""
        return self.host

    @property
    def display(self) -> str:
        """One line for people: `gitea stump.wtf/switchboard#482`."""
        return f"{self.provider} {self.repo}#{self.number}"

    def as_json(self) -> dict[str, str | int]:
        """Return what a todo stores and shows as `reply_to`."""
        return _as_json(self)


@dataclass(frozen=True)
class SlackThread:
    """A thread of a Slack channel; a top-level message is answered in a new thread under it."""

    team_id: str
    channel: str
    thread_ts: str
    kind: ClassVar = AddressKind.SLACK_THREAD
    provider: ClassVar = Provider.SLACK

    @classmethod
    def of(cls, *, team_id: object, channel: object, thread_ts: object) -> "SlackThread | None":
        """Return the address if every field is what it must be; nothing is repaired."""
        if not is_slack_id(team_id) or not is_slack_id(channel) or not is_slack_timestamp(thread_ts):
            return None
        return cls(team_id=str(team_id), channel=str(channel), thread_ts=str(thread_ts))

    @property
    def account(self) -> str:
        """What a connection must be for: the team's id."""
        return self.team_id

    @property
    def display(self) -> str:
        """One line for people: `slack #C0123 thread 1726990000.000100`."""
        return f"slack #{self.channel} thread {self.thread_ts}"

    def as_json(self) -> dict[str, str | int]:
        """Return what a todo stores and shows as `reply_to`."""
        return _as_json(self)


@dataclass(frozen=True)
class CairnComment:
    """An artifact of a Cairn instance; `instance` is the scheme and canonical host: `https://cairn.example.com`."""

    instance: str
    artifact_id: str
    kind: ClassVar = AddressKind.CAIRN_COMMENT
    provider: ClassVar = Provider.CAIRN

    @classmethod
    def of(cls, *, instance: object, artifact_id: object) -> "CairnComment | None":
        """Return the address if every field is what it must be; nothing is repaired."""
        place = read_web_address(instance)
        if place is None or place.origin != instance:
            return None
        if not isinstance(artifact_id, str) or not _ARTIFACT_ID.fullmatch(artifact_id):
            return None
        return cls(instance=place.origin, artifact_id=artifact_id)

    @property
    def account(self) -> str:
        """What a connection must be for: the instance."""
        return self.instance

    @property
    def display(self) -> str:
        """One line for people: `cairn cairn.example.com artifact`.

        Without the artifact's id: whoever knows it can read the artifact, and this line stands on pages, in
        results and on the rows of replies, which outlive the todo's reader.
        """
        return f"cairn {self.instance.partition('://')[2]} artifact"

    def as_json(self) -> dict[str, str | int]:
        """Return what a todo stores and shows as `reply_to`."""
        return _as_json(self)


ReplyAddress: TypeAlias = ForgeComment | SlackThread | CairnComment


def is_repo(text: str) -> bool:
    """Tell whether `text` is exactly `owner/name`, each of 1 to 100 of A-Z a-z 0-9 . _ - and no dot segment."""
    owner, slash, name = text.partition("/")
    return bool(slash and REPO_NAME.fullmatch(owner) and REPO_NAME.fullmatch(name))


def read_reply_address(value: Mapping[str, object]) -> ReplyAddress:
    """Return the address that `as_json` wrote; raise ValueError, without quoting it, when it is none."""
    address = _read(value)
    if address is None:
        raise ValueError("not a reply address")
    return address


def _read(value: Mapping[str, object]) -> ReplyAddress | None:
    get = value.get
    match value.get("kind"):
        case AddressKind.FORGE_COMMENT if str(get("provider")) in FORGES:
            provider = Provider(str(get("provider")))
            return ForgeComment.of(provider=provider, host=get("host"), repo=get("repo"), number=get("number"))
        case AddressKind.SLACK_THREAD:
            return SlackThread.of(team_id=get("team_id"), channel=get("channel"), thread_ts=get("thread_ts"))
        case AddressKind.CAIRN_COMMENT:
            return CairnComment.of(instance=get("instance"), artifact_id=get("artifact_id"))
        case _:
            return None


def _as_json(address: ReplyAddress) -> dict[str, str | int]:
    fields = {name: value if isinstance(value, int) else str(value) for name, value in asdict(address).items()}
    return {"kind": address.kind.value, **fields, "display": address.display}
