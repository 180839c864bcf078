"""How often a todo may be answered in all: its owner may raise that (SPEC-0028 REQ-10)."""

from switchboard.accounts.reach import Principal
from switchboard.errors import InvalidArgument
from switchboard.todos.models import DEFAULT_REPLY_CAP, HIGHEST_REPLY_CAP, Todo
from switchboard.todos.reading import find_todo


def set_reply_cap(*, principal: Principal, todo_id: str, reply_cap: int) -> Todo:
    """Let the todo within reach be answered `reply_cap` times in all, 20 to 100, and return it.

    Raises NotFound, and InvalidArgument for another number.
    """
    if isinstance(reply_cap, bool) or not isinstance(reply_cap, int):
        raise _out_of_range()
    if not DEFAULT_REPLY_CAP <= reply_cap <= HIGHEST_REPLY_CAP:
        raise _out_of_range()
    todo = find_todo(principal=principal, todo_id=todo_id)
    Todo.objects.filter(pk=todo.pk).update(reply_cap=reply_cap)
    todo.refresh_from_db(fields=["reply_cap"])
    return todo


def _out_of_range() -> InvalidArgument:
    return InvalidArgument(
        f"reply_cap must be a whole number from {DEFAULT_REPLY_CAP} to {HIGHEST_REPLY_CAP}.", field="reply_cap"
    )
