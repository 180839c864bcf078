"""Vending an endpoint: what each argument may be, a slug of its own, and a credential that is shown once."""

import hashlib
import json
from datetime import datetime, timedelta
from typing import Any

import pytest
import structlog
from django.db import IntegrityError, connection, transaction
from django.utils import timezone
from pytest_django import Settings

from switchboard.accounts.credentials import authenticate_endpoint
from switchboard.accounts.models import Endpoint, Human
from switchboard.accounts.reach import Principal
from switchboard.accounts.vend import find_endpoint, vend_endpoint
from switchboard.accounts.verbs import AllVerbs, BasicVerbs
from switchboard.errors import InvalidArgument
from switchboard.ids import parse_id
from switchboard.source_types import Source
from tests.factories import make_human

pytestmark = pytest.mark.django_db

REFUSED: dict[str, list[Any]] = {
    "name": ["", "  ", "x" * 121, "two\nlines", "nul\0", "\u202eback", "two  spaces", "\ud800", None, 7, ["agent"]],
    "queues": [
        [], "work", None, 7, {"work": 1}, [""], ["two words"], [".hidden"], ["x" * 65], ["w\0rk"], [7], [["work"]],
    ],
    "verbs": ["everything", "", "claim", [], ["fly"], ["claim", "fly"], [7], ["Claim"], [["claim"]], ["x" * 5000]],
    "webhook_max": [-1, 1001, True, "10", 1.0, None],
    "webhook_source_types": ["github", ["gitlab"], ["GitHub"], [7], [["github"]], ["github", ""]],
    "webhook_queues": ["work", 7, ["two words"], [""], [None]],
    "default_lease_seconds": [0, -1, 86_401, True, "300", 1.5],
    "expires_at": [timedelta(0), timedelta(seconds=-1), timedelta(days=-400)],
}  # fmt: skip
CASES = [(field, value) for field, values in REFUSED.items() for value in values]

TAKEN: list[tuple[str, Any, str, Any]] = [
    ("name", "  Triage bot \u2014 \u00e9quipe 7 \U0001f916 ", "name", "Triage bot \u2014 \u00e9quipe 7 \U0001f916"),
    ("name", "x" * 120, "name", "x" * 120),
    ("queues", ["b", "a", "b"], "scope_queues", ["b", "a"]),
    ("queues", ("team/x:y_z.1-2", "x" * 64), "scope_queues", ["team/x:y_z.1-2", "x" * 64]),
    ("verbs", "all", "scope_verbs", list(AllVerbs())),
    ("verbs", "basics", "scope_verbs", list(BasicVerbs())),
    ("verbs", ["reply", "claim", "claim"], "scope_verbs", ["claim", "reply"]),
    ("webhook_max", 0, "webhook_max", 0),
    ("webhook_max", 1000, "webhook_max", 1000),
    ("webhook_source_types", ["slack", "github", "slack"], "webhook_source_types", ["github", "slack"]),
    ("webhook_source_types", [], "webhook_source_types", []),
    ("webhook_queues", ["elsewhere"], "webhook_queues", ["elsewhere"]),
    ("webhook_queues", [], "webhook_queues", []),
    ("default_lease_seconds", 1, "default_lease_seconds", 1),
    ("default_lease_seconds", 86_400, "default_lease_seconds", 86_400),
]


@pytest.fixture
def owner() -> Human:
    return make_human("owner")


def vend(owner: Human, **changed: Any) -> Any:
    return vend_endpoint(**{"human": owner, "name": "agent", "queues": ["work"], **changed})


@pytest.mark.parametrize(("field", "value"), CASES)
def test_a_malformed_argument_is_refused_by_name_and_nothing_is_made(owner: Human, field: str, value: Any) -> None:
    given = timezone.now() + value if isinstance(value, timedelta) else value
    with pytest.raises(InvalidArgument) as refused:
        vend(owner, **{field: given})
    assert refused.value.extra == {"field": field}
    assert len(refused.value.message) < 300
    assert not Endpoint.objects.exists()


@pytest.mark.parametrize(("argument", "value", "column", "stored"), TAKEN)
def test_a_good_argument_is_stored(owner: Human, argument: str, value: Any, column: str, stored: Any) -> None:
    endpoint = vend(owner, **{argument: value}).endpoint
    assert getattr(Endpoint.objects.get(pk=endpoint.pk), column) == stored


def test_what_is_not_said_has_a_default(owner: Human) -> None:
    endpoint = Endpoint.objects.get(pk=vend(owner, queues=["work", "more"]).endpoint.pk)
    assert endpoint.scope_verbs == list(BasicVerbs())
    assert endpoint.webhook_queues == ["work", "more"]
    assert endpoint.webhook_source_types == [source.value for source in Source]
    assert (endpoint.webhook_max, endpoint.default_lease_seconds) == (10, 300)
    assert (endpoint.expires_at, endpoint.revoked_at, endpoint.last_seen_at) == (None, None, None)
    assert (endpoint.owner_human, endpoint.owner_team, endpoint.created_by) == (owner, None, owner)


def test_an_endpoint_ends_at_the_moment_it_expires(owner: Human) -> None:
    ends: datetime = timezone.now() + timedelta(hours=1)
    vended = vend(owner, expires_at=ends)
    assert authenticate_endpoint(vended.credential, now=ends - timedelta(microseconds=1)) == vended.endpoint
    assert authenticate_endpoint(vended.credential, now=ends) is None


def test_endpoints_of_one_name_have_slugs_of_their_own(owner: Human) -> None:
    slugs = {vend(owner, name="Triage Bot").endpoint.slug for _ in range(20)}
    assert len(slugs) == 20
    assert {slug.rpartition("-")[0] for slug in slugs} == {"triage-bot"}


@pytest.mark.parametrize(
    "name", ["\U0001f916", "\u9593\u9593", "!!!", "x" * 120, "0192f0c1-8a3e-7c11-9d52-3f6e1b7a4c20"]
)
def test_any_name_gives_a_slug_that_fits_and_finds_its_endpoint(owner: Human, name: str) -> None:
    endpoint = vend(owner, name=name).endpoint
    assert len(endpoint.slug) <= 80
    assert endpoint.slug.replace("-", "").isalnum()
    assert endpoint.slug.isascii()
    assert parse_id(endpoint.slug) is None
    assert find_endpoint(principal=Principal.of_human(owner), ref=endpoint.slug) == endpoint


def test_the_database_refuses_a_second_endpoint_of_one_slug(owner: Human) -> None:
    first, second = (vend(owner).endpoint for _ in range(2))
    with pytest.raises(IntegrityError), transaction.atomic():
        Endpoint.objects.filter(pk=second.pk).update(slug=first.slug)


def test_only_the_hash_of_the_credential_is_stored(owner: Human) -> None:
    with structlog.testing.capture_logs() as lines:
        vended = vend(owner)
    assert vended.credential.startswith("sbk_")
    assert len(vended.credential) == 47
    with connection.cursor() as cursor:
        cursor.execute("SELECT * FROM accounts_endpoint")
        stored = str(cursor.fetchall())
    assert hashlib.sha256(vended.credential.encode()).hexdigest() in stored
    assert vended.credential not in stored
    assert vended.credential not in str(lines)
    assert [line["event"] for line in lines] == ["endpoint.vended"]
    assert authenticate_endpoint(vended.credential) == vended.endpoint


def test_every_credential_is_another(owner: Human) -> None:
    assert len({vend(owner).credential for _ in range(20)}) == 20


def test_the_client_configuration_connects_with_the_credential(owner: Human, settings: Settings) -> None:
    settings.SWITCHBOARD_BASE_URL = "https://sb.example"
    vended = vend(owner)
    assert vended.mcp_url == f"https://sb.example/mcp/{vended.endpoint.slug}"
    assert json.loads(json.dumps(vended.mcp_json)) == {
        "mcpServers": {
            "switchboard": {
                "type": "http",
                "url": vended.mcp_url,
                "headers": {"Authorization": f"Bearer {vended.credential}"},
            }
        }
    }
