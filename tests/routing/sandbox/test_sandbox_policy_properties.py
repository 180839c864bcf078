"""The policy holds in every syntactic place, and its tokens end where jq's own tokens end."""

import itertools

import jq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing.sandbox.policy import FORBIDDEN, ExpressionRefusedError, ForbiddenFunction, check_expression

HOLE = "HOLE"
PLACES = [
    HOLE,
    f".a | {HOLE}",
    f"{HOLE} | .a",
    f".a, {HOLE}",
    f"..|{HOLE}",
    f'"text \\({HOLE}) text"',
    f'@text "\\({HOLE})"',
    f'@base64 "\\({HOLE} | tostring)"',
    f"{{a: {HOLE}}}",
    f"{{a: 1, b: {HOLE}}}",
    f"{{({HOLE} | tostring): 1}}",
    f'{{"k\\({HOLE})": 1}}',
    f'{{@text "\\({HOLE})": 1}}',
    f"[{HOLE}]",
    f".[{HOLE}]",
    f".[{HOLE}:2]",
    f".[1:{HOLE}]",
    f'."k\\({HOLE})"',
    f"-{HOLE}",
    f"1 + {HOLE}",
    f"{HOLE} // 1",
    f"{HOLE} and true",
    f".a |= {HOLE}",
    f"def f: {HOLE}; f",
    f"def f(g): g; f({HOLE})",
    f"def f($a; g): g; f(1; {HOLE})",
    f"map({HOLE})",
    f"path({HOLE})",
    f"if {HOLE} then 1 else 2 end",
    f"if . then {HOLE} else 2 end",
    f"if . then 1 elif {HOLE} then 2 else 3 end",
    f"if . then 1 else {HOLE} end",
    f"{{a: if . then 1, {HOLE} else 2 end}}",
    f"try {HOLE} catch .",
    f"try error catch {HOLE}",
    f"{HOLE}?",
    f"reduce {HOLE} as $x (0; .)",
    f"reduce .[] as $x ({HOLE}; .)",
    f"reduce .[] as $x (0; {HOLE})",
    f"foreach .[] as $x (0; .; {HOLE})",
    f"{HOLE} as $x | $x",
    f"{HOLE} as [$x] ?// $x | $x",
    f". as {{({HOLE} | tostring): $x}} | $x",
    f"label $out | {HOLE}, break $out",
    f"# a comment \\\n still\n{HOLE}",
    f'"a string" | {HOLE}',
    f'"\\"" | {HOLE}',
    f"({HOLE})",
    f"{HOLE}.a",
    f"{HOLE}[0]",
    f"limit(1; {HOLE})",
]
NAMES = sorted(FORBIDDEN.keys() - {"import", "include"})
BLANKS = ["", " ", "\n", "\t", "\r\n", " # note\n", " # note \\\n more\n"]


@given(place=st.sampled_from(PLACES), name=st.sampled_from(NAMES), blank=st.sampled_from(BLANKS))
def test_a_forbidden_name_is_refused_in_every_place(place: str, name: str, blank: str) -> None:
    before = place.index(HOLE)
    with pytest.raises(ForbiddenFunction) as refused:
        check_expression(place.replace(HOLE, blank + name, 1))
    assert (refused.value.name, refused.value.position.offset) == (name, before + len(blank))


@given(outer=st.sampled_from(PLACES), inner=st.sampled_from(PLACES), name=st.sampled_from(NAMES))
def test_a_forbidden_name_is_refused_in_every_place_inside_every_place(outer: str, inner: str, name: str) -> None:
    nested = outer.replace(HOLE, f"({inner.replace(HOLE, name, 1)})", 1)
    with pytest.raises(ForbiddenFunction) as refused:
        check_expression(nested)
    assert nested[refused.value.position.offset :].startswith(name)


@pytest.mark.parametrize("place", PLACES)
def test_the_places_are_legal_jq(place: str) -> None:
    check_expression(place.replace(HOLE, "type", 1))
    jq.compile(place.replace(HOLE, "type", 1))


def test_comments_end_where_jq_ends_them() -> None:
    for length in range(6):
        for body in itertools.product("\\\r\n ", repeat=length):
            expression = f"1 #{''.join(body)}\n+ nope(1)\n"
            assert _is_refused_for(expression) == _jq_sees_nope(expression), repr(expression)


PIECES = [
    '"',
    "\\",
    "(",
    ")",
    "\\(",
    "{",
    "}",
    "[",
    "]",
    ",",
    "#",
    "\n",
    "\r",
    " ",
    ".a",
    "1",
    "if",
    "end",
    "u0041",
    ":",
]


@given(st.lists(st.sampled_from([*PIECES, "now", "now", "|"]), max_size=9).map("".join))
def test_whatever_compiles_and_calls_a_forbidden_function_is_refused(expression: str) -> None:
    # Renaming the name to one that does not exist shows whether jq takes it for a call.
    if _is_accepted(expression):
        assert not _jq_compiles(expression) or _jq_compiles(expression.replace("now", "nope"))


@given(st.lists(st.sampled_from([*PIECES, "true", "|", ";", "\\\n", "\\\\"]), max_size=10).map("".join))
def test_whatever_is_accepted_keeps_its_place_between_brackets(expression: str) -> None:
    if _is_accepted(expression) and _jq_compiles(f"({expression}\n\n)"):
        assert _jq_compiles(expression)


def _is_refused_for(expression: str) -> bool:
    return not _is_accepted(expression.replace("nope(1)", "now"))


def _jq_sees_nope(expression: str) -> bool:
    return not _jq_compiles(expression)


def _is_accepted(expression: str) -> bool:
    try:
        check_expression(expression)
    except ExpressionRefusedError:
        return False
    return True


def _jq_compiles(expression: str) -> bool:
    try:
        jq.compile(expression)
    except ValueError:
        return False
    return True
