"""GitHub: comment on an issue or pull request."""

from datetime import datetime
from typing import Final

from replies.providers.call import (
    ErrorClass,
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
from replies.providers.reading import clamped, failure, json_object, name_at, unsuccessful
from switchboard.object_ids import numbered_id
from switchboard.reply_address import ReplyAddress
from switchboard.sealing import Secret

# "Body is too long (maximum is 65536 characters)": the answer of
# https://docs.github.com/rest/issues/comments#create-an-issue-comment
TEXT_LIMIT: TextLimit | None = TextLimit(65_536, "characters")
# https://docs.github.com/rest/about-the-rest-api/api-versions
_HEADERS: Final = {
    "Accept": "application/vnd.github+json",
    "X-GitHub-Api-Version": "2022-11-28",
}
# https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api
_THROTTLED: Final = ("rate limit", "abuse detection", "please wait a few minutes before you try again")
# An App's installation has no user to show. The refusal still proves that its token is alive.
_NO_USER: Final = "Resource not accessible by integration"


def build_reply(address: ReplyAddress, text: str, *, api_base: str, secret: Secret) -> ProviderCall:
    """Return the call that posts the comment: SPEC-0028 REQ-7."""
    headers = _headers(secret) | {"Content-Type": "application/json"}
    return ProviderCall("POST", comments_url(address, api_base=api_base), headers, json_body({"body": text}))


def read_reply(answer: ProviderAnswer, *, address: ReplyAddress, api_base: str, now: datetime) -> Outcome:
    """Return what became of the comment; `now` is an aware time."""
    if answer.succeeded:
        return read_comment(answer, address=address, api_base=api_base)
    return unsuccessful(answer, _failure(answer, now=now))


def build_test(*, api_base: str, secret: Secret) -> ProviderCall:
    """Return the call that asks who the token is."""
    return ProviderCall("GET", joined_url(api_base, "user"), _headers(secret))


def read_test(answer: ProviderAnswer, *, account_key: str, now: datetime) -> Identity | Failed:  # noqa: ARG001 (the host is the account)
    """Return who the token is; an installation's token is alive without a login."""
    if answer.succeeded:
        return read_user(answer, now=now)
    if answer.status == 403 and name_at(json_object(answer), "message") == _NO_USER:
        return Identity()
    return _failure(answer, now=now)


def _headers(secret: Secret) -> dict[str, str]:
    return {"Authorization": authorization("Bearer", secret), **_HEADERS}


def _failure(answer: ProviderAnswer, *, now: datetime) -> Failed:
    if answer.status not in {403, 429} or not _is_throttled(answer):
        return failure(answer, now=now)
    failed = failure(answer, now=now, error_class=ErrorClass.RATE_LIMITED)
    return (
        failed if failed.retry_after is not None else Failed(failed.error_class, failed.code, _until_reset(answer, now))
    )


def _is_throttled(answer: ProviderAnswer) -> bool:
    message = json_object(answer).get("message")
    said = message.lower() if isinstance(message, str) else ""
    return (
        answer.status == 429
        or _is_spent(answer)
        or "retry-after" in answer.headers
        or any(phrase in said for phrase in _THROTTLED)
    )


def _is_spent(answer: ProviderAnswer) -> bool:
    return answer.headers.get("x-ratelimit-remaining") == "0"


def _until_reset(answer: ProviderAnswer, now: datetime) -> int | None:
    reset = numbered_id(answer.headers.get("x-ratelimit-reset"))
    return clamped(int(reset) - now.timestamp()) if reset and _is_spent(answer) else None
