"""A host of one's own for each sandbox test: other slots, and no process left over."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from routing.sandbox import client


@pytest.fixture(autouse=True)
def own_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    yield
    client.close_all()
