"""Who calls the operator API: the human behind an API token, and whether the token's scopes allow the call."""

from typing import TYPE_CHECKING

from rest_framework.authentication import BaseAuthentication
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from switchboard.accounts.credentials import authenticate_token, read_bearer
from switchboard.accounts.models import ApiToken, Human
from switchboard.errors import Forbidden, Unauthenticated

if TYPE_CHECKING:
    from rest_framework.views import APIView

CHALLENGE = 'Bearer realm="switchboard", error="invalid_token"'


class ApiTokenAuthentication(BaseAuthentication):
    """`Authorization: Bearer sb_…`; everything else, an endpoint's credential too, is refused in one voice."""

    def authenticate(self, request: Request) -> tuple[Human, ApiToken]:
        """Return the human and the token record; raise Unauthenticated."""
        record = authenticate_token(read_bearer(request.headers.get("Authorization")))
        if record is None:
            raise Unauthenticated
        return record.human, record

    def authenticate_header(self, request: Request) -> str:  # noqa: ARG002 - the framework's signature
        """Return the challenge of a 401."""
        return CHALLENGE


class HasScope(BasePermission):
    """The token needs `read` for what changes nothing, `write` for the rest; a view may name its own `scope`."""

    def has_permission(self, request: Request, view: "APIView") -> bool:
        """Return True, or raise Forbidden naming the missing scope."""
        needed = getattr(view, "scope", None) or ("read" if request.method in SAFE_METHODS else "write")
        token = request.auth
        if not isinstance(token, ApiToken) or needed not in token.scopes:
            raise Forbidden(f"This token lacks the scope {needed}.")
        return True
