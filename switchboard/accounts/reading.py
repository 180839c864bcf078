"""List endpoints within a principal's reach."""

from django.db.models import QuerySet

from switchboard.accounts.models import Endpoint
from switchboard.accounts.reach import Principal


def list_endpoints(*, principal: Principal) -> QuerySet[Endpoint]:
    """Return the endpoints within reach, revoked and expired ones too, with their owner."""
    return Endpoint.objects.within_reach(principal).select_related("owner_human", "owner_team")
