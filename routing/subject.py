"""Read from a delivery what it is about: an issue of a forge, or an artifact of Cairn's."""

from collections.abc import Mapping
from typing import Final, cast

from routing.document import Document
from routing.fields import Json, integer_at, list_at, mapping_at, text_at, value_at
from routing.sources import Source
from switchboard.text import storable

_FORGES: Final = frozenset({Source.GITEA, Source.GITHUB, Source.GENERIC})
_CHANGED_LABEL_ACTIONS: Final = frozenset({"labeled", "unlabeled"})
_LABEL_ACTIONS: Final = _CHANGED_LABEL_ACTIONS | {"label_updated", "label_cleared"}
_DATA_TEXTS: Final = (
    "id",
    "url",
    "title",
    "share_type",
    "channel",
    "model",
    "actor_id",
    "on_behalf_of",
    "expires_at",
)


def issue_projection(source: Source, headers: Mapping[str, str], document: Document) -> dict[str, Json] | None:
    """Return `.issue` of the envelope: SPEC-0020, "Issue Envelope Projection".

    `headers` have lower-case names. None for everything but an `issues` event with an object as its body, and
    for pull requests. A field of the wrong type is null, `labels` is a list at least, `body_size` counts the
    UTF-8 bytes of the issue's text (0 without one), and `key` needs a repository and a number.
    """
    body = mapping_at(document.value)
    if source not in _FORGES or _forge_event(headers) != "issues" or body is None or _is_pull_request(body):
        return None
    provider = _provider(source, headers)
    return {"provider": provider, **_issue_fields(headers, body), "key": _issue_key(provider, body)}


def artifact_projection(source: Source, document: Document) -> dict[str, Json] | None:
    """Return `.artifact` of the envelope: SPEC-0020, "Routing Envelope" and "Cairn Handoff Fields".

    None for other sources and a body that is no object. The texts are null where absent or no text, `tags` is
    Cairn's list as it came or null, and `metadata` any JSON value.
    """
    body = mapping_at(document.value)
    if source is not Source.CAIRN or body is None:
        return None
    return {
        **{name: text_at(body, name) for name in ("event_id", "kind", "created_at")},
        **{name: text_at(body, "data", name) for name in _DATA_TEXTS},
        "handle": _handle(body),
        "tags": list_at(body, "data", "tags"),
        "metadata": value_at(body, "data", "metadata"),
    }


def subject_key(source: Source, headers: Mapping[str, str], document: Document) -> str | None:
    """Return what a `once` claim is about: `provider:owner/repo#number` or `cairn:<id>`; None if neither.

    SPEC-0020, "At-Most-Once Work Orders".
    """
    if source is Source.CAIRN:
        identifier = text_at(document.value, "data", "id")
        return f"cairn:{identifier}" if identifier else None
    issue = issue_projection(source, headers, document)
    return text_at(issue, "key")


def work_order_subject(source: Source, headers: Mapping[str, str], document: Document) -> dict[str, Json] | None:
    """Return the `subject` of a work order: SPEC-0020, "Work Orders". None where there is no subject key.

    Every string can be stored: NUL is U+FFFD here.
    """
    if subject_key(source, headers, document) is None:
        return None
    artifact = artifact_projection(source, document)
    subject = _cairn_subject(artifact) if artifact else issue_projection(source, headers, document)
    return cast("dict[str, Json]", storable(subject))


def _issue_fields(headers: Mapping[str, str], body: dict[str, Json]) -> dict[str, Json]:
    action = text_at(body, "action")
    return {
        "action": action,
        "event_type": headers.get("x-gitea-event-type") or "issues",
        "repo": text_at(body, "repository", "full_name"),
        "number": integer_at(body, "issue", "number"),
        "title": text_at(body, "issue", "title"),
        "url": text_at(body, "issue", "html_url"),
        "state": text_at(body, "issue", "state"),
        "author": text_at(body, "issue", "user", "login"),
        "sender": text_at(body, "sender", "login"),
        "labels": _label_names(body),
        "label": text_at(body, "label", "name") if action in _CHANGED_LABEL_ACTIONS else None,
        "body_size": len((text_at(body, "issue", "body") or "").encode()),
        "label_event": action in _LABEL_ACTIONS,
    }


def _label_names(body: dict[str, Json]) -> list[Json]:
    names = (text_at(label, "name") for label in list_at(body, "issue", "labels") or [])
    return [name for name in names if name is not None]


def _issue_key(provider: str, body: dict[str, Json]) -> str | None:
    repo, number = text_at(body, "repository", "full_name"), integer_at(body, "issue", "number")
    return f"{provider}:{repo}#{number}" if repo and number and number > 0 else None


def _forge_event(headers: Mapping[str, str]) -> str | None:
    return headers.get("x-gitea-event") or headers.get("x-github-event")


def _provider(source: Source, headers: Mapping[str, str]) -> str:
    if source is not Source.GENERIC:
        return source.value
    return "gitea" if headers.get("x-gitea-event") else "github"


def _is_pull_request(body: dict[str, Json]) -> bool:
    """Gitea's plain issues have an `issue.pull_request` that is null."""
    return value_at(body, "pull_request") is not None or value_at(body, "issue", "pull_request") is not None


def _handle(body: dict[str, Json]) -> str | None:
    identifier = text_at(body, "data", "id")
    return f"mcp://cairn/{identifier}" if identifier else None


def _cairn_subject(artifact: dict[str, Json]) -> dict[str, Json]:
    names = ("id", "handle", "url", "title", "share_type", "actor_id", "on_behalf_of")
    tags: list[Json] = [tag for tag in list_at(artifact, "tags") or [] if isinstance(tag, str)]
    return {**{name: artifact[name] for name in names}, "tags": tags}
