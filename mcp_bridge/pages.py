"""Pages of the agents' listings: shorter by default than people's, to spare a model's context."""

from collections.abc import Callable
from typing import Any, TypeVar

from django.db.models import Model, QuerySet

from mcp_bridge.tool import Arguments
from switchboard.paging import page

AGENTS_LIMIT = 20
Row = TypeVar("Row", bound=Model)


def listing(
    name: str, rows: QuerySet[Row], shape: Callable[[Row], dict[str, Any]], arguments: Arguments
) -> dict[str, Any]:
    """Return `{name: […], "next_cursor"}` for the page that `limit` and `cursor` of the arguments ask for."""
    found = page(rows, limit=arguments.get("limit"), cursor=arguments.get("cursor"), default=AGENTS_LIMIT)
    return {name: [shape(row) for row in found.rows], "next_cursor": found.next_cursor}
