"""List, issue and revoke a human's own API tokens."""

from collections.abc import Sequence
from datetime import datetime

import structlog
from django.db.models import QuerySet
from django.utils import timezone

from switchboard.accounts.credentials import TOKEN_SCOPES, CreatedToken, create_api_token
from switchboard.accounts.models import ApiToken
from switchboard.accounts.reach import Principal
from switchboard.errors import Forbidden, InvalidArgument, NotFound
from switchboard.ids import parse_id

log = structlog.get_logger(__name__)


def list_tokens(*, principal: Principal) -> QuerySet[ApiToken]:
    """Return the principal's tokens, revoked ones too."""
    return ApiToken.objects.within_reach(principal)


def issue_token(
    *, holder: ApiToken, name: str = "", scopes: Sequence[str] = TOKEN_SCOPES, expires_at: datetime | None = None
) -> CreatedToken:
    """Create one more token for the human of the token `holder`, with no scope that `holder` lacks.

    Raises Forbidden for a wider scope, InvalidArgument for an unknown one or a time that is past.
    """
    if expires_at is not None and expires_at <= timezone.now():
        raise InvalidArgument("expires_at must be in the future.", field="expires_at")
    wider = [scope for scope in scopes if scope in TOKEN_SCOPES and scope not in holder.scopes]
    if wider:
        raise Forbidden(f"This token cannot issue one with the scope {wider[0]}.")
    created = create_api_token(human=holder.human, name=name, scopes=scopes, expires_at=expires_at)
    log.info("token.issued", token_id=str(created.record.pk), human=holder.human.username)
    return created


def revoke_token(*, principal: Principal, token_id: object) -> None:
    """Revoke one of the principal's tokens for good; revoking twice is fine. Raises NotFound."""
    identifier = parse_id(token_id)
    if identifier is None:
        raise NotFound
    own = list_tokens(principal=principal).filter(pk=identifier)
    if own.filter(revoked_at=None).update(revoked_at=timezone.now()):
        log.info("token.revoked", token_id=str(identifier))
    elif not own.exists():
        raise NotFound
