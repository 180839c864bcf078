"""The cast: an owner, the owner's read-only token, and a stranger."""

import pytest

from tests.api.caller import Caller, make_caller


@pytest.fixture
def owner(db: None) -> Caller:
    return make_caller("owner")


@pytest.fixture
def reader(owner: Caller) -> Caller:
    return make_caller("owner", human=owner.human, scopes=("read",))


@pytest.fixture
def stranger(db: None) -> Caller:
    return make_caller("stranger")
