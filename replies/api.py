"""The operator API's routes about replies."""

from rest_framework.request import Request
from rest_framework.response import Response

from replies.reading import list_connection_replies, list_todo_replies
from replies.serializers import ReplyRow
from replies.shapes import reply_shape
from switchboard.api.pagination import PAGE_PARAMETERS, paged
from switchboard.api.schema import operation, page_of
from switchboard.api.views import ApiView, reach_of

REPLY_PAGE = page_of("replies", ReplyRow)


class TodoReplies(ApiView):
    query_parameters = {"GET": PAGE_PARAMETERS}

    @operation("list_todo_replies", "List the replies to a todo", answer=REPLY_PAGE, listing=True)
    def get(self, request: Request, todo_id: str) -> Response:
        rows = list_todo_replies(principal=reach_of(request), todo_id=todo_id)
        return paged(rows, plural="replies", shape=reply_shape, query=self.query)


class ConnectionReplies(ApiView):
    query_parameters = {"GET": PAGE_PARAMETERS}

    @operation("list_connection_replies", "List the replies through a connection", answer=REPLY_PAGE, listing=True)
    def get(self, request: Request, connection_id: str) -> Response:
        rows = list_connection_replies(principal=reach_of(request), connection_id=connection_id)
        return paged(rows, plural="replies", shape=reply_shape, query=self.query)
