"""Find and list todos within a principal's reach; what lies outside answers like what does not exist."""

from uuid import UUID

from django.db.models import QuerySet

from switchboard.accounts.models import Endpoint
from switchboard.accounts.reach import Principal
from switchboard.accounts.vend import find_endpoint
from switchboard.errors import Forbidden, InvalidArgument, NotFound
from switchboard.ids import parse_id
from switchboard.queues import RULE, is_queue
from switchboard.source_types import Source
from switchboard.text import storable
from switchboard.todos.models import Todo, TodoState


def find_todo(*, principal: Principal, todo_id: str) -> Todo:
    """Return the todo within reach with its event and endpoint; raise NotFound, also for a malformed id."""
    return _one(Todo.objects.within_reach(principal).select_related("event", "endpoint"), todo_id)


def find_agents_todo(*, endpoint: Endpoint, todo_id: str) -> Todo:
    """Return the endpoint's own todo in one of its queues; raise NotFound, also for a malformed id."""
    return _one(agent_todos(endpoint), todo_id)


def agent_todos(endpoint: Endpoint) -> QuerySet[Todo]:
    """Return the todos that an agent sees: those of its endpoint in the queues of its scope."""
    return Todo.objects.drained_by(endpoint)


def list_todos(
    *,
    principal: Principal,
    endpoint: str | None = None,
    queue: str | None = None,
    state: str | None = None,
    source: str | None = None,
    kind: str | None = None,
    event_id: str | None = None,
) -> QuerySet[Todo]:
    """Return the todos within reach that match every given filter, newest first.

    `endpoint` is an id or slug (NotFound when out of reach). A malformed queue, state, source, kind or event id
    raises InvalidArgument naming the filter; an unknown queue, kind or event id matches nothing.
    """
    todos = Todo.objects.within_reach(principal)
    if endpoint is not None:
        todos = todos.filter(endpoint=find_endpoint(principal=principal, ref=endpoint))
    if queue is not None:
        todos = todos.filter(queue=_read_queue(queue))
    if state is not None:
        todos = todos.filter(state=_read_choice("state", state, TodoState.values))
    if source is not None:
        todos = todos.filter(source=_read_choice("source", source, [known.value for known in Source]))
    if kind is not None:
        todos = todos.filter(kind=_read_kind(kind))
    return todos if event_id is None else todos.filter(event=_read_event_id(event_id))


def queues_to_drain(endpoint: Endpoint, queue: str | None) -> list[str]:
    """Return the queues that a claim may take from: the named one, or the endpoint's whole scope.

    Raises InvalidArgument for a malformed name and Forbidden for a queue outside the scope.
    """
    if queue is None:
        return list(endpoint.scope_queues)
    if _read_queue(queue) not in endpoint.scope_queues:
        scope = ", ".join(endpoint.scope_queues)
        raise Forbidden(f"This endpoint does not drain that queue. Its queues are: {scope}.")
    return [queue]


def _one(todos: QuerySet[Todo], todo_id: str) -> Todo:
    identifier = parse_id(todo_id)
    found = todos.filter(pk=identifier).first() if identifier else None
    if found is None:
        raise NotFound
    return found


def _read_queue(queue: str) -> str:
    if not is_queue(queue):
        raise InvalidArgument(RULE, field="queue")
    return queue


def _read_choice(field: str, value: str, choices: list[str]) -> str:
    if value not in choices:
        raise InvalidArgument(f"{field} must be one of {', '.join(choices)}.", field=field)
    return value


def _read_kind(kind: str) -> str:
    if not isinstance(kind, str) or storable(kind) != kind:
        raise InvalidArgument("kind must be text without NUL and lone surrogates.", field="kind")
    return kind


def _read_event_id(event_id: str) -> UUID:
    identifier = parse_id(event_id)
    if identifier is None:
        raise InvalidArgument("event_id must be the id of an event.", field="event_id")
    return identifier
