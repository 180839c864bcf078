"""Derive from a verified body where an answer goes: one small file a source, and this table."""

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from routing.address import cairn, gitea, github, slack
from routing.document import Document
from switchboard.reply_address import ReplyAddress
from switchboard.source_types import Source

Derivation: TypeAlias = Callable[[Document], ReplyAddress | None]

# None: there is nobody to answer. A payment is no conversation, and a generic delivery is not verified.
DERIVATIONS: Final[Mapping[Source, Derivation | None]] = {
    Source.GITHUB: github.derive,
    Source.GITEA: gitea.derive,
    Source.SLACK: slack.derive,
    Source.CAIRN: cairn.derive,
    Source.STRIPE: None,
    Source.GENERIC: None,
}


def derive_address(source: Source, document: Document) -> ReplyAddress | None:
    """Return where an answer to this delivery goes, None where there is no address: SPEC-0028 REQ-1.

    Call it for a delivery that its source's signing scheme verified, and for no other. It reads the body
    alone, since no header is signed: what happened is told by the body's shape. A field that is not exactly
    what it must be gives no address, never a repaired one.
    """
    derive = DERIVATIONS[source]
    return derive(document) if derive else None
