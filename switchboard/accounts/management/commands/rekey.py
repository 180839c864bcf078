"""Re-seal every stored secret under the current encryption key."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandError

from switchboard.accounts.management.operator_command import OperatorCommand
from switchboard.accounts.rekey import rekey


class Command(OperatorCommand):
    """rekey."""

    help = "Re-seal every stored secret under SWITCHBOARD_SECRET_ENCRYPTION_KEY, reading with the previous keys too."

    def perform(self, **options: Any) -> Mapping[str, Any]:  # noqa: ARG002 - it takes none
        """Re-seal everything and count."""
        return asdict(rekey())

    def describe(self, result: Mapping[str, Any]) -> str:
        """Return the counts in words."""
        return (
            f"{result['resealed']} secrets are sealed under the current key.\n"
            f"{result['unopened']} secrets could not be opened with any configured key.\n"
            f"{result['busy']} secrets kept changing meanwhile."
        )

    def conclude(self, result: Mapping[str, Any]) -> None:
        """Fail when a secret is left under another key than the current one."""
        if result["unopened"]:
            raise CommandError(
                "Some secrets open with no configured key: add the key that sealed them to "
                "SWITCHBOARD_SECRET_ENCRYPTION_KEY_PREVIOUS and run rekey again, or set those secrets anew."
            )
        if result["busy"]:
            raise CommandError("Some secrets kept changing meanwhile; run rekey again.")
