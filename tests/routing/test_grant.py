"""What a webhook's rules may reach at a moment: its queues, and its live targets in target order (SPEC-0020)."""

from datetime import timedelta

import pytest
from django.utils import timezone

from routing.grant import compute_grant
from routing.models import WebhookRoute
from routing.routes import add_route, approve_route, remove_route
from switchboard.accounts.models import Endpoint
from switchboard.accounts.reach import Principal
from switchboard.accounts.vend import revoke_endpoint
from tests.factories import make_endpoint, make_human
from tests.routing.conftest import Line, OpenLine

NOW = timezone.now()


def route(door: Line, endpoint: Endpoint, *, seconds: int = 0) -> WebhookRoute:
    return add_route(
        principal=door.principal,
        webhook_id=door.webhook_id,
        endpoint_id=str(endpoint.pk),
        acting_human=door.human,
        now=NOW + timedelta(seconds=seconds),
    )


def order(door: Line, *, seconds: int = 60) -> list[str]:
    grant = compute_grant(door.webhook, now=NOW + timedelta(seconds=seconds))
    return [target.endpoint_id for target in grant.targets]


def test_the_owner_comes_first_then_routes_by_grant_time_then_endpoint_id(line: OpenLine) -> None:
    door = line("github")
    one, two, three = (make_endpoint(door.human, name=f"worker-{number}").endpoint for number in range(3))
    route(door, three, seconds=1)
    route(door, two, seconds=2)
    route(door, one, seconds=2)
    assert order(door) == [str(endpoint.pk) for endpoint in (door.endpoint, three, one, two)]


def test_the_grant_knows_each_targets_scope_queues(line: OpenLine) -> None:
    door = line("github", queues=("inbox", "lane-m"))
    route(door, make_endpoint(door.human, queues=["lane-m"]).endpoint)
    grant = compute_grant(door.webhook, now=NOW + timedelta(seconds=60))
    assert (grant.target_queue, grant.queues) == ("inbox", ("inbox", "lane-m"))
    assert [target.scope_queues for target in grant.targets] == [("inbox", "lane-m"), ("lane-m",)]


def test_a_route_to_a_stranger_counts_from_its_approval(line: OpenLine) -> None:
    door, stranger = line("github"), make_human("stranger")
    foreign, own = make_endpoint(stranger).endpoint, make_endpoint(door.human).endpoint
    waiting = route(door, foreign)
    route(door, own, seconds=1)
    assert order(door) == [str(door.endpoint.pk), str(own.pk)]
    approve_route(
        principal=Principal.of_human(stranger),
        route_id=str(waiting.pk),
        acting_human=stranger,
        now=NOW + timedelta(seconds=2),
    )
    assert order(door) == [str(door.endpoint.pk), str(own.pk), str(foreign.pk)]


def test_revoked_expired_and_removed_endpoints_are_no_targets(line: OpenLine) -> None:
    door = line("github")
    expiring = make_endpoint(door.human, name="expiring", expires_at=NOW + timedelta(hours=1)).endpoint
    revoked, removed = make_endpoint(door.human).endpoint, make_endpoint(door.human).endpoint
    for endpoint in (expiring, revoked, removed):
        route(door, endpoint)
    revoke_endpoint(principal=door.principal, ref=str(revoked.pk))
    remove_route(principal=door.principal, webhook_id=door.webhook_id, endpoint_id=str(removed.pk))
    assert order(door) == [str(door.endpoint.pk), str(expiring.pk)]
    assert order(door, seconds=7200) == [str(door.endpoint.pk)]


@pytest.mark.parametrize("routed", [True, False])
def test_a_revoked_owner_is_no_target_but_its_routes_are(line: OpenLine, routed: bool) -> None:
    door = line("github")
    worker = make_endpoint(door.human).endpoint
    if routed:
        route(door, worker)
    revoke_endpoint(principal=door.principal, ref=str(door.endpoint.pk))
    assert order(door) == ([str(worker.pk)] if routed else [])
