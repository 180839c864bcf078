"""What the operator API's views share: a limit for each human, JSON whatever is asked for, no cache, strict queries."""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, cast

from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from switchboard.accounts.models import ApiToken, Human
from switchboard.accounts.reach import Principal
from switchboard.api.parsing import read_query
from switchboard.ratelimit import take

CALLS_PER_MINUTE = 300
CALLS_AT_ONCE = 100


class FirstRenderer(BaseContentNegotiation):
    """Answer in the view's one format, whatever `Accept` says."""

    def select_parser(self, request: Request, parsers: Iterable[BaseParser]) -> BaseParser:  # noqa: ARG002
        """Return the first parser."""
        return next(iter(parsers))

    def select_renderer(
        self,
        request: Request,  # noqa: ARG002
        renderers: Iterable[BaseRenderer],
        format_suffix: str | None = None,  # noqa: ARG002
    ) -> tuple[BaseRenderer, str]:
        """Return the first renderer and its media type."""
        first = next(iter(renderers))
        return first, first.media_type


class AsciiJsonRenderer(JSONRenderer):
    """JSON in ASCII: half of a surrogate pair that a producer sent is shown as its escape, never a failure."""

    ensure_ascii = True


class ApiView(APIView):
    """A view whose `query_parameters` names what each method takes; `self.query` holds what was given."""

    renderer_classes = [AsciiJsonRenderer]
    content_negotiation_class = FirstRenderer
    metadata_class = None
    query_parameters: ClassVar[Mapping[str, frozenset[str]]] = {}
    query: dict[str, str]

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Authenticate, check the scope, take one call of the allowance, then read the query."""
        super().initial(request, *args, **kwargs)
        method = "GET" if request.method == "HEAD" else str(request.method)
        self.query = read_query(request, allowed=self.query_parameters.get(method, frozenset()))

    def check_throttles(self, request: Request) -> None:
        """Take one call of the human's own allowance, which all routes and tokens share; raise RateLimited."""
        take(
            f"operator-api:{human_of(request).pk}",
            rate_per_minute=CALLS_PER_MINUTE,
            burst=CALLS_AT_ONCE,
            strict=False,
        )

    def finalize_response(self, request: Request, response: Response, *args: Any, **kwargs: Any) -> Response:
        """Forbid every cache to keep the answer."""
        final = super().finalize_response(request, response, *args, **kwargs)
        final.headers["Cache-Control"] = "no-store"
        return final


def human_of(request: Request) -> Human:
    """Return the human who calls."""
    return cast("Human", request.user)


def token_of(request: Request) -> ApiToken:
    """Return the token that the caller holds."""
    return cast("ApiToken", request.auth)


def reach_of(request: Request) -> Principal:
    """Return what the caller reaches."""
    return Principal.of_human(human_of(request))
