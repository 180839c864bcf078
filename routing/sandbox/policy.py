"""Decides by its tokens what a jq expression may name, and that it cannot leave its place in a combined program.

The tokens are those of jq 1.8 (https://github.com/jqlang/jq/blob/master/src/lexer.l). Scope, arity and grammar
stay the business of jq's own compiler (`client.check_compiles`).
"""

import re
from dataclasses import dataclass
from typing import Final

# What reads or touches anything but the envelope and the params (SPEC-0020, "Expression sandboxing"). Every other
# builtin of libjq 1.8.2 is a pure function of its arguments: `splits`, `gmtime`, `mktime`, `strftime`, `strptime`
# (the child pins its time zone to UTC), `@sh` (quotes, runs nothing), `getpath`, `ltrimstr`, `error`, `limit`,
# `builtins`, `have_decnum`, `have_literal_numbers`, `significand`, `tojson`, and the operators' own `_plus` kind.
FORBIDDEN: Final = {
    "env": "it reads the process environment",
    "$ENV": "it reads the process environment",
    "input": "it reads the next input",
    "inputs": "it reads the next inputs",
    "input_filename": "it reads the state of the input",
    "input_line_number": "it reads the state of the input",
    "debug": "it writes messages",
    "stderr": "it writes to standard error",
    "halt": "it ends the process",
    "halt_error": "it ends the process",
    "now": "it reads the clock",
    "localtime": "it reads the host's time zone",
    "strflocaltime": "it reads the host's time zone",
    "import": "it loads a module",
    "include": "it loads a module",
    "modulemeta": "it loads a module",
    "get_search_list": "it reads the module search path",
    "get_jq_origin": "it reads where the program is installed",
    "get_prog_origin": "it reads where the program is installed",
}

_NAME: Final = r"[A-Za-z_][A-Za-z_0-9]*(?:::[A-Za-z_][A-Za-z_0-9]*)*"
# A backslash before the end of a line carries a comment into the next line (since jq 1.7); a bare CR ends nothing.
_TOKEN: Final = re.compile(
    rf"""(?P<blank>[ \t\r\n]+|\#(?:\\(?:\r?\n|\\)?|[^\\\n])*)
    |(?P<quote>")
    |(?P<field>\.[A-Za-z_][A-Za-z_0-9]*)
    |(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
    |(?P<variable>\${_NAME})
    |(?P<name>{_NAME})
    |(?P<format>@[A-Za-z0-9_]+)
    |(?P<open>[\[({{])
    |(?P<close>[\])}}])
    |(?P<operator>\?//|//=?|[|+\-*/%<>=!]=|\.\.|[.?=;,:|+\-*/%<>])""",
    re.VERBOSE,
)
_STRING_TEXT: Final = re.compile(r'(?:[^\\"]|\\[^(])*')
_CLOSERS: Final = {"(": ")", "[": "]", "{": "}", "\\(": ")", '"': '"', "if": "end"}


@dataclass(frozen=True)
class Position:
    """A place in an expression: line and column count from 1, the offset from 0, all in characters."""

    line: int
    column: int
    offset: int

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}"


class ExpressionRefusedError(Exception):
    """An expression that must neither be saved nor be given to the sandbox."""

    def __init__(self, message: str, position: Position) -> None:
        super().__init__(f"{message} ({position})")
        self.message = message
        self.position = position


class ForbiddenFunction(ExpressionRefusedError):
    """The expression names a function that reaches beyond the envelope and the params."""

    def __init__(self, name: str, position: Position) -> None:
        super().__init__(f"{name} is not available to a rule: {FORBIDDEN[name]}", position)
        self.name = name


class InvalidExpression(ExpressionRefusedError):
    """The expression is broken as text: no jq program could contain it."""


def check_expression(text: str) -> None:
    """Refuse an expression that names what it must not, or whose brackets or strings do not close.

    Raises `ForbiddenFunction` or `InvalidExpression`, each with its position (SPEC-0020, "Rule Validation at Save
    Time"). Fields, object keys, strings, comments and bound variables may be spelled like a forbidden function;
    a definition or a parameter may not.
    """
    _Reader(text).read()


class _Reader:
    """Walks the tokens of one expression, keeping the brackets that are still open."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._offset = 0
        self._open: list[tuple[str, int]] = []
        self._previous = ""

    def read(self) -> None:
        self._check_characters()
        while self._offset < len(self._text):
            self._read_token()
        if self._open:
            opener, offset = self._open[-1]
            raise InvalidExpression(f"{opener} is never closed", self._position(offset))
        if not self._previous:
            raise InvalidExpression("the expression is empty", self._position(0))

    def _check_characters(self) -> None:
        # libjq reads a C string: it would not see what stands behind a NUL.
        match = re.search("[\0\ud800-\udfff]", self._text)
        if match:
            raise InvalidExpression("the expression holds a NUL or a surrogate", self._position(match.start()))

    def _read_token(self) -> None:
        match = _TOKEN.match(self._text, self._offset)
        if match is None:
            raise InvalidExpression(f"unexpected {self._text[self._offset]!r}", self._position(self._offset))
        kind, token, offset = str(match.lastgroup), match.group(), self._offset
        self._offset = match.end()
        if kind == "blank":
            return
        if kind == "quote":
            self._open.append((token, offset))
            self._read_string()
        elif kind == "open":
            self._open.append((token, offset))
        elif kind == "close":
            self._close(token, offset)
        elif kind == "variable":
            self._check_variable(token, offset)
        elif kind == "name" and not self._is_key():
            self._check_name(token, offset)
        self._previous = token

    def _is_key(self) -> bool:
        # Inside braces every other comma is inside brackets of its own, `if … end` included.
        return bool(self._open) and self._open[-1][0] == "{" and self._previous in {"{", ","}

    def _read_string(self) -> None:
        """Read on to the string's end or to its next interpolation, whose tokens are then read as code."""
        self._offset = _end_of_text(self._text, self._offset)
        if self._text.startswith("\\(", self._offset):
            self._open.append(("\\(", self._offset))
            self._offset += 2
        elif self._text.startswith('"', self._offset):
            self._open.pop()
            self._offset += 1
        else:
            raise InvalidExpression("the string is never closed", self._position(self._open[-1][1]))

    def _close(self, token: str, offset: int) -> None:
        opener = self._open.pop()[0] if self._open else ""
        if _CLOSERS.get(opener) != token:
            raise InvalidExpression(f"{token} closes nothing", self._position(offset))
        if opener == "\\(":
            self._read_string()

    def _check_variable(self, token: str, offset: int) -> None:
        if token in FORBIDDEN:
            raise ForbiddenFunction(token, self._position(offset))
        if token.startswith("$__") or "::" in token:
            raise InvalidExpression(f"{token} is not defined", self._position(offset))

    def _check_name(self, token: str, offset: int) -> None:
        if token in FORBIDDEN:
            raise ForbiddenFunction(token, self._position(offset))
        if "::" in token:
            raise InvalidExpression(f"{token} is not defined", self._position(offset))
        if token == "if":  # noqa: S105 - a keyword of jq
            self._open.append((token, offset))
        elif token == "end":  # noqa: S105
            self._close(token, offset)

    def _position(self, offset: int) -> Position:
        before = self._text[:offset]
        return Position(before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1, offset)


def _end_of_text(text: str, offset: int) -> int:
    match = _STRING_TEXT.match(text, offset)
    return match.end() if match else offset
