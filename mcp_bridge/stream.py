"""The doorbell stream: an event stream that stays open while its credential lives (contract §7)."""

import asyncio
import time
from collections.abc import AsyncIterator

from asgiref.sync import sync_to_async
from django.db import close_old_connections

from mcp_bridge.authenticate import is_still_live
from mcp_bridge.stopping import stop_event

# Without `retry` both SDKs lose the stream for good when it breaks for more than a few seconds.
OPENING = b"retry: 15000\n: open\n\n"
KEEP_ALIVE = b": keep-alive\n\n"
KEEP_ALIVE_SECONDS = 17.0
MAX_AGE_SECONDS = 15 * 60.0


async def doorbell_stream(
    credential: str, *, keep_alive_seconds: float = KEEP_ALIVE_SECONDS, max_age_seconds: float = MAX_AGE_SECONDS
) -> AsyncIterator[bytes]:
    """Yield the bytes of one stream until its age, its credential or its process ends.

    The credential is checked again with each keep-alive; no database connection is held while waiting.
    """
    closes_at = time.monotonic() + max_age_seconds
    with stop_event() as stopping:
        yield OPENING
        await sync_to_async(close_old_connections)()
        while (left := closes_at - time.monotonic()) > 0:
            if await _happens(stopping, within=min(keep_alive_seconds, left)):
                return
            if not await sync_to_async(is_still_live)(credential):
                return
            yield KEEP_ALIVE


async def _happens(event: asyncio.Event, *, within: float) -> bool:
    try:
        await asyncio.wait_for(event.wait(), within)
    except TimeoutError:
        return False
    return True
