"""What an expression may name, and that it must be whole."""

import jq
import pytest

from routing.sandbox.policy import FORBIDDEN, ForbiddenFunction, InvalidExpression, Position, check_expression

# Every builtin that libjq 1.8.2 reports and that depends on nothing but its arguments.
PURE = """
IN INDEX JOIN abs acos acosh add all any arrays ascii_downcase ascii_upcase asin asinh atan atan2 atanh booleans
bsearch builtins capture cbrt ceil combinations contains copysign cos cosh del delpaths drem empty endswith erf
erfc error exp exp10 exp2 explode expm1 fabs fdim finites first flatten floor fma fmax fmin fmod format frexp
from_entries fromdate fromdateiso8601 fromjson fromstream gamma getpath gmtime group_by gsub has have_decnum
have_literal_numbers hypot implode in index indices infinite inside isempty isfinite isinfinite isnan isnormal
iterables j0 j1 jn join keys keys_unsorted last ldexp length lgamma lgamma_r limit log log10 log1p log2 logb
ltrim ltrimstr map map_values match max max_by min min_by mktime modf nan nearbyint nextafter nexttoward normals
not nth nulls numbers objects path paths pick pow range recurse remainder repeat reverse rindex rint round rtrim
rtrimstr scalars scalb scalbln scan select setpath significand sin sinh skip sort sort_by split splits sqrt
startswith strftime strings strptime sub tan tanh test tgamma to_entries toarray toboolean todate todateiso8601
tojson tonumber tostream tostring transpose trim trimstr trunc truncate_stream type unique unique_by until
utf8bytelength values walk while with_entries y0 y1 yn
"""


def test_every_builtin_of_the_installed_jq_is_either_forbidden_or_known_to_be_pure() -> None:
    names = {name.rpartition("/")[0] for name in jq.compile("builtins").input_value(None).first()}
    assert names - set(PURE.split()) - FORBIDDEN.keys() == set()


@pytest.mark.parametrize(
    "expression",
    [
        ".now",
        ".payload.env.input",
        '."env"',
        '.["now"]',
        '"now"',
        '"say \\"now\\" | env"',
        "# now\n.a",
        ".a # | env",
        ".a # \\\n | now",
        "{env}",
        "{env: 1}",
        "{now: 1, input: 2}",
        '{"now": 1}',
        "{a: [1, 2], now}",
        "{a: {now}, env: (1, 2)}",
        '{"a\\(1)": 1, halt: 2}',
        "{a: if . then 1, 2 else 3, 4 end, env: 5}",
        ". as {now: $x, env: [$y]} | $x",
        ". as $now | $now",
        ". as [$env] ?// $env | $env",
        "reduce .[] as $input (0; . + $input)",
        "def f($halt): $halt; f(1)",
        "label $now | break $now",
        "{$params}",
        "$params.now",
        "nowhere?",
        "@sh",
        'splits("a") | ltrimstr("b")',
        'gmtime | mktime | strftime("%Y")',
        "if .if then .then elif .elif then .end else .else end",
        '"\\("\\(1)")"',
        ".a\r\n| .b",
        "1e3, .5, 1., 1.5E-3",
    ],
)
def test_names_in_harmless_places_pass(expression: str) -> None:
    check_expression(expression)


@pytest.mark.parametrize(
    ("expression", "name", "position"),
    [
        ("now", "now", Position(1, 1, 0)),
        ('"\\(env)"', "env", Position(1, 4, 3)),
        ('"a \\("b \\(env.PATH)") c"', "env", Position(1, 11, 10)),
        ("{(now|tostring): 1}", "now", Position(1, 3, 2)),
        ("{a: env}", "env", Position(1, 5, 4)),
        ("{a: if . then 1, env else 2 end}", "env", Position(1, 18, 17)),
        ("def f: now; f", "now", Position(1, 8, 7)),
        ("def now: 1; now", "now", Position(1, 5, 4)),
        ("def f(input): input; f(1)", "input", Position(1, 7, 6)),
        ("$ENV.PATH", "$ENV", Position(1, 1, 0)),
        (". as $ENV | $ENV", "$ENV", Position(1, 6, 5)),
        ("{$ENV}", "$ENV", Position(1, 2, 1)),
        ('import "a" as a; .', "import", Position(1, 1, 0)),
        ('include "a"; .', "include", Position(1, 1, 0)),
        (".a\n# a comment\n  | halt", "halt", Position(3, 5, 19)),
        (".a # \\\\\n| now", "now", Position(2, 3, 10)),
        (".a # \r| .b\n| now", "now", Position(2, 3, 13)),
        ('"\\\\" | env', "env", Position(1, 8, 7)),
        ('@text "\\(now)"', "now", Position(1, 10, 9)),
        ("..|env", "env", Position(1, 4, 3)),
        (".[env]", "env", Position(1, 3, 2)),
        ("$params|debug(.a)", "debug", Position(1, 9, 8)),
        ('"é" | now', "now", Position(1, 7, 6)),
    ],
)
def test_a_forbidden_function_is_refused_with_its_place(expression: str, name: str, position: Position) -> None:
    with pytest.raises(ForbiddenFunction) as refused:
        check_expression(expression)
    assert (refused.value.name, refused.value.position) == (name, position)


@pytest.mark.parametrize(
    ("expression", "offset"),
    [
        ("", 0),
        (" # nothing", 0),
        (") , (true", 0),
        (".a)", 2),
        ("(.a", 0),
        ("[.a)", 3),
        ("{a: (1}", 6),
        ("if .a then .b", 0),
        (".a end", 3),
        ("if (.a end)", 7),
        ('"abc', 0),
        ('"abc\\', 0),
        ('"a\\(.b"', 6),
        ('"a\\(.b', 2),
        ('"a\\(.b]"', 6),
        (".a\0.b", 2),
        (".\ud800", 1),
        ("$ $ $params", 0),
        ("$$$params", 0),
        ("$", 0),
        ("@", 0),
        ("1 & 2", 2),
        (".a ! .b", 3),
        ("1\f", 1),
        ("\ufeff.", 0),
        (".é", 1),
        ("a::b", 0),
        ("$a::b", 0),
        ("$__loc__", 0),
        ("{$__loc__}", 1),
        ("$__prog_args", 0),
        (". as $__prog_args | 1", 5),
    ],
)
def test_broken_text_is_refused_with_its_place(expression: str, offset: int) -> None:
    with pytest.raises(InvalidExpression) as refused:
        check_expression(expression)
    assert refused.value.position.offset == offset


def test_the_refusal_says_what_and_where() -> None:
    with pytest.raises(ForbiddenFunction, match=r"^now is not available to a rule: .* \(line 2, column 3\)$"):
        check_expression(".a\n| now")


def test_a_long_expression_is_read_in_linear_time() -> None:
    for expression in ('"' + "\\\\" * 2040 + '"', "#" + "\\" * 4090 + "\n1", "(" * 2048, '"\\(' * 1365, "." * 4096):
        try:
            check_expression(expression)
        except InvalidExpression:
            continue
