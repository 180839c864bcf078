"""What the two databases do differently."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection


@contextmanager
def one_round_trip() -> Iterator[None]:
    """Send statements that wait for no result together, where the database can (PostgreSQL's pipeline mode).

    Use it inside a transaction: an error is raised at the next statement that waits, at the latest on leaving.
    """
    if connection.vendor != "postgresql":
        yield
        return
    connection.ensure_connection()
    with connection.wrap_database_errors, connection.connection.pipeline():
        yield
