"""Who calls: the live endpoint behind a request's bearer, and whether it still is one."""

from django.db import close_old_connections

from switchboard.accounts.credentials import authenticate_endpoint, read_bearer
from switchboard.accounts.models import Endpoint


def caller_of(authorization: str | None) -> Endpoint | None:
    """Return the live endpoint that an Authorization header authenticates, else None."""
    return authenticate_endpoint(read_bearer(authorization))


def is_still_live(credential: str) -> bool:
    """Return whether the credential's endpoint is still live; gives the database connection back."""
    try:
        return authenticate_endpoint(credential) is not None
    finally:
        close_old_connections()
