"""What may be posted, and under which idempotency key (SPEC-0028 REQ-8, REQ-12)."""

import hashlib
import re
from typing import Final

from replies.models import MAX_KEY_BYTES
from replies.providers import PROVIDERS
from replies.scan import scan
from switchboard.errors import InvalidArgument, SecretDetected
from switchboard.reply_address import Provider

MAX_TEXT_BYTES: Final = 16_384
_KEY = re.compile(rf"[ -~]{{1,{MAX_KEY_BYTES}}}")
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def read_key(idempotency_key: str | None, *, todo_id: str, text: str) -> str:
    """Return the caller's key, or without one the SHA-256 of the todo's id, NUL and the text, in hex.

    Raises InvalidArgument for a key that is not 1 to 128 bytes of printable ASCII.
    """
    if idempotency_key is None:
        return hashlib.sha256(f"{todo_id}\0{text}".encode("utf-8", "surrogatepass")).hexdigest()
    if not isinstance(idempotency_key, str) or not _KEY.fullmatch(idempotency_key):
        raise InvalidArgument(
            f"idempotency_key must be 1 to {MAX_KEY_BYTES} bytes of printable ASCII.", field="idempotency_key"
        )
    return idempotency_key


def posted_text(text: str, signature_line: str) -> str:
    """Return what is posted: the text as given, and the connection's signature line as a paragraph of its own."""
    return f"{text}\n\n{signature_line}" if signature_line else text


def check_text(text: str, *, signature_line: str, provider: Provider) -> None:
    """Raise InvalidArgument for a text that cannot be posted to the provider; the signature line counts too."""
    if _UNSTORABLE.search(text):
        raise _refused("text must be valid Unicode without NUL.")
    if not text.strip():
        raise _refused("text must say something.")
    whole = posted_text(text, signature_line)
    counted = " together with the connection's signature line" if signature_line else ""
    if len(whole.encode()) > MAX_TEXT_BYTES:
        raise _refused(f"text may have at most {MAX_TEXT_BYTES} bytes of UTF-8{counted}.")
    limit = PROVIDERS[provider].TEXT_LIMIT
    if limit is not None and not limit.admits(whole):
        raise _refused(f"text may have at most {limit.amount} {limit.unit} on {provider}{counted}.")


def check_secrets(text: str) -> None:
    """Raise SecretDetected, naming the rules and never the match, when the text looks as if it held a secret."""
    found = scan(text)
    if found:
        rules = ", ".join(found)
        raise SecretDetected(f"{SecretDetected.sentence} Rule: {rules}.", rule=found[0])


def text_hash(text: str) -> str:
    """Return the hex SHA-256 of the text."""
    return hashlib.sha256(text.encode()).hexdigest()


def _refused(sentence: str) -> InvalidArgument:
    return InvalidArgument(sentence, field="text")
