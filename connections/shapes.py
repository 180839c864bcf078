"""The JSON shapes of connections and of what a test found; never a secret (contract §6)."""

from typing import Any

from connections.models import Connection
from connections.probe import Tested
from switchboard.times import rfc3339


def connection_shape(connection: Connection) -> dict[str, Any]:
    """Return a connection for its owner."""
    return {
        "id": str(connection.pk),
        "owner": {"human" if connection.owner_human_id else "team": connection.owner_name},
        "kind": connection.kind,
        "name": connection.name,
        "account_key": connection.account_key,
        "fingerprint": connection.fingerprint,
        "targets": connection.targets,
        "endpoints": connection.endpoints,
        "signature_line": connection.signature_line,
        "created_by": connection.created_by.username if connection.created_by else None,
        "created_at": rfc3339(connection.created_at),
        "rotated_at": rfc3339(connection.rotated_at),
        "last_used_at": rfc3339(connection.last_used_at),
        "last_test": _last_test(connection),
    }


def listed_connection_shape(connection: Connection) -> dict[str, Any]:
    """Return a connection for an agent: what it is for, what narrows it, its fingerprint, and nothing more (REQ-4)."""
    return {
        "id": str(connection.pk),
        "kind": connection.kind,
        "name": connection.name,
        "account_key": connection.account_key,
        "targets": connection.targets,
        "endpoints": connection.endpoints,
        "fingerprint": connection.fingerprint,
    }


def tested_shape(tested: Tested) -> dict[str, Any]:
    """Return what a test found, with the words for it."""
    return {
        "at": rfc3339(tested.at),
        "ok": tested.ok,
        "class": tested.failed.error_class.value if tested.failed else None,
        "code": tested.failed.code if tested.failed else None,
        "login": tested.login,
        "message": tested.message,
    }


def _last_test(connection: Connection) -> dict[str, Any] | None:
    if connection.last_test_at is None:
        return None
    return {
        "at": rfc3339(connection.last_test_at),
        "ok": bool(connection.last_test_ok),
        "class": connection.last_test_class or None,
    }
