"""Every construct of jq's language passes the policy, compiles, and decides as the plain binding decides."""

import json

import jq
import pytest

from routing.sandbox.client import Evaluation, Limits, check_compiles
from routing.sandbox.policy import check_expression
from tests.routing.sandbox.evaluations import evaluate_rules

ENVELOPE = {
    "source": "github",
    "kind": "issues",
    "headers": {"x-now": "1", "user-agent": "hook/1.0"},
    "payload": {
        "action": "labeled",
        "id": 9007199254740993,
        "labels": [{"name": "size/m", "id": 1}, {"name": "bug", "id": 2}],
        "text": "Zażółć \u0000 gęślą 🐙",
        "tree": {"left": {"value": 1}, "right": {"value": 2}},
        "numbers": [3, 1, 2, 2],
        "when": "2026-11-30T10:00:00Z",
        "now": True,
    },
}
PARAMS = {"trusted": ["octavia"], "prefixes": ["size/"], "limit": 2}
PROGRAMS = [
    # identity, fields, indices, slices, iteration, recursion
    ".",
    "..",
    ".source",
    '."source"',
    '.["source"]',
    '. "source"',
    '.headers."x-now"',
    '.headers["x-now"]',
    ".payload.labels[0].name",
    ".payload.labels[-1].name",
    ".payload.numbers[1:3]",
    ".payload.numbers[:-1]",
    ".payload.numbers[2:]",
    ".payload.labels[].name",
    ".payload.labels.[0]",
    ".nope.nope?",
    ".payload.text.nope?",
    '.payload.text["nope"]?',
    '.["source", "kind"]',
    "..|.value?",
    "[..|numbers]|length == 9",
    '."pay\\("load")".now',
    # literals and construction
    "null",
    "false",
    "1.5e3 == 1500",
    ".5 == 0.5",
    "-1 < 0",
    "-(1)",
    '"\\u017c\\n\\t\\"\\\\\\/" | length == 6',
    '"a\nb" | length == 3',
    "[]",
    "[1, 2, (3, 4)] | length == 4",
    "{}",
    "{a: 1}",
    "{a: 1,}",
    '{"a b": 1}."a b"',
    "{source, kind}|.kind",
    '{"source"}',
    "{(.source): 1}.github",
    '{"k\\(1 + 1)": true}.k2',
    '{@base64 "x\\(1)": true} | keys[0]',
    "{$params}.params.trusted[0]",
    ". as $x | {$x, a: 2}.x.source",
    "{if: 1, then: 2, and: 3, def: 4, __loc__: 5}.and",
    "{a: (1, 2)} | .a == 2",
    "{a: 1 | . + 1}.a == 2",
    "{now: .payload.now}.now",
    "{a: if .now then 1, 2 else false, 4 end, input: 5}.a",
    "{a: reduce .payload.numbers[] as $n (0; . + $n), b: 3}.a == 8",
    # operators
    "1 + 2 * 3 - 4 / 2 % 3 == 5",
    ".payload.numbers - [2] == [3, 1]",
    "{a: {b: 1}} * {a: {c: 2}} | .a | length == 2",
    '"ab" * 3 == "ababab"',
    '"a,b" / "," | length == 2',
    ".nope // .source",
    "empty // false",
    "(false, null) // 7",
    '.source == "github" and .kind != "push"',
    "false or null",
    ".source | not",
    "1 as $x | 2 as $y | $x < $y",
    '[1] < [2] and "a" >= "A" and null <= false',
    ".payload.id == 9007199254740993",
    ".payload.id | tostring",
    # assignment
    ".a = 1 | .a == 1",
    ".payload.numbers[] |= . + 1 | .payload.numbers[0] == 4",
    ".x += 1 | .x -= 1 | .x *= 2 | .x /= 2 | .x %= 2 | .x == 0",
    ".y //= 5 | .y",
    '.payload |= with_entries(select(.key == "id")) | .payload | length == 1',
    "(.a, .b) = 1 | .b",
    "del(.payload.labels[0, 1]) | .payload.labels == []",
    'to_entries | map(.key) | index("payload")',
    # conditionals, errors, labels
    "if .nope then 1 end | .source",
    "if .nope then 1 elif .kind then 2 else 3 end == 2",
    "if empty then 1 else 2 end",
    'try error("x") catch . == "x"',
    "try error catch .source",
    "[.payload.numbers[] | try if . > 2 then error else . end] | length == 3",
    'error("x")?',
    'error("x")',
    '(1, error("x")) | . == 1',
    "label $out | foreach .payload.numbers[] as $n (0; . + $n; if . > 3 then ., break $out else empty end)",
    "first(range(10; 0; -1)) == 10",
    "[limit(2; repeat(1))] == [1, 1]",
    "isempty(empty) and (isempty(1) | not)",
    # reduction, destructuring, functions
    "reduce .payload.numbers[] as $n (0; . + $n) == 8",
    "[foreach range(3) as $i (0; . + $i)] | last == 3",
    "[foreach range(3) as $i (0; . + $i; [$i, .])] | length == 3",
    '.payload.labels as [$first, {name: $second}] | $second == "bug"',
    ".payload as {action: $a, labels: [{name: $n}], $id} | $n",
    '. as {"kind": $k, ("so" + "urce"): $s, $headers: {"x-now": $now}} | $now',
    '.payload.labels[0] as [$a] ?// {name: $a} ?// $a | $a == "size/m"',
    "reduce .payload.labels[] as {id: $i} (0; . + $i) == 3",
    "def f: .source; f",
    "def f(g): g | g; 2 | f(. * 2) == 8",
    "def f($a; $b): $a + $b; f(1; 2) == 3",
    "def f($a; g): [g | . + $a]; f(1; 1, 2) == [2, 3]",
    "def fac: if . <= 1 then 1 else . * (. - 1 | fac) end; 5 | fac == 120",
    "def f: def g: 3; g; f == 3",
    "def a: 1; def b: a + 1; b == 2",
    # strings, formats, patterns
    '"\\(.source)/\\(.kind)" == "github/issues"',
    '"\\("a \\("b")")" == "a b"',
    '@json "v=\\(.payload.numbers)" | endswith("]")',
    '[1, "a b"] | @csv, @tsv, @sh',
    '"<&>" | @html == "&lt;&amp;&gt;"',
    '"ż" | @uri | @text',
    '"aGk=" | @base64d == "hi"',
    '"hi" | @base32',
    '.payload.text | test("GĘŚLĄ"; "i")',
    '.payload.labels[0].name | capture("(?<kind>[a-z]+)/(?<size>.)").size == "m"',
    '[.payload.when | scan("[0-9]+")] | length == 6',
    '.payload.when | sub("-"; "/") | gsub("[0-9]"; "") | length',
    '[.payload.labels[].name | splits("/")] | length == 3',
    '.headers["user-agent"] | ltrimstr("hook/") | rtrimstr(".0") | tonumber == 1',
    '.kind | startswith("iss") and endswith("ues") and contains("su") and inside("issues!")',
    ".payload.text | explode | implode | ascii_downcase | ascii_upcase | utf8bytelength > 10",
    '"a, b" | split(", ") | join("-") == "a-b"',
    '"  x " | trim | length == 1',
    # collections
    ".payload.numbers | sort == [1, 2, 2, 3]",
    ".payload.numbers | unique | add == 6",
    '.payload.labels | map(.name) | sort_by(length) | first == "bug"',
    ".payload.labels | group_by(.id) | length == 2",
    ".payload.labels | min_by(.id).name, max_by(.id).name",
    ".payload.numbers | (min, max), any(. > 2), all(. > 0)",
    ".payload.labels | any(.[].name; startswith($params.prefixes[]))",
    '.payload.labels | INDEX(.name) | has("bug")',
    '.source | IN("github", "gitea")',
    ".source as $s | $params.trusted | index($s)",
    "[.payload.tree | paths] | length == 4",
    '.payload.tree | [paths(type == "number")] | length == 2',
    'getpath(["payload", "tree", "left", "value"]) == 1',
    "path(.payload.tree.left) | length == 3",
    "pick(.payload.id) | .payload.id",
    "[.payload.tree | tostream] | fromstream(.[])",
    '.payload.tree | walk(if type == "number" then . + 1 else . end) | .left.value == 2',
    "[.payload.tree | recurse | numbers] | length == 2",
    ".payload.numbers | [.[] | select(. >= 2)] | reverse | flatten | length == 3",
    "[1, [2]] | transpose? // true",
    "[[1, 2], [3, 4]] | [combinations] | length == 4",
    'with_entries(.value |= type) | .payload == "object"',
    "keys, length, type",
    "tojson | fromjson | .source",
    '.payload | map_values(type) | .id == "number"',
    "[range(0; 10; 3)] == [0, 3, 6, 9]",
    "[1, 2] | combinations? // true",
    "until(. == 5; 5) == 5",
    "[1 | while(. < 10; . * 2)] | length == 4",
    "$params.limit == 2",
    "$params | keys | length == 3",
    # numbers and times
    "[1.5, -1.5 | floor, ceil, round, fabs] | length == 8",
    "(2 | pow(.; 10)) == 1024 and (4 | sqrt) == 2",
    "nan | isnan",
    "infinite | isinfinite",
    '.payload.when | fromdate | todate == "2026-11-30T10:00:00Z"',
    '.payload.when | strptime("%Y-%m-%dT%H:%M:%SZ") | mktime | gmtime | strftime("%Y") == "2026"',
    # comments
    "# only said\n.source # and said again",
    ".source # carried \\\n| nope",
    '.source # not carried \\\\\n| . == "gitea"',
    '.source\r\n| . == "github"',
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_legal_program_decides_in_the_sandbox_as_in_plain_jq(program: str) -> None:
    check_expression(program)
    evaluation = evaluate_rules(program, envelope=ENVELOPE, params_text=json.dumps(PARAMS))
    expected = _plain_outcome(program)
    if expected == "error":
        assert [fault.cause for fault in evaluation.faults] == ["error"]
    else:
        assert evaluation == Evaluation(0 if expected == "match" else None, ())


def test_the_legal_programs_may_be_saved() -> None:
    reasons = [
        reason
        for start in range(0, len(PROGRAMS), 32)
        for reason in check_compiles(expressions=PROGRAMS[start : start + 32], limits=Limits())
    ]
    assert [pair for pair in zip(PROGRAMS, reasons, strict=True) if pair[1]] == []


def _plain_outcome(program: str) -> str:
    outputs = iter(jq.compile(program, args={"params": PARAMS}).input_text(json.dumps(ENVELOPE)))
    try:
        first = next(outputs, None)
    except ValueError:
        return "error"
    return "no match" if first is None or first is False else "match"
