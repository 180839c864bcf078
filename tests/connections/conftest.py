"""The cast of the connections: an owner and a stranger, each with an API token, and a stand-in for the providers."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_django import Settings

from tests.api.caller import Caller, make_caller
from tests.stand_in import StandIn, stand_in, write_authority


@pytest.fixture
def owner(db: None) -> Caller:
    return make_caller("owner")


@pytest.fixture
def stranger(db: None) -> Caller:
    return make_caller("stranger")


@pytest.fixture
def provider(settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[StandIn]:
    """A provider on loopback that the operator allows and whose certificate is trusted."""
    monkeypatch.setenv("SSL_CERT_FILE", str(write_authority(tmp_path / "authority.pem")))
    settings.SWITCHBOARD_PRIVATE_HOSTS = ("127.0.0.0/8",)
    with stand_in() as server:
        settings.SWITCHBOARD_GITHUB_API_URL = server.url
        settings.SWITCHBOARD_SLACK_API_URL = f"{server.url}/api"
        yield server
