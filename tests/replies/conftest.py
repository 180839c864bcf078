"""A stand-in provider over TLS that replies reach, and the stage in front of it."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from replies import dial
from replies.dial import Patience
from tests.replies.stage import Conversation, open_conversation
from tests.stand_in import StandIn, stand_in, write_authority

OpenConversation = Callable[..., Conversation]


@pytest.fixture
def broker_url() -> str | None:
    """No broker: a dialler elsewhere would not see what a test has not committed."""
    return None


@pytest.fixture(autouse=True)
def _broker(settings: Any, broker_url: str | None) -> None:
    settings.REDIS_URL = broker_url


@pytest.fixture
def provider(settings: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[StandIn]:
    with stand_in() as server:
        settings.SWITCHBOARD_PRIVATE_HOSTS = ("127.0.0.0/8", "::1/128")
        settings.SWITCHBOARD_GITHUB_API_URL = server.url_for("localhost")
        settings.SWITCHBOARD_SLACK_API_URL = f"{server.url_for('localhost')}/api"
        monkeypatch.setenv("SSL_CERT_FILE", str(write_authority(tmp_path / "authority.pem")))
        yield server


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> Patience:
    """Let an attempt take half a second."""
    patience = Patience(total=2.0, attempt=0.5, least=0.2, longest_wait=1.0, pause=0.01)
    monkeypatch.setattr(dial, "PATIENCE", patience)
    return patience


@pytest.fixture
def converse(db: None, provider: StandIn) -> OpenConversation:
    def start(**options: Any) -> Conversation:
        return open_conversation(provider, **options)

    return start


@pytest.fixture
def conversation(converse: OpenConversation) -> Conversation:
    return converse()
