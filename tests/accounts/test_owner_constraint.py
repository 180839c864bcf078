"""What is owned has exactly one owner, a human or a team: the database refuses both and none."""

from typing import Any

import pytest
from django.db import IntegrityError, transaction

from connections.models import Connection
from replies.models import Reply
from routing.models import Event
from switchboard.accounts.models import Endpoint, Human, OwnedModel, Team
from tests.accounts.owned import Belongings, make_belongings
from tests.factories import make_human

pytestmark = pytest.mark.django_db
OWNED: list[type[Any]] = [Endpoint, Event, Connection, Reply]
owned = pytest.mark.parametrize("model", OWNED, ids=lambda model: model.__name__)


@pytest.fixture
def human() -> Human:
    return make_human("owner")


@pytest.fixture
def team() -> Team:
    return Team.objects.create(slug="crew", name="Crew")


@pytest.fixture
def belongings(human: Human) -> Belongings:
    return make_belongings(human)


def test_these_are_all_the_owned_models() -> None:
    assert set(OwnedModel.__subclasses__()) == set(OWNED)


@owned
def test_an_insert_with_both_owners_or_none_is_refused(
    belongings: Belongings, team: Team, human: Human, model: type[Any]
) -> None:
    row = belongings.row(model)
    row._state.adding = True
    for owners in [(human, team), (None, None)]:
        row.owner_human, row.owner_team = owners
        with pytest.raises(IntegrityError, match="has_one_owner"), transaction.atomic():
            row.save(force_insert=True)


@owned
def test_a_change_to_both_owners_or_none_is_refused(belongings: Belongings, team: Team, model: type[Any]) -> None:
    rows = model.objects.filter(pk=belongings.row(model).pk)
    for change in ({"owner_team": team}, {"owner_human": None}):
        with pytest.raises(IntegrityError, match="has_one_owner"), transaction.atomic():
            rows.update(**change)
    assert rows.get().owner_name == "owner"


@owned
def test_a_team_can_own_instead_of_a_human(belongings: Belongings, team: Team, model: type[Any]) -> None:
    rows = model.objects.filter(pk=belongings.row(model).pk)
    rows.update(owner_human=None, owner_team=team)
    assert rows.get().owner_name == "crew"
