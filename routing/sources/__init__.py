"""The producers that Switchboard knows: one small file of pure functions each, and this table."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Final, Literal, Protocol

from routing.sources import cairn, generic, gitea, github, slack, stripe
from routing.sources.description import Description
from routing.sources.request import SignedRequest
from switchboard.source_types import Source

__all__ = [
    "SIGNED",
    "SOURCES",
    "VENDOR_ISSUED_SECRET",
    "Source",
    "SourceModule",
    "TrustMode",
    "trust_mode_of",
]

TrustMode = Literal["signed", "token"]


class SourceModule(Protocol):
    """What a file of this package offers."""

    def verify(self, request: SignedRequest, *, secrets: Sequence[str], tolerance: timedelta) -> None:
        """Raise InvalidSignature, and nothing else, unless one of `secrets` (the live ones) signed this."""

    def delivery_id(self, request: SignedRequest) -> str | None:
        """Return the producer's id of the delivery; None: take a hash of the body."""

    def describe(self, kind: str | None, request: SignedRequest) -> Description:
        """Name the delivery for people; any JSON, or none, gives a description."""


SOURCES: Final[Mapping[Source, SourceModule]] = {
    Source.GITHUB: github,
    Source.GITEA: gitea,
    Source.SLACK: slack,
    Source.STRIPE: stripe,
    Source.CAIRN: cairn,
    Source.GENERIC: generic,
}

SIGNED: Final = frozenset(Source) - {Source.GENERIC}
# These two mint their signing secret themselves; the owner brings it.
VENDOR_ISSUED_SECRET: Final = frozenset({Source.SLACK, Source.STRIPE})


def trust_mode_of(source: Source) -> TrustMode:
    """Return `signed` for a source whose deliveries are verified, `token` where the URL is the secret."""
    return "signed" if source in SIGNED else "token"
