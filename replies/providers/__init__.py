"""The providers that can be answered: one small file of pure functions each, and this table."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final, Protocol

from replies.providers import cairn, gitea, github, slack
from replies.providers.call import Failed, Identity, Outcome, ProviderAnswer, ProviderCall, TextLimit
from switchboard.reply_address import Provider, ReplyAddress
from switchboard.sealing import Secret


class ProviderModule(Protocol):
    """What a file of this package offers: it builds calls and reads answers, and performs nothing."""

    # None: the provider documents no limit.
    TEXT_LIMIT: TextLimit | None

    def build_reply(self, address: ReplyAddress, text: str, *, api_base: str, secret: Secret) -> ProviderCall:
        """Return the one call that posts `text` as it is; raise UnusableSecret when no header can hold the secret."""

    def read_reply(self, answer: ProviderAnswer, *, address: ReplyAddress, api_base: str, now: datetime) -> Outcome:
        """Return what became of the reply, whatever the answer holds; nothing is raised."""

    def build_test(self, *, api_base: str, secret: Secret) -> ProviderCall:
        """Return one harmless authenticated read; raise UnusableSecret when no header can hold the secret."""

    def read_test(self, answer: ProviderAnswer, *, account_key: str, now: datetime) -> Identity | Failed:
        """Return whose credential it is, or why it does not serve the account; nothing is raised."""


PROVIDERS: Final[Mapping[Provider, ProviderModule]] = {
    Provider.GITHUB: github,
    Provider.GITEA: gitea,
    Provider.SLACK: slack,
    Provider.CAIRN: cairn,
}
