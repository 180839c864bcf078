"""Describe the operator API's calls in its OpenAPI document."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema, inline_serializer
from rest_framework import serializers

from switchboard.api.parsing import Nothing

View = TypeVar("View", bound=Callable[..., Any])
LIST_PARAMETERS = {"limit": "1 to 200, 50 by default", "cursor": "the next_cursor of the page before"}


class Problem(serializers.Serializer[Any]):
    """Every refusal: a sentence for people and a stable code; some codes carry more."""

    error = serializers.CharField()
    code = serializers.CharField()
    field = serializers.CharField(required=False, help_text="The argument that was refused.")
    rule = serializers.JSONField(required=False, help_text="The refused rule: {index, id, name}.")
    position = serializers.DictField(required=False, help_text="Where in the expression: {line, column, offset}.")
    version = serializers.IntegerField(required=False, help_text="The present version of the rules.")
    retry_after = serializers.IntegerField(required=False, help_text="Seconds to wait.")
    reference = serializers.CharField(required=False, help_text="What to tell your operator.")


_ERRORS = {
    400: "An argument, rule or body is malformed.",
    401: "No live API token was sent.",
    403: "The token or the endpoint may not do that.",
    404: "Unknown, malformed or out of reach.",
    409: "In conflict with the present state.",
    413: "The body is too large.",
    429: "Too many calls; Retry-After says how long to wait.",
}


class ApiTokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How the document describes the API token."""

    target_class = "switchboard.api.authentication.ApiTokenAuthentication"
    name = "apiToken"

    def get_security_definition(self, auto_schema: object) -> dict[str, Any]:  # noqa: ARG002
        """Return the security scheme object."""
        return {"type": "http", "scheme": "bearer", "description": "An API token, `sb_…`."}


def operation(
    name: str,
    summary: str,
    *,
    body: type[serializers.Serializer[Any]] | None = None,
    answer: Any = None,
    status: int = 200,
    query: Mapping[str, str] | None = None,
    listing: bool = False,
) -> Callable[[View], View]:
    """Return the decorator that documents one method of a view.

    `name` is the operation's id; `query` its parameters with their meaning, to which `listing` adds those of a
    page; `answer` the serializer of its answer, None for an empty one.
    """
    parameters = {**(query or {}), **(LIST_PARAMETERS if listing else {})}
    good = answer or OpenApiResponse(description="Done; no body.")
    failures = {code: OpenApiResponse(Problem, description=text) for code, text in _ERRORS.items()}
    return extend_schema(
        operation_id=name,
        summary=summary,
        description=f"{summary}.",
        request=body if body is not Nothing else None,
        parameters=[
            OpenApiParameter(parameter, str, OpenApiParameter.QUERY, description=text)
            for parameter, text in parameters.items()
        ],
        responses={status: good, **failures},
    )


def page_of(plural: str, row: type[serializers.Serializer[Any]]) -> serializers.Serializer[Any]:
    """Return the shape of a list's page."""
    fields: dict[str, Any] = {
        plural: row(many=True),
        "next_cursor": serializers.CharField(allow_null=True, help_text="Null on the last page."),
    }
    return inline_serializer(name=f"{plural.capitalize()}Page", fields=fields)
