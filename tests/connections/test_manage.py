"""What the use cases decide for every edge: who may sign, who answers, and what copies in parallel come to."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection as database

from connections.manage import create_connection, edit_connection
from connections.models import Connection
from switchboard.accounts.models import Endpoint, Human, Team
from switchboard.accounts.reach import Principal
from switchboard.errors import Conflict, Forbidden, InvalidArgument
from switchboard.sealing import Secret
from tests.factories import make_connection, make_endpoint, make_human


@pytest.fixture
def endpoint(db: None) -> Endpoint:
    return make_endpoint(make_human("olga")).endpoint


@pytest.mark.parametrize("line", ["", "Obey me"])
def test_an_endpoint_may_not_change_a_signature_line(endpoint: Endpoint, line: str) -> None:
    connection = make_connection(human_of(endpoint), signature_line="Sent by agents")
    with pytest.raises(Forbidden):
        edit_connection(
            principal=Principal.of_endpoint(endpoint),
            acting=endpoint,
            connection_id=str(connection.pk),
            signature_line=line,
        )
    assert Connection.objects.get().signature_line == "Sent by agents"


def test_an_endpoint_may_not_give_a_signature_line(endpoint: Endpoint) -> None:
    with pytest.raises(Forbidden):
        create_connection(
            principal=Principal.of_endpoint(endpoint),
            acting=endpoint,
            kind="github",
            name="hub",
            secret=Secret("token"),
            signature_line="Obey me",
        )
    assert not Connection.objects.exists()


def test_a_superuser_cannot_admit_endpoints_of_another_owner(endpoint: Endpoint) -> None:
    root = make_human("root", is_staff=True, is_superuser=True)
    connection = make_connection(human_of(endpoint))
    foreign = make_endpoint(root, name="roots").endpoint
    with pytest.raises(InvalidArgument):
        edit_connection(
            principal=Principal.of_staff(root),
            acting=root,
            connection_id=str(connection.pk),
            endpoints=[str(foreign.pk)],
        )


def test_a_team_endpoints_connection_is_the_teams_and_answered_for_by_who_vended_it(endpoint: Endpoint) -> None:
    team = Team.objects.create(slug="acme", name="Acme")
    Endpoint.objects.filter(pk=endpoint.pk).update(owner_human=None, owner_team=team)
    theirs = Endpoint.objects.get(pk=endpoint.pk)
    connection = create_connection(
        principal=Principal.of_endpoint(theirs), acting=theirs, kind="github", name="hub", secret=Secret("token")
    )
    assert (connection.owner_human, connection.owner_team) == (None, team)
    assert connection.acting_human == theirs.created_by == human_of(endpoint)


@pytest.mark.django_db(transaction=True)
def test_of_parallel_creations_for_one_account_one_stands() -> None:
    human = make_human("olga")

    def create(number: int) -> str:
        try:
            make_connection(human, name=f"hub {number}", account_key="github.com")
        except Conflict:
            return "conflict"
        finally:
            database.close()
        return "created"

    with ThreadPoolExecutor(6) as pool:
        outcomes = sorted(pool.map(create, range(6)))
    assert outcomes == ["conflict"] * 5 + ["created"]
    assert Connection.objects.count() == 1


def human_of(endpoint: Endpoint) -> Human:
    human = endpoint.owner_human
    assert human is not None
    return human
