"""Create, list, find, edit, rotate and delete connections (SPEC-0028 REQ-3 and REQ-4)."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import structlog
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.views.decorators.debug import sensitive_variables

from connections.arguments import (
    account_key_from,
    endpoints_from,
    kind_from,
    name_from,
    secret_from,
    signature_line_from,
    targets_from,
)
from connections.models import Connection
from switchboard.accounts.models import Endpoint, Human
from switchboard.accounts.reach import Principal
from switchboard.errors import Conflict, EncryptionRequired, Forbidden, NotFound
from switchboard.ids import lookup_id
from switchboard.reply_address import Provider
from switchboard.sealing import Secret, can_seal, fingerprint, seal

log = structlog.get_logger(__name__)
_RELATED = ("owner_human", "owner_team", "created_by")


def list_connections(*, principal: Principal) -> QuerySet[Connection]:
    """Return the connections within reach, with their owner and creator."""
    return Connection.objects.within_reach(principal).select_related(*_RELATED)


def find_connection(*, principal: Principal, connection_id: object) -> Connection:
    """Return the connection within reach with that id; unknown, malformed and foreign ids raise the same NotFound."""
    found = list_connections(principal=principal).filter(pk=lookup_id(connection_id)).first()
    if found is None:
        raise NotFound
    return found


def create_connection(
    *,
    principal: Principal,
    acting: Human | Endpoint,
    kind: str,
    name: str,
    secret: Secret,
    account_key: str = "",
    targets: Sequence[str] = (),
    endpoints: Sequence[str] = (),
    signature_line: str = "",
) -> Connection:
    """Store a credential in the principal's owner scope, sealed; `acting` is the human or agent who does it.

    `account_key` is read per kind (github.com when it is empty for GitHub); `endpoints` are ids of the owner's
    endpoints. Raises EncryptionRequired before anything is stored, InvalidArgument naming the field, Forbidden
    when an agent gives a signature line, and Conflict when the owner has that name or account already.
    """
    if not can_seal():
        raise EncryptionRequired
    provider = kind_from(kind)
    _check_signature_right(acting, given=bool(signature_line))
    connection = Connection(
        owner_human_id=principal.human_id,
        owner_team_id=principal.team_id,
        kind=provider.value,
        name=name_from(name),
        account_key=account_key_from(provider, account_key),
        targets=targets_from(provider, targets),
        endpoints=endpoints_from(_owner(principal), endpoints),
        signature_line=signature_line_from(signature_line),
        created_by=_accountable(acting),
    )
    _seal_into(connection, secret_from(secret))
    _note_actor(connection, acting)
    with _taken_is_a_conflict(connection), transaction.atomic():
        connection.save(force_insert=True)
    _log("connection.created", connection, acting)
    return connection


def edit_connection(
    *,
    principal: Principal,
    acting: Human | Endpoint,
    connection_id: object,
    name: str | None = None,
    targets: Sequence[str] | None = None,
    endpoints: Sequence[str] | None = None,
    signature_line: str | None = None,
) -> Connection:
    """Change the name, the allowlists or the signature line; None leaves one as it is.

    Raises NotFound, InvalidArgument, Conflict for a name that is taken, and Forbidden when an agent gives a
    signature line.
    """
    _check_signature_right(acting, given=signature_line is not None)
    with transaction.atomic():
        connection = _locked(principal, connection_id)
        if name is not None:
            connection.name = name_from(name)
        if targets is not None:
            connection.targets = targets_from(Provider(connection.kind), targets)
        if endpoints is not None:
            connection.endpoints = endpoints_from(_owner_of(connection), endpoints)
        if signature_line is not None:
            connection.signature_line = signature_line_from(signature_line)
        _note_actor(connection, acting)
        with _taken_is_a_conflict(connection), transaction.atomic():
            connection.save(update_fields=["name", "targets", "endpoints", "signature_line", *_ACTOR])
    _log("connection.edited", connection, acting)
    return connection


def rotate_connection(
    *, principal: Principal, acting: Human | Endpoint, connection_id: object, secret: Secret
) -> Connection:
    """Replace the secret at once; what the last test said of the former one is forgotten.

    Raises EncryptionRequired, InvalidArgument or NotFound, and then the former secret stays.
    """
    if not can_seal():
        raise EncryptionRequired
    with transaction.atomic():
        connection = _locked(principal, connection_id)
        _seal_into(connection, secret_from(secret))
        connection.rotated_at = timezone.now()
        connection.last_test_at, connection.last_test_ok, connection.last_test_class = None, None, ""
        _note_actor(connection, acting)
        connection.save(update_fields=[*_SECRET, "rotated_at", *_LAST_TEST, *_ACTOR])
    _log("connection.rotated", connection, acting)
    return connection


def delete_connection(*, principal: Principal, acting: Human | Endpoint, connection_id: object) -> None:
    """Delete the connection for good; the replies made through it stay. Raises NotFound."""
    with transaction.atomic():
        connection = _locked(principal, connection_id)
        Connection.objects.filter(pk=connection.pk).delete()
    _log("connection.deleted", connection, acting)


_SECRET = ("secret_sealed", "fingerprint")
_LAST_TEST = ("last_test_at", "last_test_ok", "last_test_class")
_ACTOR = ("acting_human", "acting_endpoint")


def _locked(principal: Principal, connection_id: object) -> Connection:
    reachable = list_connections(principal=principal).select_for_update(of=("self",))
    found = reachable.filter(pk=lookup_id(connection_id)).first()
    if found is None:
        raise NotFound
    return found


def _owner(principal: Principal) -> Principal:
    return Principal(human_id=principal.human_id, team_id=principal.team_id)


def _owner_of(connection: Connection) -> Principal:
    return Principal(human_id=connection.owner_human_id, team_id=connection.owner_team_id)


@sensitive_variables()
def _seal_into(connection: Connection, secret: Secret) -> None:
    plain = secret.reveal()
    connection.secret_sealed = seal(plain, identity=connection.seal_identity("secret_sealed"))
    connection.fingerprint = fingerprint(plain)


def _check_signature_right(acting: Human | Endpoint, *, given: bool) -> None:
    """A signature line speaks for the owner in public, so a human writes it (REQ-12)."""
    if given and isinstance(acting, Endpoint):
        raise Forbidden("Only a human may set a connection's signature line.", field="signature_line")


def _accountable(acting: Human | Endpoint) -> Human | None:
    """Return the human who answers for what is done: of an agent, its endpoint's owner or who vended it."""
    return acting if isinstance(acting, Human) else acting.owner_human or acting.created_by


def _note_actor(connection: Connection, acting: Human | Endpoint) -> None:
    connection.acting_human = _accountable(acting)
    connection.acting_endpoint = acting if isinstance(acting, Endpoint) else None


@contextmanager
def _taken_is_a_conflict(connection: Connection) -> Iterator[None]:
    """Turn the constraints' refusal into a Conflict that names what is taken."""
    try:
        yield
    except IntegrityError:
        others = Connection.objects.within_reach(_owner_of(connection)).exclude(pk=connection.pk)
        if others.filter(kind=connection.kind, account_key=connection.account_key).exists():
            raise Conflict(
                "The owner already has a connection of that kind for that account; rotate it, or delete it first.",
                field="account_key",
            ) from None
        raise Conflict("The owner already has a connection of that name.", field="name") from None


def _log(event: str, connection: Connection, acting: Human | Endpoint) -> None:
    human = _accountable(acting)
    fields: dict[str, Any] = {"connection_id": str(connection.pk), "kind": connection.kind}
    fields["human"] = human.username if human else None
    if isinstance(acting, Endpoint):
        fields |= {"endpoint": acting.slug, "endpoint_id": str(acting.pk)}
    log.info(event, **fields)
