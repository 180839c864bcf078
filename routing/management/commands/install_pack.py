"""Install a shipped rule pack on a webhook."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from routing.packs import install_pack, list_packs
from switchboard.accounts.management.operator_command import OperatorCommand
from switchboard.accounts.reach import Principal
from switchboard.errors import InvalidParams, NotFound
from switchboard.text import one_line


class Command(OperatorCommand):
    """install_pack."""

    help = "Replace a webhook's rules, default and params by those of a rule pack (docs/routing/rule-packs/)."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the pack, the webhook and the params."""
        super().add_arguments(parser)
        parser.add_argument("pack", choices=[pack.name for pack in list_packs()])
        parser.add_argument("--webhook", required=True, metavar="ID", help="the webhook's id")
        parser.add_argument("--params", type=Path, metavar="FILE", help="a JSON object; without it params are cleared")

    def perform(self, **options: Any) -> Mapping[str, Any]:
        """Install it; who runs a command on the host reaches every webhook."""
        params = None if options["params"] is None else _read_params(options["params"])
        webhook_id, operator = options["webhook"], Principal(unrestricted=True)
        try:
            return install_pack(principal=operator, webhook_id=webhook_id, name=options["pack"], params=params)
        except NotFound:
            raise NotFound(f"There is no webhook {one_line(webhook_id, limit=80)}.") from None

    def describe(self, result: Mapping[str, Any]) -> str:
        """Return what is in force now, and the warnings."""
        params = ", ".join(result["params"]) or "none: the pack's allowlists admit nothing"
        installed = f"Webhook {result['webhook_id']} has {len(result['rules'])} rules (version {result['version']})."
        return "\n".join([installed, f"Params: {params}.", *result.get("warnings", [])])


def _read_params(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except OSError as error:
        raise InvalidParams(f"The params file {path} cannot be read: {error.strerror}.") from None
    except (ValueError, RecursionError):
        raise InvalidParams(f"The params file {path} is not JSON.") from None
