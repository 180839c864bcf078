"""Answer what no route of the operator API matches: a path with or without its slash as itself, the rest as 404."""

from django.http import HttpRequest, HttpResponseBase, JsonResponse
from django.urls import Resolver404, ResolverMatch, resolve
from django.views.decorators.csrf import csrf_exempt

from switchboard.api.errors import error_body
from switchboard.errors import NotFound


@csrf_exempt
def answer_other_spelling(request: HttpRequest) -> HttpResponseBase:
    """Answer as the path does that differs in its final slash, without a redirect that would lose a body."""
    path = request.path_info
    match = _resolved(path[:-1] if path.endswith("/") else f"{path}/")
    if match is None or match.func is answer_other_spelling:
        body = error_body(NotFound("There is nothing at this path."))
        return JsonResponse(body, status=NotFound.status, headers={"Cache-Control": "no-store"})
    request.resolver_match = match
    answer: HttpResponseBase = match.func(request, *match.args, **match.kwargs)
    return answer


def _resolved(path: str) -> ResolverMatch | None:
    try:
        return resolve(path)
    except Resolver404:
        return None
