"""What answers when no view does: JSON to programs, a plain page to browsers, and nothing about the inside."""

from http import HTTPStatus

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

SENTENCES = {
    HTTPStatus.BAD_REQUEST: ("invalid_argument", "The request is malformed."),
    HTTPStatus.FORBIDDEN: ("forbidden", "That is not allowed."),
    HTTPStatus.NOT_FOUND: ("not_found", "There is nothing at this address."),
    HTTPStatus.INTERNAL_SERVER_ERROR: (
        "internal",
        "Switchboard failed on its side. Try again, then tell your operator.",
    ),
}


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:  # noqa: ARG001
    """Answer 400, also for a Host that is not ours."""
    return _answer(request, HTTPStatus.BAD_REQUEST)


def permission_denied(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:  # noqa: ARG001
    """Answer 403."""
    return _answer(request, HTTPStatus.FORBIDDEN)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:  # noqa: ARG001
    """Answer 403 to a form that did not come from our own page."""
    return _answer(request, HTTPStatus.FORBIDDEN)


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:  # noqa: ARG001
    """Answer 404."""
    return _answer(request, HTTPStatus.NOT_FOUND)


def no_such_page(request: HttpRequest, **_: str) -> HttpResponse:
    """Answer 404 where Django's admin would look for a page of its own: its records have none."""
    return _answer(request, HTTPStatus.NOT_FOUND)


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer 500."""
    return _answer(request, HTTPStatus.INTERNAL_SERVER_ERROR)


def _answer(request: HttpRequest, status: HTTPStatus) -> HttpResponse:
    code, sentence = SENTENCES[status]
    if "text/html" in request.headers.get("Accept", ""):
        return render(request, "error.html", {"sentence": sentence, "title": status.phrase}, status=status)
    return JsonResponse({"error": sentence, "code": code}, status=status)
