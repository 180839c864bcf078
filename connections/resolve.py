"""Which credential answers for a todo: its owner's own one for that place, if its allowlists say yes."""

from collections.abc import Sequence
from uuid import UUID

from connections.account_key import matches
from connections.models import Connection
from connections.targets import admits
from switchboard.accounts.reach import Principal
from switchboard.errors import NoConnection, TargetNotAllowed
from switchboard.reply_address import Provider, ReplyAddress


def resolve_connection(
    *,
    address: ReplyAddress,
    owner_human_id: UUID | None,
    owner_team_id: UUID | None,
    endpoint_id: UUID,
    tags: Sequence[str],
) -> Connection:
    """Return the connection that answers at `address`, without dialling anything: SPEC-0028 REQ-5.

    The owner is the todo's own scope, `endpoint_id` the caller's, `tags` those of a Cairn artifact. A connection of
    any other owner is never read. Raises NoConnection when the owner has none for that place, TargetNotAllowed when
    an allowlist refuses. Several match only where one host serves several forges below different paths; the newest
    one that admits the address answers.
    """
    owner = Principal(human_id=owner_human_id, team_id=owner_team_id)
    of_kind = Connection.objects.within_reach(owner).filter(kind=address.provider)
    fitting = [found for found in of_kind if matches(Provider(found.kind), found.account_key, address)]
    if not fitting:
        raise NoConnection
    for connection in fitting:
        if _allows(connection, address, endpoint_id, tags):
            return connection
    raise TargetNotAllowed


def _allows(connection: Connection, address: ReplyAddress, endpoint_id: UUID, tags: Sequence[str]) -> bool:
    listed = not connection.endpoints or str(endpoint_id) in connection.endpoints
    return listed and admits(connection.targets, address, tags=tags)
