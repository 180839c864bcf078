"""Test a connection: one harmless authenticated read of its provider, which posts nothing (SPEC-0028 REQ-4)."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

import structlog
from django.conf import settings
from django.utils import timezone
from django.views.decorators.debug import sensitive_variables

from connections.account_key import api_base
from connections.manage import find_connection
from connections.models import Connection
from connections.throttling import note_throttled, refuse_while_throttled
from replies.providers import PROVIDERS
from replies.providers.call import ErrorClass, Failed, Identity, ProviderAnswer, ProviderCall, UnusableSecret
from switchboard import outbound
from switchboard.accounts.reach import Principal
from switchboard.errors import Conflict
from switchboard.ratelimit import take
from switchboard.reply_address import Provider
from switchboard.sealing import CannotOpen, Secret

log = structlog.get_logger(__name__)
TESTS_PER_MINUTE: Final = 6


@dataclass(frozen=True)
class Tested:
    """What a test found: whose credential it is, or the error class and the provider's (or our own) code for it."""

    connection: Connection
    at: datetime
    login: str | None
    failed: Failed | None

    @property
    def ok(self) -> bool:
        """Whether the provider knows the credential."""
        return self.failed is None

    @property
    def message(self) -> str:
        """What happened and what to do, in one or two sentences."""
        if self.failed is None:
            known_as = f", as {self.login}" if self.login else ""
            return f"The provider accepts the credential{known_as}."
        return _WORDS_OF_CODES.get(self.failed.code) or _WORDS_OF_CLASSES[self.failed.error_class]


@sensitive_variables()
def test_connection(
    *,
    principal: Principal,
    connection_id: object,
    now: datetime | None = None,  # noqa: PT028 - no test function, in spite of its name
) -> Tested:
    """Ask the provider once who the credential is, record the answer, and return it; nothing is posted.

    Whatever the provider says is a result. Raises NotFound; RateLimited after 6 tests within a minute and while
    the provider wants to be left alone; Conflict when no configured key opens the secret.
    """
    moment = now or timezone.now()
    connection = find_connection(principal=principal, connection_id=connection_id)
    refuse_while_throttled(connection, now=moment)
    take(f"connection-test:{connection.pk}", rate_per_minute=TESTS_PER_MINUTE, burst=TESTS_PER_MINUTE)
    found = _ask(connection, _secret_of(connection), now=moment)
    failed = found if isinstance(found, Failed) else None
    _record(connection, found, now=moment)
    log.info(
        "connection.tested",
        connection_id=str(connection.pk),
        kind=connection.kind,
        ok=failed is None,
        error_class=failed.error_class.value if failed else None,
        error_code=failed.code if failed else None,
    )
    return Tested(connection, moment, found.login if isinstance(found, Identity) else None, failed)


_WORDS_OF_CLASSES: Final = {
    ErrorClass.AUTH: "The provider does not accept the credential: it is wrong, expired or revoked. Replace it.",
    ErrorClass.NOT_FOUND: "There is no such API at the connection's address. Check the account key.",
    ErrorClass.FORBIDDEN: "The provider knows the credential, but it may not even read its own user. Check its scopes.",
    ErrorClass.RATE_LIMITED: "The provider is being called too often. Wait before you test again.",
    ErrorClass.INVALID: "The provider answered something else than its API does. Check the account key.",
    ErrorClass.SERVER: "The provider failed, or what answered is not its API. Try again later.",
    ErrorClass.NETWORK: "The provider could not be reached. Check the account key, then the network.",
}
_WORDS_OF_CODES: Final = {
    "unusable_secret": "Nothing was sent: the credential holds characters that no token has. Replace it.",
    "other_team": "The token belongs to another Slack team than the connection's account key.",
    "private_address": "Nothing was called: the host has a private address that the operator did not allow.",
    "plain_http": "Nothing was called: the address is plain http, which the operator did not allow.",
    "certificate_refused": "Nothing was sent: the host's certificate is not valid for its name.",
}


@sensitive_variables()
def _secret_of(connection: Connection) -> Secret:
    try:
        return connection.open_secret()
    except CannotOpen:
        log.error("connection.secret_unreadable", connection_id=str(connection.pk))
        raise Conflict("The connection's secret cannot be opened with the configured keys; replace it.") from None


@sensitive_variables()
def _ask(connection: Connection, secret: Secret, *, now: datetime) -> Identity | Failed:
    kind = Provider(connection.kind)
    provider = PROVIDERS[kind]
    base = api_base(
        kind,
        connection.account_key,
        github_api_url=settings.SWITCHBOARD_GITHUB_API_URL,
        slack_api_url=settings.SWITCHBOARD_SLACK_API_URL,
    )
    try:
        answer = _perform(provider.build_test(api_base=base, secret=secret))
    except UnusableSecret:
        return Failed(ErrorClass.AUTH, "unusable_secret")
    except outbound.OutboundError as error:
        return Failed(ErrorClass.NETWORK, error.reason)
    return provider.read_test(answer, account_key=connection.account_key, now=now)


@sensitive_variables()
def _perform(call: ProviderCall) -> ProviderAnswer:
    answer = outbound.perform(outbound.Call(call.method, call.url, call.headers, call.body))
    return ProviderAnswer(answer.status, answer.headers, answer.body)


def _record(connection: Connection, found: Identity | Failed, *, now: datetime) -> None:
    """Write what was found, unless the secret was replaced meanwhile: then it says nothing about the new one."""
    changes: dict[str, object] = {"last_test_at": now, "last_test_ok": isinstance(found, Identity)}
    if isinstance(found, Identity):
        changes |= {"last_test_class": "", "login": found.login or "", "bot_id": found.bot_id or ""}
    else:
        changes |= {"last_test_class": found.error_class.value}
        if found.error_class is ErrorClass.RATE_LIMITED:
            note_throttled(connection, retry_after=found.retry_after, now=now)
    Connection.objects.filter(pk=connection.pk, secret_sealed=connection.secret_sealed).update(**changes)
