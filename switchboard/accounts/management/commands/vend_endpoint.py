"""Create an endpoint and print its credential this once."""

import re
from argparse import ArgumentTypeError
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.core.management.base import CommandParser
from django.db import transaction
from django.utils import timezone

from switchboard.accounts.humans import create_human, find_human
from switchboard.accounts.management.operator_command import OperatorCommand, split_names
from switchboard.accounts.models import Human
from switchboard.accounts.vend import vend_endpoint
from switchboard.errors import NotFound

UNITS = {"d": "days", "h": "hours", "m": "minutes"}
MAX_DURATION = timedelta(days=3650)


class Command(OperatorCommand):
    """vend_endpoint."""

    help = "Create an endpoint for an agent and print its credential, which is never shown again."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the endpoint's owner, name and scope."""
        super().add_arguments(parser)
        parser.add_argument("--human", required=True, help="user name of the owner")
        parser.add_argument("--create-human", action="store_true", help="create the owner when missing")
        parser.add_argument("--name", required=True)
        parser.add_argument("--queues", required=True, type=split_names, help="q1,q2")
        parser.add_argument("--verbs", default="basics", type=read_verbs_option, help="all, basics or v1,v2")
        parser.add_argument("--webhook-max", default=10, type=int)
        parser.add_argument("--webhook-source-types", type=split_names, help="github,gitea,… (default: every one)")
        parser.add_argument("--webhook-queues", type=split_names, help="q1,q2 (default: the endpoint's queues)")
        parser.add_argument("--expires-in", type=read_duration, help="30d, 12h or 45m (default: never)")

    def perform(self, **options: Any) -> Mapping[str, Any]:
        """Vend the endpoint; a human made for it stays only when that succeeds."""
        with transaction.atomic():
            vended = vend_endpoint(
                human=_owner(options["human"], create=options["create_human"]),
                name=options["name"],
                queues=options["queues"],
                verbs=options["verbs"],
                webhook_max=options["webhook_max"],
                webhook_source_types=options["webhook_source_types"],
                webhook_queues=options["webhook_queues"],
                expires_at=_moment(options["expires_in"]),
            )
        return {
            "endpoint_id": str(vended.endpoint.pk),
            "slug": vended.endpoint.slug,
            "mcp_url": vended.mcp_url,
            "credential": vended.credential,
            "mcp_json": vended.mcp_json,
        }

    def describe(self, result: Mapping[str, Any]) -> str:
        """Return what the operator hands to the agent."""
        return (
            f"Endpoint    {result['slug']} ({result['endpoint_id']})\n"
            f"MCP address {result['mcp_url']}\n"
            f"Credential  {result['credential']}\n"
            "The credential is shown this once. Send it as 'Authorization: Bearer …'; --json prints a .mcp.json."
        )


def read_verbs_option(text: str) -> list[str] | str:
    """Return "all", "basics", or the list of verbs that `text` names."""
    return text if text in {"all", "basics"} else split_names(text)


def read_duration(text: str) -> timedelta:
    """Return the duration that `30d`, `12h` or `45m` spells; raise ArgumentTypeError for anything else."""
    found = re.fullmatch(r"([1-9][0-9]{0,6})([dhm])", text)
    duration = timedelta(**{UNITS[found[2]]: int(found[1])}) if found else timedelta()
    if not timedelta() < duration <= MAX_DURATION:
        raise ArgumentTypeError("must be a duration such as 30d, 12h or 45m, at most 3650d")
    return duration


def _moment(duration: timedelta | None) -> datetime | None:
    return timezone.now() + duration if duration else None


def _owner(username: str, *, create: bool) -> Human:
    try:
        return find_human(username=username)
    except NotFound as error:
        if create:
            return create_human(username=username)
        raise NotFound(f"{error.message} Give --create-human to create them.") from None
