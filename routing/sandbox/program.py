"""Builds the one jq program that evaluates a whole rule list; standard library only.

Its input is `[start, envelope]`, its only variable `$params`, which arrives as JSON text so that numbers keep their
digits. It first yields a mark (what comes before it is charged to no rule), then a verdict for each rule from
`start` on: 1 for a match, 0 for none, `[type, text]` for an error, null when the rule forged jq's own `break`.
"""

from collections.abc import Sequence
from typing import Final

# The second line feed ends a comment that a backslash carries over the first one.
_RULE: Final = """(if .[0] <= {index} then .[1] | [try first((({expression}

) | if . then 1 else 0 end), 0) catch [type, ((strings | .[:240]) // "")]] | .[0] else empty end)"""
_NEVER: Final = "if .[0] <= {index} then 0 else empty end"


def program_text(expressions: Sequence[str | None]) -> str:
    """Return the program; None stands for a rule that cannot be used and never matches."""
    rules = [
        (_NEVER if expression is None else _RULE).format(index=index, expression=expression)
        for index, expression in enumerate(expressions)
    ]
    return "($params | fromjson) as $params | (0,\n{})".format(",\n".join(rules))


def input_text(start: int, envelope_text: str) -> str:
    """Return the program's input, the envelope's text untouched; evaluation begins with the rule at `start`."""
    return f"[{start},{envelope_text}\n]"
