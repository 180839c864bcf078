"""Turn a bearer into the endpoint or human that holds it, and note when it was last used."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Q
from django.utils import timezone

from switchboard.accounts.models import ApiToken, Endpoint, Human, live_endpoint
from switchboard.errors import InvalidArgument
from switchboard.sealing import hash_token, mint_token
from switchboard.text import one_line

TOKEN_SCOPES = ("read", "write")
SEEN_EVERY = timedelta(minutes=1)


@dataclass(frozen=True)
class CreatedToken:
    """A new API token with its text (`sb_…`), which is shown this once and never again."""

    record: ApiToken
    token: str


def read_bearer(header: str | None) -> str | None:
    """Return the credential of an `Authorization: Bearer …` header, else None."""
    scheme, _, credential = (header or "").partition(" ")
    return credential.strip() or None if scheme.lower() == "bearer" else None


def authenticate_endpoint(credential: str | None, *, now: datetime | None = None) -> Endpoint | None:
    """Return the live endpoint whose credential this is, else None; notes the use at most once a minute."""
    if credential is None or not credential.startswith("sbk_"):
        return None
    moment = now or timezone.now()
    held = Endpoint.objects.filter(live_endpoint(moment), credential_hash=hash_token(credential))
    endpoint = held.select_related("owner_human", "owner_team").first()
    if endpoint and (endpoint.last_seen_at is None or endpoint.last_seen_at < moment - SEEN_EVERY):
        Endpoint.objects.filter(pk=endpoint.pk).update(last_seen_at=moment)
    return endpoint


def authenticate_token(token: str | None, *, now: datetime | None = None) -> ApiToken | None:
    """Return the live API token record of `sb_…` whose human is active, else None; notes the use once a minute."""
    if token is None or not token.startswith("sb_"):
        return None
    moment = now or timezone.now()
    live = Q(expires_at=None) | Q(expires_at__gt=moment)
    held = ApiToken.objects.filter(live, token_hash=hash_token(token), revoked_at=None, human__is_active=True)
    record = held.select_related("human").first()
    if record and (record.last_used_at is None or record.last_used_at < moment - SEEN_EVERY):
        ApiToken.objects.filter(pk=record.pk).update(last_used_at=moment)
    return record


def create_api_token(
    *, human: Human, name: str = "", scopes: Sequence[str] = TOKEN_SCOPES, expires_at: datetime | None = None
) -> CreatedToken:
    """Create a bearer for the operator API; `scopes` are of "read" and "write". Raises InvalidArgument."""
    if isinstance(scopes, str) or not scopes or any(scope not in TOKEN_SCOPES for scope in scopes):
        raise InvalidArgument("scopes must be a list of 'read' and 'write'.", field="scopes")
    token = mint_token("sb_")
    record = ApiToken.objects.create(
        human=human,
        name=one_line(name, limit=120),
        token_hash=hash_token(token),
        scopes=[scope for scope in TOKEN_SCOPES if scope in scopes],
        expires_at=expires_at,
    )
    return CreatedToken(record, token)
