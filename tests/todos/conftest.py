"""The cast of the queue's tests: an owner, the owner's agent, and a moment to start from."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import connection

from switchboard.accounts.models import Endpoint, Human
from tests.factories import make_endpoint, make_human


@pytest.fixture
def now() -> datetime:
    return datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@pytest.fixture
def owner(db: None) -> Human:
    return make_human("owner")


@pytest.fixture
def endpoint(owner: Human) -> Endpoint:
    return make_endpoint(owner, queues=["work", "more-work"]).endpoint


@pytest.fixture
def before_update() -> Callable[[Callable[[], object]], AbstractContextManager[None]]:
    """Return a context manager within which a rival acts just before the first UPDATE of a todo is sent."""

    @contextmanager
    def rival_acts(act: Callable[[], object]) -> Iterator[None]:
        waiting = [act]

        def intrude(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
            if waiting and sql.startswith('UPDATE "todos_todo"'):
                waiting.pop()()
            return execute(sql, params, many, context)

        with connection.execute_wrapper(intrude):
            yield
        assert not waiting, "no UPDATE was sent"

    return rival_acts
