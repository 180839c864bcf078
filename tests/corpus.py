"""Find the payload corpus that may lie beside the project, and replay its entries with fresh signatures."""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus

import pytest

from tests.deliveries import SignedDelivery, signed

FOLDER = Path(
    os.environ.get("SWITCHBOARD_PAYLOADS") or Path(__file__).resolve().parent.parent.parent / "shared" / "payloads"
)
PRESENT = (FOLDER / "INDEX.json").is_file()

needs_corpus = pytest.mark.skipif(not PRESENT, reason="payload corpus not found beside the project")


@dataclass(frozen=True)
class CorpusEntry:
    """One body of the corpus; `expected` is its row of the index."""

    name: str
    source: str
    body: bytes
    headers: dict[str, str]
    expected: dict[str, Any]


@dataclass(frozen=True)
class CorpusVector:
    """One signature more: each of `secrets` must verify it; none means that it must be refused."""

    name: str
    body: bytes
    headers: dict[str, str]
    secrets: tuple[str, ...]


def entries(*sources: str) -> list[CorpusEntry]:
    """Return the bodies of these sources (all without one, `edge` too); an empty list without a corpus."""
    return [_entry(row) for row in _index("files") if not sources or row["source"] in sources]


def vectors() -> list[CorpusVector]:
    """Return the extra signature vectors; an empty list without a corpus."""
    return [_vector(row) for row in _index("vectors")]


def secret_of(source: str) -> str:
    """Return the test secret that the corpus signed this source's deliveries with."""
    secrets: dict[str, str] = _read()["secrets"]
    return secrets[source]


def resign(entry: CorpusEntry, now: datetime, *, source: str | None = None) -> SignedDelivery:
    """Return the entry signed again at `now`, with the corpus secret; an edge case needs a `source`.

    Slack's and Stripe's scheme sign the time; Cairn's time stands in the body, which stays as it is, so move
    the clock to `created_at` for those.
    """
    sender = source or entry.source
    secret = secret_of(sender) if sender in _read()["secrets"] else ""
    return signed(sender, entry.body, secret=secret, at=now, headers=entry.headers)


def parametrize(found: Sequence[CorpusEntry] | Sequence[CorpusVector]) -> pytest.MarkDecorator:
    """Run a test for each entry, named by its file; without a corpus it is skipped, saying why."""
    if found:
        return pytest.mark.parametrize("entry", found, ids=[item.name for item in found])
    skipped = pytest.param(None, marks=needs_corpus, id="no corpus")
    return pytest.mark.parametrize("entry", [skipped])


def _entry(row: dict[str, Any]) -> CorpusEntry:
    return CorpusEntry(
        name=row["file"],
        source=row["source"],
        body=(FOLDER / row["file"]).read_bytes(),
        headers=row["headers"],
        expected=row,
    )


def _vector(row: dict[str, Any]) -> CorpusVector:
    body = row["body"].encode() if "body" in row else (FOLDER / row["file"]).read_bytes()
    return CorpusVector(
        name=row["name"],
        body=b"payload=" + quote_plus(body).encode() if "transform" in row else body,
        headers=row["headers"],
        secrets=tuple(row.get("secrets") or ([row["secret"]] if "secret" in row else [])),
    )


def _index(part: str) -> list[dict[str, Any]]:
    return _read()[part] if PRESENT else []


def _read() -> dict[str, Any]:
    index: dict[str, Any] = json.loads((FOLDER / "INDEX.json").read_text(encoding="utf-8"))
    return index
