"""Which credential answers: the owner's own for that very place, if its allowlists say yes (SPEC-0028 REQ-5)."""

from typing import Any

import pytest

from connections.models import Connection
from connections.resolve import resolve_connection
from switchboard.accounts.models import Endpoint, Human, Team
from switchboard.errors import NoConnection, TargetNotAllowed
from switchboard.reply_address import CairnComment, ForgeComment, Provider, ReplyAddress, SlackThread
from tests.factories import make_connection, make_endpoint, make_human

pytestmark = pytest.mark.django_db
ISSUE = ForgeComment(Provider.GITHUB, "github.com", "acme/widgets", 7)
THREAD = SlackThread("T0123", "C0123", "1726990000.000100")
ARTIFACT = CairnComment("https://cairn.example.com", "4kQ9zTbX")


@pytest.fixture
def endpoint() -> Endpoint:
    return make_endpoint(make_human("olga")).endpoint


def human_of(endpoint: Endpoint) -> Human:
    human = endpoint.owner_human
    assert human is not None
    return human


def resolve(endpoint: Endpoint, address: ReplyAddress = ISSUE, **options: Any) -> Connection:
    owner = {"owner_human_id": endpoint.owner_human_id, "owner_team_id": endpoint.owner_team_id}
    return resolve_connection(address=address, endpoint_id=endpoint.pk, **{"tags": (), **owner, **options})


def gitea(host: str) -> ForgeComment:
    return ForgeComment(Provider.GITEA, host, "acme/widgets", 7)


@pytest.mark.parametrize(
    ("address", "kind", "account_key"),
    [
        (ISSUE, "github", "github.com"),
        (gitea("git.example.net"), "gitea", "https://git.example.net/forge"),
        (THREAD, "slack", "T0123"),
        (ARTIFACT, "cairn", "https://cairn.example.com"),
    ],
)
def test_the_owners_connection_for_the_place_answers(
    endpoint: Endpoint, address: ReplyAddress, kind: str, account_key: str
) -> None:
    connection = make_connection(human_of(endpoint), kind=kind, account_key=account_key)
    assert resolve(endpoint, address) == connection


def test_cross_owner_fan_out(endpoint: Endpoint) -> None:
    """A's webhook routes to B's endpoint, and only A has a connection: B's todo finds none."""
    make_connection(make_human("anna"))
    with pytest.raises(NoConnection):
        resolve(endpoint)


def test_host_mismatch(endpoint: Endpoint) -> None:
    make_connection(human_of(endpoint), kind="gitea", account_key="https://git.example.net")
    with pytest.raises(NoConnection):
        resolve(endpoint, gitea("git.attacker.example"))


def test_another_provider_on_the_same_host_is_another_account(endpoint: Endpoint) -> None:
    make_connection(human_of(endpoint), kind="github", account_key="git.example.net")
    with pytest.raises(NoConnection):
        resolve(endpoint, gitea("git.example.net"))


def test_the_port_belongs_to_the_host(endpoint: Endpoint) -> None:
    connection = make_connection(human_of(endpoint), kind="gitea", account_key="https://Git.Example.net:8443")
    assert resolve(endpoint, gitea("git.example.net:8443")) == connection
    with pytest.raises(NoConnection):
        resolve(endpoint, gitea("git.example.net"))


@pytest.mark.parametrize("host", ["GIT.example.NET", "git.example.net:443", "git.example.net."])
def test_hosts_are_compared_in_their_canonical_spelling(endpoint: Endpoint, host: str) -> None:
    connection = make_connection(human_of(endpoint), kind="gitea", account_key="https://git.example.net")
    assert resolve(endpoint, gitea(host)) == connection


def test_a_slack_team_is_compared_exactly(endpoint: Endpoint) -> None:
    make_connection(human_of(endpoint), kind="slack", account_key="T0123")
    with pytest.raises(NoConnection):
        resolve(endpoint, SlackThread("T01234", "C0123", "1726990000.000100"))


def test_allowlist_refuses(endpoint: Endpoint) -> None:
    make_connection(human_of(endpoint), targets=["acme/*"])
    with pytest.raises(TargetNotAllowed):
        resolve(endpoint, ForgeComment(Provider.GITHUB, "github.com", "other/repo", 7))


def test_an_allowlist_of_endpoints_is_for_those_alone(endpoint: Endpoint) -> None:
    colleague = make_endpoint(human_of(endpoint), name="colleague").endpoint
    connection = make_connection(human_of(endpoint), endpoints=[str(colleague.pk)])
    assert resolve(colleague) == connection
    with pytest.raises(TargetNotAllowed):
        resolve(endpoint)


def test_a_tag_of_the_artifact_admits_it(endpoint: Endpoint) -> None:
    connection = make_connection(
        human_of(endpoint), kind="cairn", account_key="https://cairn.example.com", targets=["handoff"]
    )
    assert resolve(endpoint, ARTIFACT, tags=["handoff", "draft"]) == connection
    with pytest.raises(TargetNotAllowed):
        resolve(endpoint, ARTIFACT, tags=["draft"])


def test_of_two_forges_on_one_host_the_one_that_admits_answers(endpoint: Endpoint) -> None:
    human = human_of(endpoint)
    fitting = make_connection(human, kind="gitea", account_key="https://git.example.net/a", targets=["acme/*"])
    make_connection(human, kind="gitea", account_key="https://git.example.net/b", targets=["other/*"])
    assert resolve(endpoint, gitea("git.example.net")) == fitting


def test_a_teams_connection_is_not_a_members(endpoint: Endpoint) -> None:
    team = Team.objects.create(slug="acme", name="Acme")
    team.memberships.create(human=human_of(endpoint))
    connection = Connection.objects.create(owner_team=team, kind="github", name="hub", account_key="github.com")
    with pytest.raises(NoConnection):
        resolve(endpoint)
    assert resolve(endpoint, owner_human_id=None, owner_team_id=team.pk) == connection


def test_no_owner_has_no_connection(endpoint: Endpoint) -> None:
    make_connection(human_of(endpoint))
    with pytest.raises(NoConnection):
        resolve(endpoint, owner_human_id=None, owner_team_id=None)
