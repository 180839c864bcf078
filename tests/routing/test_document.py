"""A body is one strict JSON value or it does not parse, and the verdict never depends on who asks."""

import json
import sys
import time
from urllib.parse import quote_plus

import jq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing.document import MAX_DEPTH, UNPARSED, Document, form_payload, member_text, parse_document

FORM = "application/x-www-form-urlencoded; charset=utf-8"


def parse(body: bytes) -> Document:
    return parse_document(body, content_type="application/json")


@pytest.mark.parametrize("body", [b"null", b"[]", b'"text"', b"7", b"true", b' {"a": 1}\r\n\t'])
def test_any_single_json_value_parses(body: bytes) -> None:
    document = parse(body)

    assert document.parsed
    assert document.value == json.loads(body)
    assert document.text == body.decode()


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"   ",
        b'{"a":1} {"b":2}',
        b'{"n":NaN}',
        b'{"n":Infinity}',
        b"-Infinity",
        b"\xef\xbb\xbf{}",
        b'{"a":"\xff"}',
        b'"\xed\xa0\xbd"',
        '{"a":1}'.encode("utf-16"),
        b"{'a':1}",
        b'{"a":1,}',
        b'"a\nb"',
        b"payload=%7B%7D",
        "[\u0661]".encode(),
    ],
)
def test_anything_else_does_not_parse(body: bytes) -> None:
    assert parse(body) == UNPARSED
    assert not parse(body).parsed


def test_a_null_body_is_parsed_and_no_body_is_not() -> None:
    assert parse(b"null").parsed
    assert not parse(b"").parsed


@pytest.mark.parametrize("digits", ["9" * 4301, "9" * 5000])
def test_an_integer_that_python_refuses_does_not_parse(digits: str) -> None:
    assert parse(f'{{"n":{digits}}}'.encode()) == UNPARSED


def test_integers_are_exact_and_keep_their_digits() -> None:
    document = parse(b'{"n":9007199254740993,"m":12345678901234567890123}')

    assert document.value == {"n": 9007199254740993, "m": 12345678901234567890123}
    assert document.text == '{"n":9007199254740993,"m":12345678901234567890123}'


@pytest.mark.parametrize(("digits", "number"), [("1e999", sys.float_info.max), ("-1e999", -sys.float_info.max)])
def test_an_overflowing_float_is_the_largest_one_as_in_jq(digits: str, number: float) -> None:
    document = parse(f'{{"n":{digits}}}'.encode())

    assert document.value == {"n": number}
    assert document.text == f'{{"n":{digits}}}'
    assert jq.compile(".n").input_text(document.text).first() == number


def nested(depth: int) -> bytes:
    return b"[" * depth + b"]" * depth


@pytest.mark.parametrize("depth", [200, 300, MAX_DEPTH])
def test_deep_nesting_parses_up_to_the_limit(depth: int) -> None:
    assert parse(nested(depth)).parsed


@pytest.mark.parametrize("depth", [MAX_DEPTH + 1, 900, 100_000])
def test_deeper_nesting_does_not_parse(depth: int) -> None:
    assert parse(nested(depth)) == UNPARSED
    assert parse(b'{"a":' * depth + b"1" + b"}" * depth) == UNPARSED


def test_the_verdict_on_nesting_is_the_same_deep_inside_the_call_stack() -> None:
    def from_depth(calls: int) -> list[bool]:
        if calls:
            return from_depth(calls - 1)
        return [parse(nested(MAX_DEPTH)).parsed, parse(nested(MAX_DEPTH + 1)).parsed]

    assert from_depth(0) == from_depth(300) == [True, False]


def test_brackets_in_strings_and_beside_each_other_are_no_nesting() -> None:
    body = json.dumps({"a": '[{\\"[' * 1000, "b": [[] for _ in range(2000)]}).encode()

    assert parse(body).parsed


@pytest.mark.parametrize("body", [b'["' + b'\\"' * 1_000_000 + b"[" * 600, b"[" + b'"",' * 1_000_000 + b"[" * 600])
def test_a_hostile_body_is_judged_in_linear_time(body: bytes) -> None:
    started = time.perf_counter()

    assert parse(body) == UNPARSED
    assert time.perf_counter() - started < 3


@pytest.mark.parametrize(
    ("body", "text", "value"),
    [
        (rb'"\ud800"', r'"\ufffd"', "\ufffd"),
        (rb'"\uDC00 tail"', r'"\ufffd tail"', "\ufffd tail"),
        (rb'"\ud83d\ude00"', r'"\ud83d\ude00"', "\U0001f600"),
        (rb'"\ud800\ud83d\ude00"', r'"\ufffd\ud83d\ude00"', "\ufffd\U0001f600"),
        (rb'"\ud83d\u0041"', r'"\ufffd\u0041"', "\ufffdA"),
        (rb'"\\ud800"', r'"\\ud800"', "\\ud800"),
        (rb'"\\\ud800"', r'"\\\ufffd"', "\\\ufffd"),
        (rb'{"\ud800":1}', r'{"\ufffd":1}', {"\ufffd": 1}),
        (rb'"a\u0000b"', r'"a\u0000b"', "a\0b"),
    ],
)
def test_lone_surrogate_escapes_become_replacement_characters(body: bytes, text: str, value: object) -> None:
    document = parse(body)

    assert (document.text, document.value) == (text, value)
    assert jq.compile(".").input_text(text).first() == value


def test_the_form_field_payload_is_the_document() -> None:
    body = b"a=1&payload=" + quote_plus('{"title":"50% + é & more"}').encode() + b"&b=2"

    document = parse_document(body, content_type=FORM)

    assert document.value == {"title": "50% + é & more"}
    assert form_payload(body) == '{"title":"50% + é & more"}'.encode()


@pytest.mark.parametrize("body", [b"", b"a=1", b"xpayload=%7B%7D", b"payload", b"payload=", b"payload=%FF"])
def test_a_form_without_usable_json_does_not_parse(body: bytes) -> None:
    assert parse_document(body, content_type=FORM) == UNPARSED


def test_signed_json_sent_as_a_form_does_not_turn_a_text_inside_it_into_the_payload() -> None:
    body = b'{"issue":{"body":"see &payload=%7B%22forged%22:1%7D&"}}'

    assert form_payload(body) is None
    assert parse_document(body, content_type=FORM) == UNPARSED


def test_a_member_keeps_the_text_it_was_sent_as() -> None:
    document = parse(b' { "data" : {"x":1, "metadata" : {"n": 1.10e2, "big":12345678901234567890123} } , "z": {} }')

    assert member_text(document, "data", "metadata") == '{"n": 1.10e2, "big":12345678901234567890123}'
    assert member_text(document, "z", "metadata") == "null"
    assert member_text(document, "data", "x", "y") == "null"


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), JSON_VALUES, max_size=5), st.sampled_from([None, 2]))
def test_every_member_of_any_object_is_found(members: dict[str, object], indent: int | None) -> None:
    document = parse(json.dumps(members, indent=indent).encode())

    assert document.value == members
    assert {name: json.loads(member_text(document, name)) for name in members} == members


@given(st.binary())
def test_no_bytes_raise(body: bytes) -> None:
    assert isinstance(parse(body), Document)
    assert isinstance(parse_document(b"payload=" + body, content_type=FORM), Document)
