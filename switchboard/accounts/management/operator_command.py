"""What the operator's commands share: `--json`, one sentence for each refusal, and nothing printed twice."""

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from switchboard.errors import SwitchboardError


class OperatorCommand(BaseCommand, ABC):
    """A command whose `perform` returns a JSON object that is printed as such, or as `describe` words it."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Add `--json`."""
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, **options: Any) -> None:
        """Perform and print; a refusal becomes a CommandError with its sentence."""
        try:
            result = self.perform(**options)
        except SwitchboardError as error:
            raise CommandError(error.message) from None
        self.stdout.write(json.dumps(result, indent=2) if options["json"] else self.describe(result))
        self.conclude(result)

    @abstractmethod
    def perform(self, **options: Any) -> Mapping[str, Any]:
        """Call the use case and return what to print."""

    @abstractmethod
    def describe(self, result: Mapping[str, Any]) -> str:
        """Return the result in words, a line a thing."""

    def conclude(self, result: Mapping[str, Any]) -> None:
        """Raise CommandError when the printed result is a failure."""


def split_names(text: str) -> list[str]:
    """Return the names of a comma-separated list."""
    return [name.strip() for name in text.split(",") if name.strip()]
