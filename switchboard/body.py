"""Read a request's body as sent, bounded, and whole or not at all."""

from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpRequest

from switchboard.errors import InvalidArgument, TooLarge


def read_body(request: HttpRequest, *, max_bytes: int) -> bytes:
    """Return the body's bytes; raise TooLarge past `max_bytes`, InvalidArgument when it is cut short or malformed.

    A chunked body states no length, and Django would read none of it under WSGI.
    """
    stated = _stated_length(request)
    if stated is not None and stated > max_bytes:
        raise TooLarge(_too_large(max_bytes))
    chunked = "chunked" in request.headers.get("Transfer-Encoding", "").lower()
    stream = request.environ["wsgi.input"] if chunked and isinstance(request, WSGIRequest) else request
    try:
        body = bytes(stream.read(max_bytes + 1))
    except Exception:
        raise InvalidArgument("The body ended early or is malformed.") from None
    if len(body) > max_bytes:
        raise TooLarge(_too_large(max_bytes))
    if stated is not None and not chunked and len(body) < stated:
        raise InvalidArgument("The body ended early or is malformed.")
    return body


def _stated_length(request: HttpRequest) -> int | None:
    length = request.headers.get("Content-Length", "")
    if not (length.isascii() and length.isdigit()):
        return None
    return int(length) if len(length) <= 18 else 10**18


def _too_large(max_bytes: int) -> str:
    return f"The body may have at most {max_bytes // (1024 * 1024)} MiB."
