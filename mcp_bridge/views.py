"""The MCP path of an endpoint: Origin, bearer, slug, method, body, protocol revision, then the SDK (contract §5)."""

import secrets
from collections.abc import Awaitable
from functools import cache
from typing import Protocol
from urllib.parse import urlsplit

import structlog
from asgiref.sync import sync_to_async
from django.conf import settings
from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse, StreamingHttpResponse
from django.views.decorators.csrf import csrf_exempt

from mcp_bridge.authenticate import caller_of
from mcp_bridge.errors import (
    INTERNAL_ERROR,
    UNSUPPORTED_PROTOCOL_VERSION,
    HttpRefusal,
    ProtocolRefusal,
    internal_shape,
    new_reference,
)
from mcp_bridge.message import Message, read_message
from mcp_bridge.stream import doorbell_stream
from switchboard.accounts.credentials import read_bearer
from switchboard.accounts.models import Endpoint
from switchboard.errors import RateLimited
from switchboard.ratelimit import take

log = structlog.get_logger(__name__)
HANDSHAKE_REVISIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
# It has no GET stream, so no doorbells; a client that is refused falls back to a handshake revision.
MODERN_REVISION = "2026-07-28"
CALLS_PER_MINUTE = 600
STREAMS_PER_MINUTE = 30


class Reply(Protocol):
    """What the bridge answers: an HTTP status, a body and its type."""

    @property
    def status(self) -> int: ...
    @property
    def body(self) -> bytes: ...
    @property
    def content_type(self) -> str | None: ...


class Bridge(Protocol):
    """How the view hands one message to the SDK."""

    def __call__(self, body: bytes, *, headers: dict[str, str], endpoint: Endpoint) -> Awaitable[Reply]: ...


@csrf_exempt
async def serve(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Answer one request to an endpoint's MCP server; nothing but its stream may be stored or cached by anybody."""
    try:
        response = await _respond(request, slug)
    except HttpRefusal as refusal:
        response = JsonResponse(refusal.body, status=refusal.status, headers=refusal.headers)
    except Exception:
        reference = new_reference()
        log.exception("mcp.failed", reference=reference)
        message = internal_shape(reference)["error"]["message"]
        response = JsonResponse(ProtocolRefusal(500, INTERNAL_ERROR, message).body, status=500)
    response.headers.setdefault("Cache-Control", "no-store")
    return response


@csrf_exempt
def not_here(request: HttpRequest, rest: str = "") -> JsonResponse:  # noqa: ARG001 - the route's signature
    """Tell a client that looks for sign-in metadata or self-registration that there is none: credentials are vended."""
    body = {
        "error": "not_found",
        "error_description": "There is no sign-in here: send the endpoint's credential as a bearer.",
    }
    return JsonResponse(body, status=404, headers={"Cache-Control": "no-store"})


async def _respond(request: HttpRequest, slug: str) -> HttpResponseBase:
    _check_origin(request.headers.get("Origin"))
    endpoint = await _authenticate(request, slug)
    if request.method == "GET" and not isinstance(request, WSGIRequest):
        return await _open_stream(request, endpoint)
    if request.method != "POST":
        # Only an asynchronous server can hold a stream open.
        allowed = "POST" if isinstance(request, WSGIRequest) else "GET, POST"
        body = _refusal_body("method_not_allowed", f"Use {allowed.replace(', ', ' or ')} here.")
        raise HttpRefusal(405, body, headers={"Allow": allowed})
    await _take(f"mcp-call:{endpoint.pk}", CALLS_PER_MINUTE)
    message = read_message(request)
    _check_revision(request, message.request_id)
    return await _pass_on(request, message, endpoint)


def _check_origin(origin: str | None) -> None:
    """Raise HttpRefusal for a page of another site: browsers send an Origin, agents send none."""
    if origin and _origin_of(origin) != _origin_of(settings.SWITCHBOARD_BASE_URL):
        raise HttpRefusal(403, _refusal_body("forbidden", "Requests from pages of another origin are refused."))


def _origin_of(url: str) -> tuple[str, str | None, int | None]:
    try:
        parts = urlsplit(url)
        port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    except ValueError:
        return "", None, None
    return parts.scheme, parts.hostname, port


async def _authenticate(request: HttpRequest, slug: str) -> Endpoint:
    endpoint = await sync_to_async(_caller)(request.headers.get("Authorization"))
    if endpoint is None:
        description = "Missing, unknown or revoked credential: send a live one as 'Authorization: Bearer sbk_…'."
        challenge = 'Bearer realm="switchboard", error="invalid_token"'
        raise HttpRefusal(401, _refusal_body("invalid_token", description), headers={"WWW-Authenticate": challenge})
    if endpoint.slug != slug:
        raise HttpRefusal(403, _refusal_body("forbidden", "This credential belongs to another endpoint's address."))
    return endpoint


def _caller(authorization: str | None) -> Endpoint | None:
    endpoint = caller_of(authorization)
    if endpoint is not None:
        load_bridge()  # here, in a thread: importing the SDK must not hold up the event loop
    return endpoint


def _refusal_body(error: str, description: str) -> dict[str, str]:
    return {"error": error, "error_description": description}


def _check_revision(request: HttpRequest, request_id: str | int | None = None) -> None:
    """Raise ProtocolRefusal for a protocol revision that this site does not speak."""
    requested = request.headers.get("MCP-Protocol-Version")
    modern = (MODERN_REVISION,) if settings.SWITCHBOARD_MCP_MODERN_ERA else ()
    supported = [*modern, *HANDSHAKE_REVISIONS]
    if requested and requested not in supported:
        raise ProtocolRefusal(
            400,
            UNSUPPORTED_PROTOCOL_VERSION,
            "Unsupported protocol version",
            request_id=request_id,
            data={"supported": supported, "requested": requested[:40]},
        )


async def _open_stream(request: HttpRequest, endpoint: Endpoint) -> StreamingHttpResponse:
    if not request.accepts("text/event-stream"):
        raise HttpRefusal(406, _refusal_body("not_acceptable", "The stream is text/event-stream; accept that."))
    _check_revision(request)
    await _take(f"mcp-stream:{endpoint.pk}", STREAMS_PER_MINUTE)
    credential = read_bearer(request.headers.get("Authorization")) or ""
    headers = {"Cache-Control": "no-cache, no-transform", "X-Accel-Buffering": "no"}
    stream = doorbell_stream(endpoint, credential)
    return StreamingHttpResponse(stream, content_type="text/event-stream", headers=headers)


async def _take(bucket: str, per_minute: int) -> None:
    """Raise HttpRefusal (429) when the endpoint has used up its requests of that kind."""
    try:
        await sync_to_async(take)(bucket, rate_per_minute=per_minute, burst=per_minute, strict=False)
    except RateLimited as refusal:
        seconds = refusal.extra["retry_after"]
        body = _refusal_body(refusal.code, f"Too many requests of this endpoint: try again in {seconds} s.")
        raise HttpRefusal(429, {**body, **refusal.extra}, headers={"Retry-After": str(seconds)}) from None


async def _pass_on(request: HttpRequest, message: Message, endpoint: Endpoint) -> HttpResponse:
    reply = await load_bridge()(message.body, headers=dict(request.headers), endpoint=endpoint)
    response = HttpResponse(reply.body, status=reply.status, content_type=reply.content_type)
    if message.method == "initialize" and reply.status == 200:
        # Nothing is kept under it; the Python client opens its stream only when it has one.
        response.headers["Mcp-Session-Id"] = secrets.token_hex(16)
    return response


@cache
def load_bridge() -> Bridge:
    """Return the bridge; the first call imports the SDK, which takes seconds that manage.py must not pay."""
    from mcp_bridge import server  # noqa: PLC0415

    return server.answer
