"""Cairn: comment on an artifact."""

from datetime import datetime
from typing import Final

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
    code_at,
    failure,
    json_object,
    member,
    name_at,
    unsuccessful,
)
from switchboard.object_ids import numbered_id
from switchboard.reply_address import CairnComment, ReplyAddress
from switchboard.sealing import Secret

# Cairn, "annotations": a comment's body is at most 16 KiB.
TEXT_LIMIT: TextLimit | None = TextLimit(16_384, "bytes")
_HEADERS: Final = {"Accept": "application/json"}


def build_reply(address: ReplyAddress, text: str, *, api_base: str, secret: Secret) -> ProviderCall:
    """Return the call that posts the comment: SPEC-0028 REQ-7."""
    if not isinstance(address, CairnComment):
        raise TypeError("Cairn answers on artifacts only")
    url = joined_url(api_base, "artifacts", address.artifact_id, "comments")
    headers = _headers(secret) | {"Content-Type": "application/json"}
    return ProviderCall("POST", url, headers, json_body({"body": text}))


def read_reply(answer: ProviderAnswer, *, address: ReplyAddress, api_base: str, now: datetime) -> Outcome:  # noqa: ARG001 (Cairn names no page)
    """Return what became of the comment; `now` is an aware time."""
    if not answer.succeeded:
        return unsuccessful(answer, _failure(answer, now=now))
    body = json_object(answer)
    object_id = numbered_id(body.get("id"))
    if object_id is None:
        return Unclear(ErrorClass.SERVER, NO_OBJECT_ID)
    return Posted(object_id, permalink=None, identity=Identity(login=name_at(body, "actor_id")))


def build_test(*, api_base: str, secret: Secret) -> ProviderCall:
    """Return the call that asks who the token is."""
    return ProviderCall("GET", joined_url(api_base, "whoami"), _headers(secret))


def read_test(answer: ProviderAnswer, *, account_key: str, now: datetime) -> Identity | Failed:  # noqa: ARG001 (the base URL is the account)
    """Return who the token is; Cairn also answers 200 to somebody whom it does not know."""
    if not answer.succeeded:
        return _failure(answer, now=now)
    body = json_object(answer)
    match body.get("authenticated"):
        case True:
            return Identity(login=name_at(body, "actor_id"))
        case False:
            return failure(answer, now=now, error_class=ErrorClass.AUTH, code="not_authenticated")
        case _:
            return failure(answer, now=now, error_class=ErrorClass.SERVER, code=UNREADABLE)


def _headers(secret: Secret) -> dict[str, str]:
    return {"Authorization": authorization("Bearer", secret), **_HEADERS}


def _failure(answer: ProviderAnswer, *, now: datetime) -> Failed:
    return failure(answer, now=now, code=code_at(member(json_object(answer), "error"), "code"))
