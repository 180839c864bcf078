"""Stop a body that is too large while it arrives: Django's ASGI handler would first spool all of it to disk."""

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

Scope = dict[str, Any]
Message = Mapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

MEBIBYTE = 1024 * 1024
DELIVERIES = "/webhooks/w/"
DELIVERY_BYTES = 5 * MEBIBYTE
OTHER_BYTES = MEBIBYTE


class _TooLargeError(Exception):
    """More bytes have arrived than the path allows."""


def limit_bodies(application: Application) -> Application:
    """Return the ASGI application, answering 413 as soon as a body is, or says that it is, too large."""

    async def limited(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await application(scope, receive, send)
            return
        limit = DELIVERY_BYTES if scope["path"].startswith(DELIVERIES) else OTHER_BYTES
        started = False

        async def watched_send(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            if _stated_length(scope) > limit:
                raise _TooLargeError
            await application(scope, _counted(receive, limit), watched_send)
        except _TooLargeError:
            if not started:
                await _refuse(send, limit)

    return limited


def _counted(receive: Receive, limit: int) -> Receive:
    arrived = 0

    async def counted() -> Message:
        nonlocal arrived
        message = await receive()
        arrived += len(message.get("body", b""))
        if arrived > limit:
            raise _TooLargeError
        return message

    return counted


def _stated_length(scope: Scope) -> int:
    for name, value in scope["headers"]:
        if name.lower() == b"content-length" and value.isdigit():
            return int(value[:18])
    return 0


async def _refuse(send: Send, limit: int) -> None:
    sentence = f"The body may have at most {limit // MEBIBYTE} MiB."
    body = json.dumps({"error": sentence, "code": "too_large"}).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": 413, "headers": headers})
    await send({"type": "http.response.body", "body": body})
