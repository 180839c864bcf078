"""Rule packs: rule lists shipped with Switchboard under docs/routing/rule-packs/, and how one is installed."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings

from routing.configure import set_rules
from switchboard.accounts.reach import Principal
from switchboard.errors import NotFound
from switchboard.text import one_line

FOLDER = Path("docs", "routing", "rule-packs")


@dataclass(frozen=True)
class PackParam:
    """One param that a pack's rules read; `example` is a JSON value of the right shape."""

    description: str
    example: Any


@dataclass(frozen=True)
class Pack:
    """A shipped rule list; `queues` are those that its actions name and the webhook must be granted."""

    name: str
    title: str
    description: str
    params: Mapping[str, PackParam]
    queues: tuple[str, ...]
    rules: tuple[Mapping[str, Any], ...]
    default_action: Mapping[str, Any] | None


def list_packs() -> list[Pack]:
    """Return the shipped packs by name."""
    return [_read_pack(path) for path in _paths().values()]


def load_pack(name: str) -> Pack:
    """Return the pack of that name; raise NotFound naming those that there are."""
    paths = _paths()
    if name not in paths:
        known = ", ".join(paths)
        raise NotFound(f"There is no rule pack {one_line(name, limit=40)}; there are: {known}.")
    return _read_pack(paths[name])


def install_pack(
    *,
    principal: Principal,
    webhook_id: str,
    name: str,
    params: Mapping[str, Any] | None,
    version: object = None,
) -> dict[str, Any]:
    """Replace the webhook's rules, default and params by the pack's rules and default and by `params`.

    Returns the rules result. Without `params` the stored ones are cleared, and the pack's allowlists admit nothing.
    Raises NotFound for an unknown pack, and whatever `set_rules` raises: NotGranted, naming the rule, when the
    webhook may not use a queue of the pack.
    """
    pack = load_pack(name)
    return set_rules(
        principal=principal,
        webhook_id=webhook_id,
        rules=list(pack.rules),
        default_action=pack.default_action,
        params=params,
        version=version,
    )


def _paths() -> dict[str, Path]:
    return {path.stem: path for path in sorted((settings.BASE_DIR / FOLDER).glob("*.json"))}


def _read_pack(path: Path) -> Pack:
    content = json.loads(path.read_bytes())
    return Pack(
        name=content["name"],
        title=content["title"],
        description=content["description"],
        params={name: PackParam(**param) for name, param in content["params"].items()},
        queues=tuple(content["queues"]),
        rules=tuple(content["rules"]),
        default_action=content.get("default_action"),
    )
