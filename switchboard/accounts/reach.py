"""Who may see what: a principal, and the one query condition that limits every owned model to its reach."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db.models import Q

if TYPE_CHECKING:
    from uuid import UUID

    from switchboard.accounts.models import Endpoint, Human


@dataclass(frozen=True)
class Principal:
    """Who acts: a human (web, API) or an endpoint (MCP), with the owner scopes that it reaches.

    `human_id` and `team_id` are the owner columns to match; `endpoint_id` is set when an agent acts, which sees
    only its own todos; `unrestricted` is the superuser in the admin.
    """

    human_id: "UUID | None" = None
    team_id: "UUID | None" = None
    endpoint_id: "UUID | None" = None
    unrestricted: bool = False

    @classmethod
    def of_human(cls, human: "Human") -> "Principal":
        """Return the principal of a signed-in human or of an API token's holder."""
        return cls(human_id=human.pk)

    @classmethod
    def of_endpoint(cls, endpoint: "Endpoint") -> "Principal":
        """Return the principal of an agent: its endpoint's owner scope, and the endpoint itself."""
        return cls(human_id=endpoint.owner_human_id, team_id=endpoint.owner_team_id, endpoint_id=endpoint.pk)

    @classmethod
    def of_staff(cls, human: "Human") -> "Principal":
        """Return the principal of a human in the admin, where a superuser is unrestricted."""
        return cls(human_id=human.pk, unrestricted=human.is_superuser)


def owned_within(principal: Principal, *, path: str = "") -> Q:
    """Return the condition that the owner columns below `path` (such as "endpoint__") are the principal's own."""
    if principal.unrestricted:
        return Q()
    if principal.human_id is not None:
        return Q(**{f"{path}owner_human": principal.human_id})
    if principal.team_id is not None:
        return Q(**{f"{path}owner_team": principal.team_id})
    return Q(pk__in=[])
