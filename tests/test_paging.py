"""Pages visit every row once, whatever is written meanwhile; a limit or cursor that is none is refused."""

import base64
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from switchboard.accounts.models import Team
from switchboard.errors import InvalidArgument
from switchboard.paging import page, read_limit

pytestmark = pytest.mark.django_db
ONE_DATABASE = hypothesis_settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])


def make_teams(count: int) -> list[Team]:
    return Team.objects.bulk_create([Team(slug=f"team-{uuid4().hex}", name="Team") for _ in range(count)])


def walk(limit: int, *, between: object = None) -> list[Team]:
    """Return the rows of all pages in the order in which they come; `between` is called after each page."""
    rows: list[Team] = []
    cursor: str | None = None
    while True:
        found = page(Team.objects.all(), limit=limit, cursor=cursor)
        assert len(found.rows) <= limit
        rows += found.rows
        cursor = found.next_cursor
        if cursor is None:
            return rows
        assert len(found.rows) == limit
        if callable(between):
            between()


@ONE_DATABASE
@given(count=st.integers(0, 12), limit=st.integers(1, 14))
def test_every_row_comes_once_newest_first(count: int, limit: int) -> None:
    Team.objects.all().delete()
    teams = make_teams(count)
    assert walk(limit) == sorted(teams, key=lambda team: team.pk, reverse=True)


@pytest.mark.parametrize("limit", [1, 2, 3, 5])
def test_rows_written_meanwhile_repeat_and_hide_nothing(limit: int) -> None:
    teams = make_teams(5)
    assert walk(limit, between=lambda: make_teams(2)) == teams[::-1]


def test_the_row_that_a_cursor_names_may_be_gone() -> None:
    teams = make_teams(4)
    first = page(Team.objects.all(), limit=2)
    teams[2].delete()
    assert list(page(Team.objects.all(), limit=2, cursor=first.next_cursor).rows) == [teams[1], teams[0]]


def test_a_full_last_page_has_no_cursor() -> None:
    make_teams(4)
    assert page(Team.objects.all(), limit=4).next_cursor is None
    assert page(Team.objects.none()).next_cursor is None


def test_another_order_of_the_query_does_not_matter() -> None:
    teams = make_teams(3)
    assert list(page(Team.objects.order_by("name", "pk")).rows) == teams[::-1]


@pytest.mark.parametrize("cursor", [None, ""])
def test_no_cursor_is_the_first_page(cursor: str | None) -> None:
    (team,) = make_teams(1)
    assert list(page(Team.objects.all(), cursor=cursor).rows) == [team]


@pytest.mark.parametrize(
    "cursor",
    [
        "x", " ", "0", 0, 1, True, False, [], {}, b"A" * 22, "A" * 21, "A" * 23, "A" * 44, "A" * 22 + "=",
        "A" * 22 + "==", "A" * 22 + "\n", " " + "A" * 22, "_" * 22, "+" * 22, "\u00e9" * 22, "\ud800", "\0", "!" * 22,
        str(uuid4()), uuid4(), base64.b64encode(b"x" * 15).decode(), "' or 1=1 --", "A" * 100_000,
    ],
)  # fmt: skip
def test_a_garbage_cursor_is_refused(cursor: object) -> None:
    make_teams(2)
    with pytest.raises(InvalidArgument) as refused:
        page(Team.objects.all(), cursor=cursor)
    assert refused.value.extra == {"field": "cursor"}


@ONE_DATABASE
@given(st.one_of(st.text(st.characters(), min_size=1), st.text("Aa0-_+/=", min_size=1), st.binary(), st.integers()))
def test_a_cursor_is_a_page_of_its_own_or_refused(cursor: object) -> None:
    try:
        found = page(Team.objects.all(), cursor=cursor)
    except InvalidArgument:
        return
    assert isinstance(cursor, str)
    assert len(cursor) == 22
    assert not found.rows


@pytest.mark.parametrize(("limit", "count"), [(None, 50), (1, 1), (200, 200), ("1", 1), ("200", 200), ("007", 7)])
def test_a_good_limit_is_read(limit: object, count: int) -> None:
    assert read_limit(limit) == count


def test_a_caller_may_have_another_default() -> None:
    assert read_limit(None, default=10) == 10


@pytest.mark.parametrize(
    "limit",
    [
        0, -1, 201, 10**30, True, False, 1.0, "", "0", "-1", "201", "x", "1.0", "+1", " 1", "1\n", "1_0", "\u00b2",
        "\uff11",
        "9" * 5000, [], [1], {}, b"1",
    ],
)  # fmt: skip
def test_any_other_limit_is_refused_and_not_clamped(limit: object) -> None:
    with pytest.raises(InvalidArgument, match="1 to 200") as refused:
        read_limit(limit)
    assert refused.value.extra == {"field": "limit"}
