"""Create a bearer for the operator API and print it this once."""

from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandParser

from switchboard.accounts.credentials import TOKEN_SCOPES, create_api_token
from switchboard.accounts.humans import find_human
from switchboard.accounts.management.operator_command import OperatorCommand, split_names


class Command(OperatorCommand):
    """create_api_token."""

    help = "Create a token for the operator API and print it; it is never shown again."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the token's holder, scopes and name."""
        super().add_arguments(parser)
        parser.add_argument("--human", required=True, help="user name of the holder")
        parser.add_argument("--scopes", default=list(TOKEN_SCOPES), type=split_names, help="read,write")
        parser.add_argument("--name", default="", help="a word to recognise it by")

    def perform(self, **options: Any) -> Mapping[str, Any]:
        """Create the token."""
        human = find_human(username=options["human"])
        return {"token": create_api_token(human=human, name=options["name"], scopes=options["scopes"]).token}

    def describe(self, result: Mapping[str, Any]) -> str:
        """Return the token and how to send it."""
        return f"{result['token']}\nThe token is shown this once. Send it as 'Authorization: Bearer …' to /api/v1/."
