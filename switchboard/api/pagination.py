"""Answer a list of the operator API: `{"<plural>": […], "next_cursor"}` with `limit` and `cursor`."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from django.db.models import Model, QuerySet
from rest_framework.response import Response

from switchboard.paging import page

PAGE_PARAMETERS = frozenset({"limit", "cursor"})
Row = TypeVar("Row", bound=Model)


def paged(
    rows: QuerySet[Row], *, plural: str, shape: Callable[[Row], dict[str, Any]], query: Mapping[str, str]
) -> Response:
    """Return the page that `query` asks for; raise InvalidArgument for a malformed `limit` or `cursor`."""
    found = page(rows, limit=query.get("limit"), cursor=query.get("cursor"))
    return Response({plural: [shape(row) for row in found.rows], "next_cursor": found.next_cursor})


def without_paging(query: Mapping[str, str]) -> dict[str, str]:
    """Return the query's filters: everything but `limit` and `cursor`."""
    return {name: value for name, value in query.items() if name not in PAGE_PARAMETERS}
