"""Turns jq's error values into short sentences that hold no text of the payload; standard library only."""

import re
from typing import Final

DETAIL_LIMIT: Final = 200  # characters

_TYPE: Final = r"(null|boolean|number|string|array|object)"
_FUNCTIONS: Final = (
    "startswith|endswith|ltrimstr|rtrimstr|trimstr|ltrim|rtrim|trim|split|splits|join|test|match|capture|scan|sub|gsub"
    "|explode|implode|ascii_downcase|ascii_upcase|strptime/1|strptime|strftime/1|strftime|mktime|gmtime|fromjson|tojson"
    "|tonumber|toboolean|todate|fromdate|has|contains|inside|flatten|nth|limit|skip|first|last|until|range|getpath"
)
_UNARY: Final = (
    "cannot be parsed as a number|cannot be parsed as a boolean|cannot be negated|has no keys|has no length"
    "|number required|cannot be sorted, as it is not an array|cannot be grouped, as it is not an array"
    "|cannot be matched, as it is not a string|cannot be reversed, as it is not an array|cannot be trimmed"
    "|only strings have UTF-8 byte length|only strings can be parsed|is not valid base64 data|has no absolute value"
    "|not a string or array|is not a valid format|can not be escaped for shell|cannot be tsv-formatted"
    "|cannot be csv-formatted|is not valid in a csv row|is not a string"
)
_BINARY: Final = (
    "cannot be added|cannot be subtracted|cannot be multiplied|cannot be divided because the divisor is zero"
    "|cannot be divided|cannot be iterated over|cannot have their containment checked"
    "|cannot be sorted, as they are not both arrays"
)
_FIXED: Final = (
    "Object keys must be strings",
    "Range bounds must be numeric",
    "Start and end indices of an array slice must be numbers",
    "A slice of an array can only be assigned another array",
    "Out of bounds negative array index",
    "Array index too large",
    "Array/string slice indices must be integers",
    "Path must be specified as an array",
    "Paths must be specified as an array",
    "Path too deep",
    "split input and separator must be strings",
    "explode input must be a string",
    "implode input must be an array",
    "flatten depth must not be negative",
    "limit doesn't support negative count",
    "skip doesn't support negative count",
    "nth doesn't support negative indices",
    "Out of bounds",
    "Invalid path expression",
    "Regex failure",
)
# The groups of a shape are words of this file or of jq, never of the delivery.
_SHAPES: Final = tuple(
    (pattern, sentence)
    for pattern, sentence in (
        (rf"Cannot index {_TYPE} with {_TYPE}", "cannot index {0} with {1}"),
        (rf"Cannot iterate over {_TYPE}", "cannot iterate over {0}"),
        (rf"Cannot check whether {_TYPE} has a {_TYPE} key", "cannot check whether {0} has a {1} key"),
        (rf"Cannot use {_TYPE} .*as object key", "cannot use {0} as object key"),
        (rf"{_TYPE} \(.*\) and {_TYPE} \(.*\) ({_BINARY})", "{0} and {1} {2}"),
        (rf"{_TYPE} \(.*\) ({_UNARY})", "{0} {1}"),
        (rf"({_FUNCTIONS})(?:\(\))? (requires string inputs|input must be a string)", "{0} {1}"),
        (rf"({_FUNCTIONS})(?:\(\))? requires (?:a number|numeric|parsed|array|string)", "{0} was given a wrong type"),
        (r'date ".*" does not match format', "a date does not match its format"),
        (r".* is not a valid regex", "a pattern is not a valid regular expression"),
        (r".*\(while parsing '", "a text is not valid JSON"),
        *((re.escape(text), text[0].lower() + text[1:]) for text in _FIXED),
    )
)
_FIELD: Final = re.compile(r'Cannot index \w+ with string \("([A-Za-z_][A-Za-z_0-9]{0,63})"\)')


def describe(kind: str, text: str, expression: str) -> str:
    """Return a sentence of at most 200 characters about a jq error, made of known words only.

    `kind` is the jq type of the error value, `text` its beginning when it is a string. jq's messages quote values
    and `error(…)` raises whatever the payload says, so nothing of `text` is kept but type names, jq's own phrases
    and a field name that stands in the owner's `expression`.
    """
    if kind == "null":
        return "the expression raised null"
    if kind != "string":
        return f"the expression raised an error of type {kind}"
    for pattern, sentence in _SHAPES:
        match = re.match(pattern, text, re.DOTALL)
        if match:
            return sentence.format(*match.groups()) + _named_field(text, expression)
    return "the expression raised an error"


def _named_field(text: str, expression: str) -> str:
    match = _FIELD.match(text)
    if match is None:
        return ""
    name = match.group(1)
    written = re.search(rf'(?:\.|"){name}\b', expression)
    return f' "{name}"' if written else ""


def tidy_compile_message(message: str) -> str:
    """Return the first complaint of jq's compiler as one line of at most 300 characters, without the program."""
    first = message.removeprefix("jq: error: ").split("\njq: ", 1)[0]
    place = re.search(r" at <top-level>, line (\d+), column (\d+):.*", first, re.DOTALL)
    if place:
        first = f"{first[: place.start()]} (line {place[1]}, column {place[2]})"
    line = "".join(character if character.isprintable() else " " for character in first)
    return " ".join(line.split())[:300] or "the expression does not compile"
