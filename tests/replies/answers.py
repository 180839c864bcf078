"""Frozen answers of providers, and what the tests of all providers share."""

import json
from datetime import UTC, datetime

from replies.providers.call import ProviderAnswer
from switchboard.reply_address import CairnComment, ForgeComment, Provider, SlackThread
from switchboard.sealing import Secret

NOW = datetime(2026, 9, 22, 12, 0, 0, tzinfo=UTC)
TOKEN = "a-token-that-must-not-be-seen"
SECRET = Secret(TOKEN)
TEXT = 'Picked this up: <b>"naïve" & \\ 🚀</b>\nSee https://example.com'

ISSUE = ForgeComment(Provider.GITHUB, "github.com", "acme/widgets", 7)
PULL_REQUEST = ForgeComment(Provider.GITEA, "git.example.net:8443", "stump.wtf/switchboard", 482)
THREAD = SlackThread("T0123", "C0123", "1726980000.000200")
ARTIFACT = CairnComment("https://cairn.example.com", "4kQ9zTbX")


def answer(value: object, *, status: int = 200, **headers: str) -> ProviderAnswer:
    """Return a JSON answer; a keyword `retry_after="20"` is the header `retry-after`."""
    return raw(json.dumps(value).encode(), status=status, **headers)


def raw(body: bytes, *, status: int = 200, **headers: str) -> ProviderAnswer:
    """Return an answer of these bytes."""
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return ProviderAnswer(status=status, headers=names, body=body)
