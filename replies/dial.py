"""Post one reply: take its row, open the secret, perform the call, record what came of it (SPEC-0028 REQ-7, REQ-8)."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

import structlog
from django.conf import settings
from django.utils import timezone
from django.views.decorators.debug import sensitive_variables

from connections.account_key import api_base
from connections.models import Connection
from connections.throttling import note_throttled
from replies.content import posted_text
from replies.ledger import Ending, end_taken, take_reply
from replies.models import Reply, ReplyState
from replies.providers import PROVIDERS
from replies.providers.call import (
    ErrorClass,
    Failed,
    Outcome,
    Posted,
    ProviderAnswer,
    ProviderCall,
    Unclear,
    UnusableSecret,
)
from switchboard.database import release_connection
from switchboard.outbound import Call, MaybeSent, NotSent, Refused, perform
from switchboard.reply_address import Provider, ReplyAddress, read_reply_address
from switchboard.sealing import CannotOpen

log = structlog.get_logger(__name__)
THROTTLED = Ending.failed(ErrorClass.RATE_LIMITED, "throttled")
TOO_MANY_REQUESTS = 429


@dataclass(frozen=True)
class Patience:
    """How long one dial may take, in seconds, and how often a call that certainly posted nothing is made again.

    With less than `least` left no attempt begins: it would end as unknown for want of time.
    """

    total: float = 16.0
    attempt: float = 10.0
    least: float = 3.0
    longest_wait: float = 10.0
    pause: float = 0.3
    retries: int = 2


PATIENCE = Patience()


@dataclass(frozen=True)
class Dial:
    """One reply, ready to be posted."""

    connection: Connection
    call: ProviderCall
    read: Callable[[ProviderAnswer], Outcome]


@dataclass(frozen=True)
class Attempt:
    """What one call gave, and whether it certainly posted nothing and may be made again."""

    ending: Ending
    may_be_repeated: bool


def dial_reply(reply_id: UUID) -> bool:
    """Post the reply unless it was taken before; return whether this call took it. Whatever happens is recorded."""
    started = time.monotonic()
    reply = take_reply(reply_id, now=timezone.now())
    if reply is None:
        return False
    try:
        ending = _dial(reply, PATIENCE)
    except Exception as error:
        # Its text is not logged: nobody knows what it quotes.
        log.error("reply.dial_broke", reply_id=str(reply.pk), error=type(error).__name__)
        ending = Ending.unknown(ErrorClass.SERVER, "internal_error")
    end_taken(reply, ending, now=timezone.now())
    _log_ending(reply, ending, seconds=time.monotonic() - started)
    return True


@sensitive_variables()
def _dial(reply: Reply, patience: Patience) -> Ending:
    """Make the call, and again at most `retries` times while it has certainly posted nothing."""
    ends_at = time.monotonic() + patience.total
    ending = THROTTLED
    for number in range(1 + patience.retries):
        time.sleep(patience.pause if number else 0)
        if not _turn_comes(reply, ends_at, patience):
            break
        attempt = _attempt(reply, min(patience.attempt, ends_at - time.monotonic()))
        ending = attempt.ending
        if not attempt.may_be_repeated:
            break
    return ending


@sensitive_variables()
def _attempt(reply: Reply, seconds: float) -> Attempt:
    """Make the call once, with the connection and the secret as they are at this moment."""
    try:
        ready = _prepare(reply)
    except CannotOpen:
        return _not_made("secret_unreadable")
    except UnusableSecret:
        return _not_made("unusable_secret")
    if ready is None:
        return _not_made("connection_deleted")
    # Nobody keeps a database connection while waiting for somebody else.
    release_connection()
    return _call(ready, seconds)


def _not_made(code: str) -> Attempt:
    return Attempt(Ending.failed(ErrorClass.AUTH, code), may_be_repeated=False)


@sensitive_variables()
def _prepare(reply: Reply) -> Dial | None:
    """Return the dial, None when the connection is gone; raise CannotOpen or UnusableSecret.

    The connection is read anew into the reply: it may have been deleted or rotated since the last attempt.
    """
    connection = Connection.objects.filter(replies=reply).first()
    reply.connection = connection
    if connection is None:
        return None
    address = read_reply_address(reply.todo.reply_to or {})
    text = posted_text(reply.text, reply.signature_line)
    provider, base = PROVIDERS[Provider(connection.kind)], _base_of(connection)
    call = provider.build_reply(address, text, api_base=base, secret=connection.open_secret())
    return Dial(connection, call, _reader(Provider(connection.kind), address, base))


def _base_of(connection: Connection) -> str:
    return api_base(
        Provider(connection.kind),
        connection.account_key,
        github_api_url=settings.SWITCHBOARD_GITHUB_API_URL,
        slack_api_url=settings.SWITCHBOARD_SLACK_API_URL,
    )


def _reader(provider: Provider, address: ReplyAddress, base: str) -> Callable[[ProviderAnswer], Outcome]:
    def read(answer: ProviderAnswer) -> Outcome:
        return PROVIDERS[provider].read_reply(answer, address=address, api_base=base, now=timezone.now())

    return read


def _turn_comes(reply: Reply, ends_at: float, patience: Patience) -> bool:
    """Wait out a pause that the provider asked for; return False when it is too long, or when time is up."""
    until = Connection.objects.filter(replies=reply).values_list("throttled_until", flat=True).first()
    wait = max(0.0, (until - timezone.now()).total_seconds()) if until else 0.0
    if wait > patience.longest_wait or time.monotonic() + wait + patience.least > ends_at:
        return False
    if wait:
        release_connection()
        time.sleep(wait)
    return True


@sensitive_variables()
def _call(ready: Dial, seconds: float) -> Attempt:
    call = ready.call
    try:
        answer = perform(Call(call.method, call.url, call.headers, call.body), deadline_seconds=seconds)
    except Refused as refusal:
        return Attempt(Ending.failed(ErrorClass.NETWORK, refusal.reason), may_be_repeated=False)
    except NotSent as error:
        return Attempt(Ending.failed(ErrorClass.NETWORK, error.reason), may_be_repeated=True)
    except MaybeSent as error:
        return Attempt(Ending.unknown(ErrorClass.NETWORK, error.reason), may_be_repeated=False)
    return _read(ready, ProviderAnswer(answer.status, answer.headers, answer.body))


def _read(ready: Dial, answer: ProviderAnswer) -> Attempt:
    outcome = ready.read(answer)
    match outcome:
        case Posted():
            ending = Ending(
                ReplyState.SENT,
                object_id=outcome.object_id,
                permalink=outcome.permalink or "",
                identity=outcome.identity,
            )
        case Failed():
            ending = Ending.failed(outcome.error_class, outcome.code)
            if outcome.error_class is ErrorClass.RATE_LIMITED:
                note_throttled(ready.connection, retry_after=outcome.retry_after, now=timezone.now())
        case Unclear():
            ending = Ending.unknown(outcome.error_class, outcome.code)
    refused_for_now = isinstance(outcome, Failed) and answer.status == TOO_MANY_REQUESTS
    return Attempt(ending, may_be_repeated=refused_for_now)


def _log_ending(reply: Reply, ending: Ending, *, seconds: float) -> None:
    event = f"reply.{ending.state}"
    log.info(
        event,
        reply_id=str(reply.pk),
        todo_id=str(reply.todo_id),
        endpoint=reply.endpoint.slug,
        connection_id=str(reply.connection_id),
        provider=reply.provider,
        error_class=ending.error_class,
        error_code=ending.error_code,
        milliseconds=round(seconds * 1000, 1),
    )
