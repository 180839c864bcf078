"""Read what a caller says about a connection, and refuse anything else without repeating it."""

import re
from collections.abc import Iterable
from typing import Any, Final

from django.conf import settings
from django.views.decorators.debug import sensitive_variables

from connections.account_key import canonical_account_key
from connections.models import MAX_ACCOUNT_KEY_CHARACTERS
from connections.targets import read_targets
from switchboard.accounts.models import Endpoint
from switchboard.accounts.reach import Principal
from switchboard.errors import InvalidArgument
from switchboard.ids import lookup_id
from switchboard.reply_address import Provider
from switchboard.sealing import Secret
from switchboard.text import one_line

MAX_NAME_CHARACTERS: Final = 120
MAX_SIGNATURE_CHARACTERS: Final = 200
MAX_SECRET_BYTES: Final = 4096
MAX_ENTRIES: Final = 100
_SECRET = re.compile(rf"[\x21-\x7e]{{1,{MAX_SECRET_BYTES}}}")


def kind_from(kind: object) -> Provider:
    """Return the provider of that name."""
    try:
        return Provider(str(kind))
    except ValueError:
        names = ", ".join(provider.value for provider in Provider)
        raise InvalidArgument(f"kind must be one of {names}.", field="kind") from None


def name_from(name: object) -> str:
    """Return a name of 1 to 120 printable characters on one line."""
    found = name.strip() if isinstance(name, str) else ""
    if not found or not _is_one_line(found, MAX_NAME_CHARACTERS):
        raise InvalidArgument(
            f"name must be 1 to {MAX_NAME_CHARACTERS} printable characters on one line.", field="name"
        )
    return found


def account_key_from(kind: Provider, account_key: object) -> str:
    """Return the account key in its one canonical spelling."""
    try:
        found = canonical_account_key(
            kind,
            account_key if isinstance(account_key, str) else "",
            allow_http=settings.SWITCHBOARD_ALLOW_HTTP,
        )
    except ValueError as error:
        raise InvalidArgument(str(error), field="account_key") from None
    if len(found) > MAX_ACCOUNT_KEY_CHARACTERS:
        raise InvalidArgument(
            f"account_key may have at most {MAX_ACCOUNT_KEY_CHARACTERS} characters.", field="account_key"
        )
    return found


@sensitive_variables()
def secret_from(secret: Secret) -> Secret:
    """Return the secret without the line end that pasting adds; it is what an HTTP header can hold, never echoed."""
    plain = secret.reveal().rstrip("\r\n")
    if not _SECRET.fullmatch(plain):
        raise InvalidArgument(
            f"secret must be 1 to {MAX_SECRET_BYTES} printable ASCII characters without blanks or line breaks.",
            field="secret",
        )
    return Secret(plain)


def targets_from(kind: Provider, targets: object) -> list[str]:
    """Return the targets allowlist."""
    try:
        found = read_targets(kind, targets)
    except ValueError as error:
        raise InvalidArgument(str(error), field="targets") from None
    _check_count(found, "targets")
    return found


def endpoints_from(owner: Principal, endpoints: object) -> list[str]:
    """Return the endpoints allowlist: distinct ids of the owner's own endpoints; any other is an unknown one."""
    given = endpoints if isinstance(endpoints, Iterable) and not isinstance(endpoints, (str, bytes, dict)) else [None]
    distinct = list(dict.fromkeys(lookup_id(entry) for entry in given))
    _check_count(distinct, "endpoints")
    known = set(Endpoint.objects.within_reach(owner).filter(pk__in=distinct).values_list("pk", flat=True))
    if not known.issuperset(distinct):
        raise InvalidArgument("endpoints is a list of ids of the owner's endpoints.", field="endpoints")
    return [str(entry) for entry in distinct]


def signature_line_from(signature_line: object) -> str:
    """Return a line of at most 200 printable characters, empty for none."""
    found = signature_line.strip() if isinstance(signature_line, str) else None
    if found is None or not _is_one_line(found, MAX_SIGNATURE_CHARACTERS):
        raise InvalidArgument(
            f"signature_line must be one line of at most {MAX_SIGNATURE_CHARACTERS} printable characters.",
            field="signature_line",
        )
    return found


def _is_one_line(text: str, limit: int) -> bool:
    return len(text) <= limit and one_line(text, limit=limit) == text


def _check_count(entries: list[Any], field: str) -> None:
    if len(entries) > MAX_ENTRIES:
        raise InvalidArgument(f"{field} may have at most {MAX_ENTRIES} entries.", field=field)
