"""Read a delivery's body as exactly one JSON value, with the same verdict wherever it is read."""

import json
import math
import re
import sys
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Final
from urllib.parse import unquote_to_bytes

from routing.fields import Json

# Python's parser counts nesting against the call stack, which is 1,000 deep and partly used already.
MAX_DEPTH: Final = 512
FORM_TYPE: Final = "application/x-www-form-urlencoded"

_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_STEP = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}
_FORM_PAYLOAD = re.compile(rb"(?:^|&)payload=([^&]*)")
_ESCAPE = re.compile(
    r"\\(?:(?P<pair>u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})"
    r"|(?P<lone>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)


@dataclass(frozen=True)
class Document:
    """One body, parsed: `text` is its JSON text (None: it does not parse), `value` the Python value.

    In `text` every digit stands as it was sent, and a lone surrogate escape is `\\ufffd`, since jq refuses
    it. In `value` integers are exact and floats finite: what overflows is the largest float, as in jq.
    """

    text: str | None
    value: Json

    @property
    def parsed(self) -> bool:
        """Whether the body is one JSON value; the value `null` is one too."""
        return self.text is not None


UNPARSED: Final = Document(text=None, value=None)


def parse_document(body: bytes, *, content_type: str | None) -> Document:
    """Parse `body` strictly: UTF-8 without a mark, one JSON value, no NaN, nested at most 512 deep.

    A form (GitHub and Gitea can send one) carries the JSON in its field `payload`. Whatever does not parse
    gives `UNPARSED`; nothing is raised. SPEC-0020, "Routing Envelope", `.payload`.
    """
    source = form_payload(body) if is_form(content_type) else body
    if source is None or _too_deep(source):
        return UNPARSED
    try:
        text = _without_lone_surrogates(source.decode("utf-8"))
        value = json.loads(text, parse_float=_finite, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return UNPARSED
    return Document(text=text, value=value)


def is_form(content_type: str | None) -> bool:
    """Tell whether a Content-Type names an URL-encoded form."""
    return (content_type or "").partition(";")[0].strip().lower() == FORM_TYPE


def form_payload(body: bytes) -> bytes | None:
    """Return the decoded `payload` field of an URL-encoded form, None when there is none.

    A real form escapes its quotes, so a body with a quote is no form: signed JSON must not be read as a form,
    under a forged Content-Type, that somebody hid in a text inside it.
    """
    found = None if b'"' in body else _FORM_PAYLOAD.search(body)
    return unquote_to_bytes(found[1].replace(b"+", b" ")) if found else None


def member_text(document: Document, *path: str) -> str:
    """Return the JSON text of the member under `path`, digits as sent; `null` where there is none."""
    text = document.text or "null"
    for key in path:
        text = _members(text).get(key, "null")
    return text


def _members(text: str) -> dict[str, str]:
    """Return the members of the valid JSON object `text` as texts; of a repeated name the last counts."""
    members: dict[str, str] = {}
    position = _after_space(text, 0)
    while text[position] in "{,":
        position = _after_space(text, position + 1)
        if text[position] == "}":
            break
        name, position = _DECODER.raw_decode(text, position)
        start = _after_space(text, _after_space(text, position) + 1)
        _, end = _DECODER.raw_decode(text, start)
        members[name] = text[start:end]
        position = _after_space(text, end)
    return members


def _after_space(text: str, position: int) -> int:
    while text[position] in " \t\r\n":
        position += 1
    return position


def _too_deep(body: bytes) -> bool:
    if body.count(b"[") + body.count(b"{") <= MAX_DEPTH:
        return False
    brackets = _STRING.sub(b"", body).translate(None, _NOT_BRACKETS)
    return max(accumulate(map(_STEP.__getitem__, brackets)), default=0) > MAX_DEPTH


def _without_lone_surrogates(text: str) -> str:
    return _ESCAPE.sub(_repair, text) if "\\ud" in text or "\\uD" in text else text


def _repair(escape: re.Match[str]) -> str:
    return "\\ufffd" if escape["lone"] else escape[0]


def _finite(digits: str) -> float:
    number = float(digits)
    return math.copysign(sys.float_info.max, number) if math.isinf(number) else number


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


_DECODER = json.JSONDecoder(parse_float=_finite)
