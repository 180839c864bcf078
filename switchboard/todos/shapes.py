"""What a todo looks like from outside: the compact row of lists and the full record of one."""

from typing import Any

from switchboard.times import rfc3339
from switchboard.todos.models import Todo


def compact_todo(todo: Todo) -> dict[str, Any]:
    """Return a todo as lists show it: ids as strings, times in RFC 3339 UTC, `payload_size` in bytes.

    A value that is not set is null; only `reply_to` is left out when the todo has no reply address.
    """
    shape: dict[str, Any] = {
        "id": str(todo.pk),
        "endpoint_id": str(todo.endpoint_id),
        "queue": todo.queue,
        "source": todo.source,
        "kind": todo.kind,
        "label": todo.label,
        "title": todo.title,
        "state": todo.state,
        "attempt": todo.attempt,
        "max_attempts": todo.max_attempts,
        "lease_expires_at": rfc3339(todo.lease_expires_at),
        "next_retry_at": rfc3339(todo.next_retry_at),
        "dead_letter": todo.dead_letter,
        "created_at": rfc3339(todo.created_at),
        "payload_size": todo.payload_size,
        "rings": todo.ring_count,
        "replies": {
            "count": todo.reply_count,
            "last_state": todo.last_reply_state or None,
            "last_permalink": todo.last_reply_permalink or None,
        },
    }
    return shape | _given(reply_to=todo.reply_to)


def full_todo(todo: Todo) -> dict[str, Any]:
    """Return the compact row with the payload and its routing; `work_order` and `result` only when there is one."""
    shape = {
        **compact_todo(todo),
        "event_id": str(todo.event_id),
        "payload": todo.event.payload,
        "routing": todo.routing_trace,
    }
    return shape | _given(work_order=todo.work_order, result=todo.result)


def _given(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
