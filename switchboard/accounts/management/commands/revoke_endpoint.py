"""Revoke an endpoint for good."""

from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandParser

from switchboard.accounts.management.operator_command import OperatorCommand
from switchboard.accounts.reach import Principal
from switchboard.accounts.vend import revoke_endpoint
from switchboard.errors import NotFound
from switchboard.text import one_line, storable
from switchboard.times import rfc3339


class Command(OperatorCommand):
    """revoke_endpoint."""

    help = "Revoke an endpoint: its credential, webhooks and routes stop at once, for good."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the endpoint's slug."""
        super().add_arguments(parser)
        parser.add_argument("slug", help="the endpoint's slug or id")

    def perform(self, **options: Any) -> Mapping[str, Any]:
        """Revoke it; who runs a command on the host reaches every endpoint."""
        try:
            endpoint = revoke_endpoint(principal=Principal(unrestricted=True), ref=str(storable(options["slug"])))
        except NotFound:
            raise NotFound(f"There is no endpoint {one_line(options['slug'], limit=80)}.") from None
        return {
            "endpoint_id": str(endpoint.pk),
            "slug": endpoint.slug,
            "revoked_at": rfc3339(endpoint.revoked_at),
        }

    def describe(self, result: Mapping[str, Any]) -> str:
        """Return one sentence."""
        return f"Endpoint {result['slug']} is revoked since {result['revoked_at']}."
