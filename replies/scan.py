"""Look for secrets in a text before it is posted (SPEC-0028 REQ-12)."""

import re
import threading
from collections.abc import Mapping
from functools import cache
from typing import Final

from django.conf import settings
from kingfisher_sdk import Rules, Scanner

# The shape that `sealing.mint_token` gives, and the addresses that are secrets by themselves.
_MINTED = r"(?<![A-Za-z0-9_-]){prefix}[A-Za-z0-9_-]{{43}}(?![A-Za-z0-9_-])"
OURS: Final[Mapping[str, re.Pattern[str]]] = {
    "switchboard.endpoint-credential": re.compile(_MINTED.format(prefix="sbk_")),
    "switchboard.api-token": re.compile(_MINTED.format(prefix="sb_")),
    "switchboard.lease-token": re.compile(_MINTED.format(prefix="lt_")),
    "switchboard.signing-secret": re.compile(r"(?<![A-Za-z0-9_-])whsec_[A-Za-z0-9+/=_-]{16,}"),
    "switchboard.ingest-url": re.compile(r"/webhooks/w/[A-Za-z0-9_-]{43}"),
}
_loading = threading.Lock()


def scan(text: str) -> list[str]:
    """Return the ids of the rules that match, each once: our own ones, then the scanner's in the order of the text.

    Never a part of the text.
    """
    ours = [rule for rule, pattern in OURS.items() if pattern.search(text)]
    found = [finding.rule_id for finding in load_rules().scan(text) if finding.visible]
    return list(dict.fromkeys([*ours, *found]))


def load_rules() -> Scanner:
    """Return the scanner; a process's first call takes 0.3 s, or 3 to 4 s while its rules are not compiled yet."""
    with _loading:
        return _scanner()


@cache
def _scanner() -> Scanner:
    """Return this process's scanner, whose compiled rules are kept in var/; it calls nobody."""
    rules = Rules(confidence="medium", cache_dir=settings.BASE_DIR / "var" / "secret-rules")
    return Scanner(rules, base64=False, redact=True)
