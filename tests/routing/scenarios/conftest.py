"""The cast of the scenarios: the owner of a webhook, and a stranger who must not reach it."""

import pytest

from switchboard.accounts.models import Human
from tests.factories import make_human


@pytest.fixture
def owner(db: None) -> Human:
    """Return the human who owns the webhook."""
    return make_human("owner")


@pytest.fixture
def stranger(db: None) -> Human:
    """Return another human, whom nothing of the owner's may reach."""
    return make_human("stranger")
