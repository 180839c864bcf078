"""Times as the outside sees them."""

from datetime import UTC, datetime


def rfc3339(moment: datetime | None) -> str | None:
    """Return an aware time as RFC 3339 in UTC (`2026-11-30T12:00:00.123456Z`), None for None."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z") if moment else None
