"""Ids sort by time and are read strictly: whatever is not spelt canonically is unknown."""

from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from switchboard.ids import UNKNOWN, lookup_id, new_id, parse_id
from switchboard.object_ids import is_slack_timestamp, numbered_id, slack_message_id

ANYTHING = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.binary(), st.lists(st.integers()))
TEXT = st.text(st.characters())


def test_later_ids_sort_later() -> None:
    ids = [new_id() for _ in range(2000)]
    assert ids == sorted(set(ids))
    assert {(one.version, one.variant) for one in ids} == {(7, uuid4().variant)}
    assert [str(one) for one in ids] == sorted(str(one) for one in ids)


@given(st.uuids())
def test_a_canonical_id_is_read(identifier: UUID) -> None:
    assert parse_id(str(identifier)) == lookup_id(str(identifier)) == identifier


@given(st.uuids())
def test_no_other_spelling_of_an_id_is_read(identifier: UUID) -> None:
    text = str(identifier)
    others: list[object] = [
        identifier, identifier.int, identifier.bytes, identifier.hex, f"{{{text}}}", identifier.urn, f" {text}",
        f"{text}\n", f"{text}0", text[:-1], text.replace("-", "_"),
    ]  # fmt: skip
    if text.upper() != text:
        others.append(text.upper())
    assert [parse_id(other) for other in others] == [None] * len(others)


@given(st.one_of(ANYTHING, TEXT))
def test_anything_else_is_an_id_that_no_row_has(value: object) -> None:
    assert parse_id(value) is None
    assert lookup_id(value) == UNKNOWN == UUID(int=0)


@given(st.integers(1, 10**19 - 1))
def test_a_numbered_id_is_the_same_as_number_and_as_text(number: int) -> None:
    assert numbered_id(number) == numbered_id(str(number)) == str(number)


@pytest.mark.parametrize(
    "value",
    [
        0, -1, 10**19, True, 1.0, None, [1], "", "0", "-1", "+1", " 1", "1\n", "1_0", "\u0661", "\uff11", "1e3",
        "9" * 20,
    ],
)  # fmt: skip
def test_what_is_no_numbered_id_is_none(value: object) -> None:
    assert numbered_id(value) is None


@given(st.one_of(ANYTHING, TEXT))
def test_reading_an_id_never_fails(value: object) -> None:
    found = numbered_id(value)
    assert found is None or found == str(int(found))
    assert slack_message_id(value, "1.2") is None or isinstance(value, str)
    assert not is_slack_timestamp(value) or isinstance(value, str)


def test_a_slack_message_is_named_by_channel_and_exact_timestamp() -> None:
    assert slack_message_id("C0123", "1726990000.000100") == "C0123:1726990000.000100"


@pytest.mark.parametrize(
    ("channel", "timestamp"),
    [
        ("c0123", "1.2"), ("", "1.2"), ("C0123\n", "1.2"), ("C" * 65, "1.2"), (7, "1.2"), ("C0123", 1726990000.0001),
        ("C0123", "1726990000"), ("C0123", "1.2\n"), ("C0123", "\u0661.\u0662"), ("C0123", "1.2.3"), ("C0123", None),
    ],
)  # fmt: skip
def test_a_malformed_slack_message_has_no_name(channel: object, timestamp: object) -> None:
    assert slack_message_id(channel, timestamp) is None
