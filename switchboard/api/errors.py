"""Turn whatever goes wrong in the operator API into one JSON shape: `{"error", "code", …}`."""

import secrets
from typing import Any

import structlog
from django.core.exceptions import PermissionDenied as DjangoPermissionDenied
from django.http import Http404
from rest_framework import exceptions
from rest_framework.response import Response

from switchboard.api.authentication import CHALLENGE
from switchboard.errors import (
    Forbidden,
    InvalidArgument,
    NotFound,
    RateLimited,
    SwitchboardError,
    Unauthenticated,
)

log = structlog.get_logger(__name__)


class MethodNotAllowed(SwitchboardError):
    code, status, sentence = "method_not_allowed", 405, "This path does not answer that method."


class UnsupportedMediaType(SwitchboardError):
    code, status = "unsupported_media_type", 415
    sentence = "Send the body as application/json, without a Content-Encoding."


_OURS: tuple[tuple[type[Exception], type[SwitchboardError]], ...] = (
    (Http404, NotFound),
    (exceptions.NotFound, NotFound),
    (DjangoPermissionDenied, Forbidden),
    (exceptions.PermissionDenied, Forbidden),
    (exceptions.NotAuthenticated, Unauthenticated),
    (exceptions.AuthenticationFailed, Unauthenticated),
    (exceptions.MethodNotAllowed, MethodNotAllowed),
    (exceptions.UnsupportedMediaType, UnsupportedMediaType),
    (exceptions.Throttled, RateLimited),
    (exceptions.ParseError, InvalidArgument),
    (exceptions.ValidationError, InvalidArgument),
    (exceptions.NotAcceptable, InvalidArgument),
)


def translate(error: Exception, context: dict[str, Any]) -> Response:
    """Return the answer for an error; an unexpected one is logged under the reference that the answer shows."""
    known = error if isinstance(error, SwitchboardError) else _translated(error)
    if known is None:
        return _internal(error, view=type(context.get("view")).__name__)
    return Response(error_body(known), status=known.status, headers=_headers(known))


def error_body(error: SwitchboardError) -> dict[str, Any]:
    """Return the JSON of an error: its sentence, its code and what else it carries."""
    return {"error": error.message, "code": error.code, **error.extra}


def _translated(error: Exception) -> SwitchboardError | None:
    for theirs, ours in _OURS:
        if isinstance(error, theirs):
            return ours()
    return None


def _internal(error: Exception, *, view: str) -> Response:
    reference = structlog.contextvars.get_contextvars().get("request_id") or secrets.token_hex(8)
    log.error("api.failed", reference=reference, view=view, exc_info=error)
    return Response({**error_body(SwitchboardError()), "reference": reference}, status=SwitchboardError.status)


def _headers(error: SwitchboardError) -> dict[str, str]:
    if error.status == Unauthenticated.status:
        return {"WWW-Authenticate": CHALLENGE}
    if "retry_after" in error.extra:
        return {"Retry-After": str(error.extra["retry_after"])}
    return {}
