"""What a reply looks like from outside: the result of a call, and the row of a list (contract §6)."""

from typing import Any, Final

from replies.models import Reply, ReplyState
from replies.providers.call import ErrorClass
from replies.submit import ReplyResult
from switchboard.times import rfc3339

UNDER_WAY: Final = "under_way"
_ANOTHER_KEY: Final = "To try again, call with another idempotency_key."
_LOOK_FIRST: Final = (
    "Nobody knows whether it was posted. Look at the conversation before you post it again, with another "
    "idempotency_key: providers do not recognise a repetition."
)
_FAILURES: Final = {
    ErrorClass.AUTH: "The connection's credential is not accepted or cannot be opened; its owner must replace it.",
    ErrorClass.NOT_FOUND: "The provider does not find the conversation, or the credential may not see it.",
    ErrorClass.FORBIDDEN: "The provider does not let the credential post there; its owner must give it access.",
    ErrorClass.RATE_LIMITED: "The provider is being called too often; wait at least half a minute.",
    ErrorClass.INVALID: "The provider does not accept the text, or what answered is not its API.",
    ErrorClass.SERVER: "The provider failed.",
    ErrorClass.NETWORK: "The provider could not be reached, or no dialler took the call.",
}


def reply_result_shape(result: ReplyResult) -> dict[str, Any]:
    """Return the result of `reply`; a reply that is still under way is shown as `unknown`."""
    reply = result.reply
    shape: dict[str, Any] = {
        "reply_id": str(reply.pk),
        "state": _shown_state(reply).value,
        "duplicate": result.duplicate,
        "display": reply.display,
        "message": _message(result),
    }
    return shape | _given(permalink=reply.permalink, **_error(reply))


def reply_shape(reply: Reply) -> dict[str, Any]:
    """Return a reply as its owner sees it in lists; the connection is named as it was, and is null once deleted."""
    return {
        "reply_id": str(reply.pk),
        "todo_id": str(reply.todo_id),
        "endpoint_id": str(reply.endpoint_id),
        "connection_id": str(reply.connection_id) if reply.connection_id else None,
        "connection_name": reply.connection_name,
        "connection_fingerprint": reply.connection_fingerprint,
        "address_kind": reply.address_kind,
        "display": reply.display,
        "idempotency_key": reply.idempotency_key,
        "text": reply.text,
        "text_sha256": reply.text_sha256,
        "state": reply.state,
        "class": reply.error_class or None,
        "code": reply.error_code or None,
        "object_id": reply.object_id or None,
        "permalink": reply.permalink or None,
        "created_at": rfc3339(reply.created_at),
        "finished_at": rfc3339(reply.finished_at),
    }


def _shown_state(reply: Reply) -> ReplyState:
    state = ReplyState(reply.state)
    return ReplyState.UNKNOWN if state is ReplyState.PENDING else state


def _error(reply: Reply) -> dict[str, str]:
    if reply.state == ReplyState.PENDING:
        return {"class": ErrorClass.NETWORK.value, "code": UNDER_WAY}
    return {"class": reply.error_class, "code": reply.error_code}


def _message(result: ReplyResult) -> str:
    sentences = [_what_happened(result.reply, duplicate=result.duplicate)]
    if result.other_text:
        sentences.append("The text of that call was another one: this text was not posted.")
    return " ".join(sentences)


def _what_happened(reply: Reply, *, duplicate: bool) -> str:
    match ReplyState(reply.state):
        case ReplyState.SENT if duplicate:
            return "An earlier call with this key posted it; nothing was posted again."
        case ReplyState.SENT:
            return "Posted."
        case ReplyState.FAILED:
            return f"Nothing was posted. {_FAILURES[ErrorClass(reply.error_class)]} {_ANOTHER_KEY}"
        case ReplyState.UNKNOWN:
            return _LOOK_FIRST
        case ReplyState.PENDING:
            return "The call is still under way. Call again with the same idempotency_key to learn how it ended."


def _given(**values: str) -> dict[str, str]:
    return {name: value for name, value in values.items() if value}
