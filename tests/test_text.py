"""Untrusted text becomes one printable line, or a value that every database keeps, whatever it holds."""

import json
import unicodedata
from typing import Any

import pytest
from django.db import connection
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from switchboard.text import one_line, storable

NASTY = st.sampled_from("\0\x07\t\n\r\x1b\x85\u00a0\u00ad\u200b\u200d\u2028\u202e\ud800\udfff\ue000\ufeff\U000e0041 a")
TEXT = st.lists(st.one_of(st.characters(), NASTY)).map("".join)
LIMIT = st.integers(1, 60)
CLEAN_TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"))


def json_of(texts: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    return st.recursive(
        st.one_of(st.none(), st.booleans(), st.integers(), texts),
        lambda values: st.one_of(st.lists(values, max_size=4), st.dictionaries(texts, values, max_size=4)),
        max_leaves=12,
    )


JSON, CLEAN_JSON = json_of(TEXT), json_of(CLEAN_TEXT)
ONE_DATABASE = hypothesis_settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])


def select(value: str, kind: str) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT CAST(%s AS {kind})", [value])
        row = cursor.fetchone()
    return row[0] if row else None


@given(TEXT, LIMIT)
def test_a_line_is_within_its_limit_and_printable(text: str, limit: int) -> None:
    line = one_line(text, limit=limit)
    assert len(line) <= limit
    assert line.encode().decode() == line
    for char in line:
        unprintable = unicodedata.category(char) in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
        assert not unprintable or char == "\u200d"


@given(TEXT, LIMIT)
def test_a_line_has_single_spaces_between_its_words(text: str, limit: int) -> None:
    line = one_line(text, limit=limit)
    assert line == " ".join(line.split())


@given(TEXT, LIMIT)
def test_a_line_stays_as_it_is(text: str, limit: int) -> None:
    line = one_line(text, limit=limit)
    assert one_line(line, limit=limit) == line


@given(st.text("abc \u00e9\u9593\U0001f916"), LIMIT)
def test_a_cut_is_shown_by_an_ellipsis(text: str, limit: int) -> None:
    whole, line = " ".join(text.split()), one_line(text, limit=limit)
    assert line == whole if len(whole) <= limit else line.endswith("\u2026")
    assert whole.startswith(line.removesuffix("\u2026"))


@pytest.mark.django_db
@ONE_DATABASE
@given(TEXT)
def test_the_database_keeps_every_line(text: str) -> None:
    line = one_line(text, limit=255)
    assert select(line, "varchar(255)") == line


def test_a_family_stays_one_emoji() -> None:
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
    assert one_line(family, limit=10) == family


def test_what_hides_or_turns_text_is_replaced() -> None:
    assert one_line("a\u202eb\u200bc\0d\ud800e\x1b[31m", limit=40) == "a\ufffdb\ufffdc\ufffdd\ufffde\ufffd[31m"


def test_a_huge_text_is_cut_before_it_is_read() -> None:
    assert one_line("ab " * 10_000_000, limit=5) == "ab a\u2026"


@given(JSON)
def test_storable_is_idempotent(value: Any) -> None:
    once = storable(value)
    assert storable(once) == once


@given(JSON)
def test_what_is_storable_holds_no_nul_and_no_lone_surrogate(value: Any) -> None:
    written = json.dumps(storable(value), ensure_ascii=False)
    assert "\\u0000" not in written
    assert written.encode().decode() == written


@given(CLEAN_JSON)
def test_what_was_storable_passes_unchanged(value: Any) -> None:
    assert storable(value) == value


@given(TEXT)
def test_only_nul_and_lone_surrogates_are_replaced(text: str) -> None:
    kept = storable(text)
    assert len(kept) == len(text)
    for before, after in zip(text, kept, strict=True):
        assert after == ("\ufffd" if before == "\0" or unicodedata.category(before) == "Cs" else before)


@pytest.mark.django_db
@ONE_DATABASE
@given(JSON)
def test_the_database_keeps_every_storable_value(value: Any) -> None:
    written = json.dumps(storable(value))
    kind = "jsonb" if connection.vendor == "postgresql" else "text"
    stored = select(written, kind)
    assert stored is not None
    assert json.loads(stored) == json.loads(written) if isinstance(stored, str) else stored == json.loads(written)


def test_a_tuple_becomes_a_list_and_other_values_stay_themselves() -> None:
    assert storable(("a\0", 1, None, True, 1.5)) == ["a\ufffd", 1, None, True, 1.5]
    assert storable({"k\0": {"\ud800": ["\udfff"]}}) == {"k\ufffd": {"\ufffd": ["\ufffd"]}}
