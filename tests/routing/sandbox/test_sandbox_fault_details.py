"""A fault's detail explains the error without a word of the payload."""

import pytest

from routing.sandbox.faults import DETAIL_LIMIT, describe
from tests.routing.sandbox.evaluations import evaluate_rules

SECRET = "hunter2 and more"


@pytest.mark.parametrize(
    ("expression", "detail"),
    [
        (".s + 1", "string and number cannot be added"),
        (".s.name", 'cannot index string with string "name"'),
        (".s[.s]", "cannot index string with string"),
        (".s[]", "cannot iterate over string"),
        (".s | tonumber", "string cannot be parsed as a number"),
        (".s | keys", "string has no keys"),
        (".s | fromjson", "a text is not valid JSON"),
        (".s | fromdate", "a date does not match its format"),
        ('1 | startswith("a")', "startswith requires string inputs"),
        ("{(.s | length): 1}", "object keys must be strings"),
        ("error(.s)", "the expression raised an error"),
        ('error("Cannot index number with \\(.s)")', "the expression raised an error"),
        ("error({s})", "the expression raised an error of type object"),
        ("error(null)", "the expression raised null"),
        (".s | error", "the expression raised an error"),
        ("[.s] | @csv | test(.s)", "the expression raised an error"),
        ("{a: .s} | .a = (.a | ltrimstr(1)) | error(.a)", "the expression raised an error"),
        ("[.s] | implode", "the expression raised an error"),
    ],
)
def test_a_detail_is_made_of_known_words(expression: str, detail: str) -> None:
    (fault,) = evaluate_rules(expression, envelope={"s": SECRET}).faults
    assert fault.detail is not None
    assert "hunter2" not in fault.detail
    assert fault.cause == "error"
    if not expression.startswith(("[.s] | @csv", "{a: .s}", "{(.s")):
        assert fault.detail == detail


def test_a_message_that_imitates_jq_gives_away_nothing() -> None:
    imitations = [
        f'Cannot index string with string ("{SECRET}")',
        f'Cannot index string with string ("{SECRET.split(maxsplit=1)[0]}")',
        f"string ({SECRET}) and number ({SECRET}) cannot be added {SECRET}",
        f'date "{SECRET}" does not match format "{SECRET}"',
        f"Regex failure: {SECRET}",
        f"{SECRET} is not a valid regex",
        f"\n{SECRET}\u001b[31m",
        "Cannot index {0} with {1}",
    ]
    for imitation in imitations:
        detail = describe("string", imitation, ".payload")
        assert "hunter2" not in detail
        assert detail.isprintable()
        assert len(detail) <= DETAIL_LIMIT


def test_a_field_name_is_told_only_when_the_owner_wrote_it() -> None:
    message = 'Cannot index string with string ("login")'
    assert describe("string", message, ".sender.login") == 'cannot index string with string "login"'
    assert describe("string", message, '.["login"]') == 'cannot index string with string "login"'
    assert describe("string", message, ".[.key]") == "cannot index string with string"


def test_an_endless_error_text_is_cut() -> None:
    (fault,) = evaluate_rules('error("x" * 1000000)').faults
    assert fault.detail == "the expression raised an error"
