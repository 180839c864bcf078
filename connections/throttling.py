"""Leave a provider alone for as long as it asked, connection by connection (SPEC-0028 REQ-10)."""

import math
from datetime import datetime, timedelta
from typing import Final

from django.db.models import Q

from connections.models import Connection
from switchboard.errors import RateLimited

DEFAULT_WAIT_SECONDS: Final = 30


def refuse_while_throttled(connection: Connection, *, now: datetime) -> None:
    """Raise RateLimited, with the seconds left, while the provider does not want to be called."""
    until = connection.throttled_until
    if until is not None and until > now:
        raise RateLimited(
            "The provider asked not to be called through this connection for a while.",
            retry_after=math.ceil((until - now).total_seconds()),
        )


def note_throttled(connection: Connection, *, retry_after: int | None, now: datetime) -> None:
    """Record that the provider answered 429: no call for `retry_after` seconds, 30 when it named none.

    A wait that is already recorded never becomes shorter.
    """
    until = now + timedelta(seconds=DEFAULT_WAIT_SECONDS if retry_after is None else retry_after)
    sooner = Q(throttled_until__isnull=True) | Q(throttled_until__lt=until)
    Connection.objects.filter(sooner, pk=connection.pk).update(throttled_until=until)
