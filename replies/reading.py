"""List replies within a principal's reach."""

from django.db.models import QuerySet

from connections.manage import find_connection
from replies.models import Reply
from switchboard.accounts.reach import Principal
from switchboard.todos.reading import find_todo


def list_todo_replies(*, principal: Principal, todo_id: str) -> QuerySet[Reply]:
    """Return the replies to a todo within reach; raise NotFound for any other."""
    todo = find_todo(principal=principal, todo_id=todo_id)
    return Reply.objects.within_reach(principal).filter(todo=todo)


def list_connection_replies(*, principal: Principal, connection_id: str) -> QuerySet[Reply]:
    """Return the replies made through a connection within reach; raise NotFound for any other."""
    connection = find_connection(principal=principal, connection_id=connection_id)
    return Reply.objects.within_reach(principal).filter(connection=connection)
