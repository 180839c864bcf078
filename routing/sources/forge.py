"""Name an event of a software forge; GitHub's and Gitea's bodies read alike."""

from routing.fields import Json, integer_at
from routing.sources.description import Description, describe_as, joined, phrase_at

_ITEMS = ("issue", "pull_request", "discussion")
_DETAILS = (*((item, "title") for item in _ITEMS), ("release", "name"), ("release", "tag_name"), ("ref",))


def describe_forge_event(source: str, kind: str | None, value: Json) -> Description:
    """Describe a forge's event: `issues.opened`, `acme/widgets#17 opened by octavia: Crash on start`."""
    action = phrase_at(value, "action")
    label = joined(kind, action, by=".")
    verb = action if kind in {"issues", "pull_request"} else None
    return describe_as(source, label=label, headline=_headline(source, verb or label, value))


def _headline(source: str, verb: str, value: Json) -> str | None:
    place, actor = _place(value), phrase_at(value, "sender", "login")
    if not place and not actor:
        return None
    happened = verb.replace("_", " ").replace(".", " ") or "delivery"
    event = joined(place or source, happened, actor and f"by {actor}")
    return joined(event, _detail(value), by=": ")


def _place(value: Json) -> str | None:
    repo = phrase_at(value, "repository", "full_name")
    numbers = (integer_at(value, item, "number") for item in _ITEMS)
    number = next((number for number in numbers if number is not None), None)
    return repo if repo is None or number is None else f"{repo}#{number}"


def _detail(value: Json) -> str | None:
    details = (phrase_at(value, *path) for path in _DETAILS)
    return next((detail for detail in details if detail), None)
