"""Deliveries go straight to their view: sessions, forms and page headers are nothing to a producer."""

from collections.abc import Awaitable, Callable
from typing import cast

from asgiref.sync import iscoroutinefunction, sync_to_async
from django.http import HttpRequest, HttpResponseBase
from django.urls import resolve
from django.utils.decorators import sync_and_async_middleware

from routing.views import ingest

DELIVERIES = "/webhooks/w/"
Answer = Callable[[HttpRequest], HttpResponseBase]
AsyncAnswer = Callable[[HttpRequest], Awaitable[HttpResponseBase]]


@sync_and_async_middleware
def deliveries_first(get_response: Answer | AsyncAnswer) -> Answer | AsyncAnswer:
    """Answer a POST to an ingest URL without the middleware behind this one; leave everything else to it."""
    if iscoroutinefunction(get_response):
        receive_async = sync_to_async(_receive, thread_sensitive=True)

        async def answer_async(request: HttpRequest) -> HttpResponseBase:
            if _is_delivery(request):
                return await receive_async(request)
            return await cast("AsyncAnswer", get_response)(request)

        return answer_async

    def answer(request: HttpRequest) -> HttpResponseBase:
        return _receive(request) if _is_delivery(request) else cast("Answer", get_response)(request)

    return answer


def _is_delivery(request: HttpRequest) -> bool:
    token = request.path_info.removeprefix(DELIVERIES).removesuffix("/")
    return request.method == "POST" and request.path_info.startswith(DELIVERIES) and token != "" and "/" not in token


def _receive(request: HttpRequest) -> HttpResponseBase:
    request.resolver_match = resolve(request.path_info)
    response = ingest(request, **request.resolver_match.kwargs)
    response.headers["Content-Length"] = str(len(response.content))
    return response
