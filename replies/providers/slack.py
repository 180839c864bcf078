"""Slack: post a message in a thread."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from replies.providers.call import (
    ErrorClass,
    Failed,
    Identity,
    Outcome,
    Posted,
    ProviderAnswer,
    ProviderCall,
    TextLimit,
    Unclear,
    authorization,
    joined_url,
    json_body,
)
from replies.providers.reading import (
    NO_OBJECT_ID,
    UNREADABLE,
    class_of,
    code_at,
    failure,
    json_object,
    member,
    unsuccessful,
)
from switchboard.object_ids import is_slack_id, slack_message_id
from switchboard.reply_address import ReplyAddress, SlackThread
from switchboard.sealing import Secret

# https://docs.slack.dev/reference/methods/chat.postMessage: a longer text is truncated.
TEXT_LIMIT: TextLimit | None = TextLimit(40_000, "characters")
# The same page's table of errors; a code that is not here is `invalid`.
_CODES: Final[Mapping[ErrorClass, str]] = {
    ErrorClass.AUTH: "not_authed invalid_auth account_inactive token_revoked token_expired",
    ErrorClass.NOT_FOUND: "channel_not_found thread_not_found message_not_found user_not_found",
    ErrorClass.FORBIDDEN: (
        "not_in_channel is_archived missing_scope no_permission not_allowed_token_type access_denied accesslimited "
        "ekm_access_denied restricted_action restricted_action_read_only_channel "
        "restricted_action_thread_only_channel restricted_action_non_threadable_channel cannot_reply_to_message "
        "enterprise_is_restricted team_access_not_granted"
    ),
    ErrorClass.RATE_LIMITED: "ratelimited rate_limited message_limit_exceeded",
    ErrorClass.SERVER: (
        "internal_error fatal_error service_unavailable team_added_to_org org_login_required request_timeout"
    ),
}
_CLASSES: Final = {code: error_class for error_class, codes in _CODES.items() for code in codes.split()}
# "It's possible some aspect of the operation succeeded before the error was raised."
_MAY_HAVE_POSTED: Final = frozenset({"internal_error", "fatal_error"})


def build_reply(address: ReplyAddress, text: str, *, api_base: str, secret: Secret) -> ProviderCall:
    """Return the call that posts the message: SPEC-0028 REQ-7."""
    if not isinstance(address, SlackThread):
        raise TypeError("Slack answers in threads only")
    body = {"channel": address.channel, "thread_ts": address.thread_ts, "text": text}
    return ProviderCall("POST", joined_url(api_base, "chat.postMessage"), _headers(secret), json_body(body))


def read_reply(answer: ProviderAnswer, *, address: ReplyAddress, api_base: str, now: datetime) -> Outcome:  # noqa: ARG001 (Slack names no page)
    """Return what became of the message; `now` is an aware time. A 200 alone says nothing: `ok` does."""
    body = json_object(answer)
    if answer.succeeded and body.get("ok") is True:
        return _posted(body, address)
    code = code_at(body, "error")
    if answer.succeeded and (body.get("ok") is not False or code in _MAY_HAVE_POSTED):
        return Unclear(ErrorClass.SERVER, code or UNREADABLE)
    failed = _failure(answer, body, now=now)
    return failed if answer.succeeded else unsuccessful(answer, failed)


def build_test(*, api_base: str, secret: Secret) -> ProviderCall:
    """Return the call that asks who the token is. https://docs.slack.dev/reference/methods/auth.test"""
    return ProviderCall("POST", joined_url(api_base, "auth.test"), _headers(secret), json_body({}))


def read_test(answer: ProviderAnswer, *, account_key: str, now: datetime) -> Identity | Failed:
    """Return who the token is; a token of another team than `account_key` is `invalid`, code `other_team`."""
    body = json_object(answer)
    if answer.succeeded and not isinstance(body.get("ok"), bool):
        return failure(answer, now=now, error_class=ErrorClass.SERVER, code=UNREADABLE)
    if not answer.succeeded or body.get("ok") is False:
        return _failure(answer, body, now=now)
    if body.get("team_id") != account_key:
        return failure(answer, now=now, error_class=ErrorClass.INVALID, code="other_team")
    return Identity(login=_id_at(body, "user_id"), bot_id=_id_at(body, "bot_id"), account=account_key)


def _headers(secret: Secret) -> dict[str, str]:
    return {
        "Authorization": authorization("Bearer", secret),
        "Content-Type": "application/json; charset=utf-8",
        "Accept": "application/json",
    }


def _posted(body: dict[str, Any], address: ReplyAddress) -> Posted | Unclear:
    channel = body.get("channel", address.channel if isinstance(address, SlackThread) else None)
    object_id = slack_message_id(channel, body.get("ts"))
    if object_id is None:
        return Unclear(ErrorClass.SERVER, NO_OBJECT_ID)
    identity = Identity(login=_id_at(body, "message", "user"), bot_id=_id_at(body, "message", "bot_id"))
    return Posted(object_id, permalink=None, identity=identity)


def _failure(answer: ProviderAnswer, body: dict[str, Any], *, now: datetime) -> Failed:
    code = code_at(body, "error")
    by_status = ErrorClass.INVALID if answer.succeeded else class_of(answer.status)
    error_class = by_status if answer.status == 429 else _CLASSES.get(code or "", by_status)
    return failure(answer, now=now, error_class=error_class, code=code)


def _id_at(value: object, *path: str) -> str | None:
    found = member(value, *path)
    return str(found) if is_slack_id(found) else None
