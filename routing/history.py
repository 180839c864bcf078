"""Read event history: filters and single events."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from routing.models import Disposition, Event
from routing.rules import RULE_ID
from switchboard.accounts.reach import Principal
from switchboard.errors import InvalidArgument, NotFound
from switchboard.ids import lookup_id
from switchboard.source_types import Source


def list_events(*, principal: Principal, filters: Mapping[str, Any]) -> QuerySet[Event]:
    """Return the events within reach that pass every filter; bodies are left in the database.

    Filters: webhook_id, source, kind, disposition, rule_id, since and until (RFC 3339, inclusive and exclusive).
    An unknown filter or a malformed value raises InvalidArgument; a webhook id out of reach finds nothing.
    """
    events = Event.objects.within_reach(principal).defer("body", "headers")
    for name, value in filters.items():
        if name not in _FILTERS:
            raise InvalidArgument(f"Unknown filter {name}; there are {', '.join(_FILTERS)}.", field=name)
        events = events.filter(**_FILTERS[name](name, value))
    return events


def find_event(*, principal: Principal, event_id: object) -> Event:
    """Return the event within reach with that id; unknown, malformed and foreign ids raise the same NotFound."""
    found = Event.objects.within_reach(principal).filter(pk=lookup_id(event_id)).first()
    if found is None:
        raise NotFound
    return found


def _webhook(_: str, value: object) -> dict[str, Any]:
    return {"webhook_id": lookup_id(value)}


def _choice(field: str, allowed: type[Source | Disposition]) -> Callable[[str, object], dict[str, Any]]:
    values = [member.value for member in allowed]

    def read(name: str, value: object) -> dict[str, Any]:
        if value not in values:
            raise InvalidArgument(f"{name} must be one of {', '.join(values)}.", field=name)
        return {field: value}

    return read


def _kind(name: str, value: object) -> dict[str, Any]:
    if not isinstance(value, str) or not value.isprintable() or len(value) > 255:
        raise InvalidArgument(f"{name} must be a printable text.", field=name)
    return {"kind": value}


def _rule(name: str, value: object) -> dict[str, Any]:
    if not isinstance(value, str) or not RULE_ID.fullmatch(value):
        raise InvalidArgument(f"{name} must be a rule id.", field=name)
    return {"rule_id": value}


def _time(lookup: str) -> Callable[[str, object], dict[str, Any]]:
    def read(name: str, value: object) -> dict[str, Any]:
        return {lookup: _read_time(name, value)}

    return read


def _read_time(name: str, value: object) -> datetime:
    try:
        moment = parse_datetime(value) if isinstance(value, str) else None
        if moment is not None and not timezone.is_naive(moment):
            return moment.astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    raise InvalidArgument(f"{name} must be an RFC 3339 time with its zone.", field=name)


_FILTERS: dict[str, Callable[[str, object], dict[str, Any]]] = {
    "webhook_id": _webhook,
    "source": _choice("source", Source),
    "kind": _kind,
    "disposition": _choice("disposition", Disposition),
    "rule_id": _rule,
    "since": _time("received_at__gte"),
    "until": _time("received_at__lt"),
}
