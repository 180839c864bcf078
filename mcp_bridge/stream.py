"""The doorbell stream: bells and comments for as long as its credential lives and it is not too old (contract §7)."""

import json
import time
from collections.abc import AsyncIterator, Collection
from datetime import datetime, timedelta
from uuid import UUID

from asgiref.sync import sync_to_async
from django.db import close_old_connections
from django.utils import timezone

from mcp_bridge.authenticate import is_still_live
from mcp_bridge.hub import HUB
from mcp_bridge.listener import Bell, Listener
from mcp_bridge.stopping import when_stopped
from mcp_bridge.watch import OVERLAP, SAFETY_POLL
from switchboard.accounts.models import Endpoint
from switchboard.todos import rings
from switchboard.todos.doorbell import Doorbell
from switchboard.todos.models import Todo

# Without `retry` both SDKs lose the stream for good when it breaks for more than a few seconds.
OPENING = b"retry: 15000\n: open\n\n"
KEEP_ALIVE = b": keep-alive\n\n"
KEEP_ALIVE_SECONDS = 17.0
MAX_AGE_SECONDS = 15 * 60.0
# A bell that was rung longer ago is handed out to nobody.
LATELY = OVERLAP + SAFETY_POLL + timedelta(seconds=15)
Keys = Collection[tuple[UUID, datetime]]


async def doorbell_stream(
    endpoint: Endpoint,
    credential: str,
    *,
    keep_alive_seconds: float = KEEP_ALIVE_SECONDS,
    max_age_seconds: float = MAX_AGE_SECONDS,
) -> AsyncIterator[bytes]:
    """Yield the bytes of one stream until its age, its credential or its process ends.

    It rings for the endpoint's oldest pending todos, then for each one that is rung while it is open. The credential
    is checked again with each keep-alive; no database connection is held while waiting.
    """
    closes_at = time.monotonic() + max_age_seconds
    before = await sync_to_async(_rung_before)(endpoint)
    with HUB.listening(endpoint) as listener, when_stopped(listener.end):
        yield OPENING
        first = await sync_to_async(_first_bells)(endpoint, before)
        for opening in first:
            yield frame_of(opening.doorbell)
        known = {*before, *(opening.key for opening in first)}
        check_at = time.monotonic() + keep_alive_seconds
        while not listener.ended and (now := time.monotonic()) < closes_at:
            if now >= check_at:
                if not await sync_to_async(is_still_live)(credential):
                    return
                yield KEEP_ALIVE
                check_at = time.monotonic() + keep_alive_seconds
            bell = await _next_unknown(listener, known, within=min(check_at, closes_at) - time.monotonic())
            if bell is not None:
                yield frame_of(bell.doorbell)


def frame_of(doorbell: Doorbell) -> bytes:
    """Return the event that carries a doorbell: one JSON-RPC notification, without an id to resume from."""
    message = {
        "jsonrpc": "2.0",
        "method": "notifications/claude/channel",
        "params": {"content": doorbell.content, "meta": doorbell.meta},
    }
    return f"event: message\ndata: {json.dumps(message)}\n\n".encode()


async def _next_unknown(listener: Listener, known: Keys, *, within: float) -> Bell | None:
    bell = await listener.next_bell(within=within)
    return None if bell is None or bell.key in known else bell


def _rung_before(endpoint: Endpoint) -> Keys:
    """Return the bells that were rung before the stream listened: they are not new to it."""
    try:
        return {Bell.of(todo).key for todo in _rung_lately(endpoint)}
    finally:
        close_old_connections()


def _first_bells(endpoint: Endpoint, before: Keys) -> list[Bell]:
    """Return the bells of the oldest pending todos, and those rung while the stream began to listen."""
    try:
        oldest = rings.oldest_pending(endpoint, now=timezone.now())
        late = [todo for todo in _rung_lately(endpoint) if Bell.of(todo).key not in before]
        first = {todo.pk: todo for todo in [*oldest, *late]}
        rings.count_first_ring(first.values())
        HUB.note_opening(first)
        return [Bell.of(todo) for todo in first.values()]
    finally:
        close_old_connections()


def _rung_lately(endpoint: Endpoint) -> list[Todo]:
    now = timezone.now()
    rung = rings.rung_since(now - LATELY, endpoints=[endpoint.pk], now=now)
    return [todo for todo in rung if todo.queue in endpoint.scope_queues]
