"""Who reaches which record: the owner, the owner's agents, a team's agents, a superuser, and never a stranger."""

import pytest

from replies.models import Reply
from routing.models import Webhook, WebhookRoute
from switchboard.accounts.models import ApiToken, Endpoint, Human, Membership, Team
from switchboard.accounts.reach import Principal
from switchboard.todos.models import Todo
from tests.accounts.owned import REACHED, Belongings, make_belongings, reached
from tests.factories import make_endpoint, make_human, make_todo

pytestmark = pytest.mark.django_db
ALL = set(REACHED)


@pytest.fixture
def owner() -> Human:
    return make_human("owner")


@pytest.fixture
def stranger() -> Human:
    return make_human("stranger")


@pytest.fixture
def mine(owner: Human) -> Belongings:
    return make_belongings(owner)


@pytest.fixture
def crew(owner: Human) -> Team:
    team = Team.objects.create(slug="crew", name="Crew")
    Membership.objects.create(team=team, human=owner)
    return team


def test_an_owner_reaches_all_of_their_own(owner: Human, mine: Belongings) -> None:
    assert reached(Principal.of_human(owner), mine) == ALL


def test_a_stranger_reaches_nothing_of_it_but_all_of_their_own(stranger: Human, mine: Belongings) -> None:
    theirs = make_belongings(stranger)
    assert reached(Principal.of_human(stranger), mine) == set()
    assert reached(Principal.of_human(stranger), theirs) == ALL
    assert reached(Principal.of_endpoint(theirs.endpoint), mine) == set()


def test_nobody_reaches_nothing(mine: Belongings) -> None:
    assert reached(Principal(), mine) == set()


def test_a_superuser_in_the_admin_reaches_everything_and_other_staff_their_own(mine: Belongings) -> None:
    root = make_human("root", is_staff=True, is_superuser=True)
    clerk = make_human("clerk", is_staff=True)
    assert reached(Principal.of_staff(root), mine) == ALL
    assert reached(Principal.of_human(root), mine) == set()
    assert reached(Principal.of_staff(clerk), mine) == set()


def test_an_agent_reaches_its_owners_records_but_only_its_own_work(owner: Human, mine: Belongings) -> None:
    sibling = make_endpoint(owner, name="sibling").endpoint
    agent = reached(Principal.of_endpoint(mine.endpoint), mine)
    assert agent >= ALL - {ApiToken}
    assert reached(Principal.of_endpoint(sibling), mine) == agent - {Todo, Reply}


def test_an_agent_does_not_reach_its_todos_outside_its_scope(mine: Belongings) -> None:
    outside = make_todo(mine.endpoint, queue="elsewhere")
    assert outside not in Todo.objects.within_reach(Principal.of_endpoint(mine.endpoint))


def test_a_teams_agent_reaches_what_the_team_has(owner: Human, mine: Belongings, crew: Team) -> None:
    ours = make_belongings(owner, team=crew)
    agent = Principal.of_endpoint(ours.endpoint)
    assert (agent.human_id, agent.team_id) == (None, crew.pk)
    assert reached(agent, ours) == ALL - {ApiToken}
    assert reached(agent, mine) == set()


def test_another_teams_agent_reaches_nothing(owner: Human, crew: Team) -> None:
    ours = make_belongings(owner, team=crew)
    theirs = make_belongings(make_human("other"), team=Team.objects.create(slug="rivals", name="Rivals"))
    assert reached(Principal.of_endpoint(theirs.endpoint), ours) == set()
    assert reached(Principal.of_endpoint(ours.endpoint), theirs) == set()


def test_a_members_own_reach_does_not_hold_the_teams_records(owner: Human, crew: Team) -> None:
    ours = make_belongings(owner, team=crew)
    assert reached(Principal.of_human(owner), ours) == {ApiToken}


def test_an_agent_without_queues_reaches_no_todo(owner: Human, mine: Belongings) -> None:
    principal = Principal.of_endpoint(mine.endpoint)
    Endpoint.objects.filter(pk=mine.endpoint.pk).update(scope_queues=[])
    assert not Todo.objects.within_reach(principal).exists()


def test_a_route_is_reached_from_both_of_its_ends(owner: Human, stranger: Human, mine: Belongings) -> None:
    route = WebhookRoute.objects.create(webhook=mine.row(Webhook), endpoint=make_endpoint(stranger).endpoint)
    for human, seen in [(owner, True), (stranger, True), (make_human("third"), False)]:
        within = WebhookRoute.objects.within_reach(Principal.of_human(human))
        assert within.filter(pk=route.pk).exists() is seen
