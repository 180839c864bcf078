"""Every error that a caller can meet: one class for each stable code, with its HTTP status and sentence."""

from typing import Any, ClassVar


class SwitchboardError(Exception):
    """An expected refusal: `code` is stable, `message` is for people, `extra` joins the answer's JSON."""

    code: ClassVar[str] = "internal"
    status: ClassVar[int] = 500
    sentence: ClassVar[str] = "Switchboard failed on its side. Try again, then tell your operator."

    def __init__(self, message: str | None = None, **extra: Any) -> None:
        self.message = message or self.sentence
        self.extra = extra
        super().__init__(self.message)


class InvalidArgument(SwitchboardError):
    code, status, sentence = "invalid_argument", 400, "An argument is missing or malformed."


class InvalidExpression(SwitchboardError):
    code, status, sentence = "invalid_expression", 400, "The rule's expression does not compile."


class ForbiddenFunction(SwitchboardError):
    code, status, sentence = "forbidden_function", 400, "The rule's expression names a forbidden function."


class InvalidRule(SwitchboardError):
    code, status, sentence = "invalid_rule", 400, "The rule is malformed."


class TooManyRules(SwitchboardError):
    code, status, sentence = "too_many_rules", 400, "A webhook may have at most 32 rules."


class InvalidParams(SwitchboardError):
    code, status, sentence = "invalid_params", 400, "Params must be a JSON object of at most 16 KiB."


class Unauthenticated(SwitchboardError):
    code, status, sentence = "unauthenticated", 401, "Send a live API token as 'Authorization: Bearer sb_…'."


class Forbidden(SwitchboardError):
    code, status, sentence = "forbidden", 403, "This credential may not do that."


class ForbiddenSourceType(SwitchboardError):
    code, status = "forbidden_source_type", 403
    sentence = "This endpoint may not create webhooks of that source type."


class NotGranted(Forbidden):
    """A rule or default reaches outside the webhook's grant; surfaces as `forbidden` (SPEC-0020)."""

    sentence = "The rule reaches outside this webhook's grant."


class NotFound(SwitchboardError):
    code, status, sentence = "not_found", 404, "There is nothing with that id within your reach."


class RuleNotFound(SwitchboardError):
    code, status, sentence = "rule_not_found", 404, "The webhook has no rule with that id."


class Conflict(SwitchboardError):
    code, status, sentence = "conflict", 409, "The thing has changed meanwhile; read it again."


class CeilingExceeded(SwitchboardError):
    code, status, sentence = "ceiling_exceeded", 409, "The endpoint already has as many webhooks as it may."


class EncryptionRequired(SwitchboardError):
    code, status = "encryption_required", 409
    sentence = "No secret can be stored until SWITCHBOARD_SECRET_ENCRYPTION_KEY is set."


class TooLarge(SwitchboardError):
    code, status, sentence = "too_large", 413, "The request body is too large."


class RateLimited(SwitchboardError):
    """Give `retry_after` in seconds: it joins the answer and becomes the Retry-After header."""

    code, status, sentence = "rate_limited", 429, "Too many calls; wait and try again."


class Unavailable(SwitchboardError):
    code, status, sentence = "unavailable", 503, "Not available right now; try again later."


class NoReplyAddress(SwitchboardError):
    code, status = "no_reply_address", 409
    sentence = "This todo did not come from a conversation that can be answered."


class NotClaimed(SwitchboardError):
    code, status, sentence = "not_claimed", 409, "Claim the todo first: only the endpoint that holds it may reply."


class ReplyWindowClosed(SwitchboardError):
    code, status = "reply_window_closed", 409
    sentence = "The todo is finished, and the time in which its endpoint could still reply is over."


class NoConnection(SwitchboardError):
    code, status = "no_connection", 409
    sentence = "The todo's owner has no connection for the place that it came from; a human can add one."


class TargetNotAllowed(SwitchboardError):
    code, status = "target_not_allowed", 409
    sentence = "The owner's connection for this place does not allow this conversation or this endpoint."


class SecretDetected(SwitchboardError):
    """Name the `rule` that matched, never the matched text."""

    code, status = "secret_detected", 400
    sentence = "The text looks as if it held a secret, so it was not posted. Remove it and call again."
