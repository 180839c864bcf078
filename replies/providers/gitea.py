"""Gitea and Forgejo: comment on an issue or pull request."""

from datetime import datetime
from typing import Final

from replies.providers.call import (
    Failed,
    Identity,
    Outcome,
    ProviderAnswer,
    ProviderCall,
    TextLimit,
    authorization,
    joined_url,
    json_body,
)
from replies.providers.forge import comments_url, read_comment, read_user
from replies.providers.reading import failure, unsuccessful
from switchboard.reply_address import ReplyAddress
from switchboard.sealing import Secret

# https://docs.gitea.com/api/: issueCreateComment documents no limit.
TEXT_LIMIT: TextLimit | None = None
_HEADERS: Final = {"Accept": "application/json"}


def build_reply(address: ReplyAddress, text: str, *, api_base: str, secret: Secret) -> ProviderCall:
    """Return the call that posts the comment: SPEC-0028 REQ-7."""
    headers = _headers(secret) | {"Content-Type": "application/json"}
    return ProviderCall("POST", comments_url(address, api_base=api_base), headers, json_body({"body": text}))


def read_reply(answer: ProviderAnswer, *, address: ReplyAddress, api_base: str, now: datetime) -> Outcome:
    """Return what became of the comment; `now` is an aware time.

    Some versions answer 500 for an issue that is not there, which cannot be told from a real failure.
    """
    if answer.succeeded:
        return read_comment(answer, address=address, api_base=api_base)
    return unsuccessful(answer, failure(answer, now=now))


def build_test(*, api_base: str, secret: Secret) -> ProviderCall:
    """Return the call that asks who the token is."""
    return ProviderCall("GET", joined_url(api_base, "user"), _headers(secret))


def read_test(answer: ProviderAnswer, *, account_key: str, now: datetime) -> Identity | Failed:  # noqa: ARG001 (the host is the account)
    """Return who the token is; a token without the scope read:user is `forbidden` here."""
    return read_user(answer, now=now) if answer.succeeded else failure(answer, now=now)


def _headers(secret: Secret) -> dict[str, str]:
    """https://docs.gitea.com/development/api-usage#authentication: the scheme is `token`."""
    return {"Authorization": authorization("token", secret), **_HEADERS}
