"""The operator API's routes about todos."""

from rest_framework.request import Request
from rest_framework.response import Response

from switchboard.api.pagination import PAGE_PARAMETERS, paged, without_paging
from switchboard.api.parsing import Nothing, read_body
from switchboard.api.schema import operation, page_of
from switchboard.api.views import ApiView, reach_of
from switchboard.todos.lifecycle import complete_todo, fail_todo, release_todo, retry_todo
from switchboard.todos.reading import find_todo, list_todos
from switchboard.todos.serializers import FinishRequest, TodoAnswer, TodoRow
from switchboard.todos.shapes import compact_todo, full_todo

FILTERS = {
    "endpoint": "An endpoint's id or slug.",
    "queue": "A queue's name.",
    "state": "pending, claimed, done or failed.",
    "source": "A source type.",
    "kind": "The delivery's kind.",
    "event_id": "The event that the todos come from.",
}


class Todos(ApiView):
    query_parameters = {"GET": PAGE_PARAMETERS | FILTERS.keys()}

    @operation("list_todos", "List todos", answer=page_of("todos", TodoRow), query=FILTERS, listing=True)
    def get(self, request: Request) -> Response:
        rows = list_todos(principal=reach_of(request), **without_paging(self.query))
        return paged(rows, plural="todos", shape=compact_todo, query=self.query)


class OneTodo(ApiView):
    @operation("get_todo", "Get a todo with its payload", answer=TodoAnswer)
    def get(self, request: Request, todo_id: str) -> Response:
        return Response(full_todo(find_todo(principal=reach_of(request), todo_id=todo_id)))


class Retry(ApiView):
    @operation("retry_todo", "Make a failed todo pending again", body=Nothing, answer=TodoRow)
    def post(self, request: Request, todo_id: str) -> Response:
        read_body(request, Nothing)
        return Response(compact_todo(retry_todo(principal=reach_of(request), todo_id=todo_id)))


class Release(ApiView):
    @operation("release_todo", "Take a claimed todo from its agent", body=Nothing, answer=TodoRow)
    def post(self, request: Request, todo_id: str) -> Response:
        read_body(request, Nothing)
        return Response(compact_todo(release_todo(principal=reach_of(request), todo_id=todo_id)))


class Complete(ApiView):
    @operation("complete_todo", "Close a todo as done", body=FinishRequest, answer=TodoRow)
    def post(self, request: Request, todo_id: str) -> Response:
        given = read_body(request, FinishRequest)
        return Response(compact_todo(complete_todo(principal=reach_of(request), todo_id=todo_id, **given)))


class Fail(ApiView):
    @operation("fail_todo", "Close a todo as failed", body=FinishRequest, answer=TodoRow)
    def post(self, request: Request, todo_id: str) -> Response:
        given = read_body(request, FinishRequest)
        return Response(compact_todo(fail_todo(principal=reach_of(request), todo_id=todo_id, **given)))
