"""The operator API's routes about connections."""

from typing import Any, Final

from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer

from connections.manage import (
    create_connection,
    delete_connection,
    edit_connection,
    find_connection,
    list_connections,
    rotate_connection,
)
from connections.probe import test_connection
from connections.serializers import (
    ConnectionAnswer,
    ConnectionSecretRequest,
    CreateConnectionRequest,
    EditConnectionRequest,
    TestedConnectionAnswer,
)
from connections.shapes import connection_shape, tested_shape
from switchboard.accounts.models import Human
from switchboard.api.pagination import PAGE_PARAMETERS, paged
from switchboard.api.parsing import Nothing, read_body
from switchboard.api.schema import operation, page_of
from switchboard.api.views import ApiView, human_of, reach_of
from switchboard.errors import InvalidArgument, NotFound

MAX_BODY_BYTES: Final = 16 * 1024


class Connections(ApiView):
    query_parameters = {"GET": PAGE_PARAMETERS}

    @operation("list_connections", "List connections", answer=page_of("connections", ConnectionAnswer), listing=True)
    def get(self, request: Request) -> Response:
        rows = list_connections(principal=reach_of(request))
        return paged(rows, plural="connections", shape=connection_shape, query=self.query)

    @operation(
        "create_connection",
        "Store a credential for replies",
        body=CreateConnectionRequest,
        answer=ConnectionAnswer,
        status=201,
    )
    def post(self, request: Request) -> Response:
        wanted = _read(request, CreateConnectionRequest)
        _check_owner(wanted.pop("owner", {"human": "me"}), human_of(request))
        created = create_connection(principal=reach_of(request), acting=human_of(request), **wanted)
        return Response(connection_shape(created), status=201)


class OneConnection(ApiView):
    @operation("get_connection", "Get a connection", answer=ConnectionAnswer)
    def get(self, request: Request, connection_id: str) -> Response:
        found = find_connection(principal=reach_of(request), connection_id=connection_id)
        return Response(connection_shape(found))

    @operation(
        "edit_connection",
        "Change a connection's name, allowlists or signature line",
        body=EditConnectionRequest,
        answer=ConnectionAnswer,
    )
    def patch(self, request: Request, connection_id: str) -> Response:
        changes = _read(request, EditConnectionRequest)
        edited = edit_connection(
            principal=reach_of(request), acting=human_of(request), connection_id=connection_id, **changes
        )
        return Response(connection_shape(edited))

    @operation("delete_connection", "Delete a connection; the replies made through it stay", status=204)
    def delete(self, request: Request, connection_id: str) -> Response:
        delete_connection(principal=reach_of(request), acting=human_of(request), connection_id=connection_id)
        return Response(status=204)


class ConnectionSecret(ApiView):
    @operation(
        "rotate_connection", "Replace a connection's secret", body=ConnectionSecretRequest, answer=ConnectionAnswer
    )
    def put(self, request: Request, connection_id: str) -> Response:
        given = _read(request, ConnectionSecretRequest)
        rotated = rotate_connection(
            principal=reach_of(request), acting=human_of(request), connection_id=connection_id, **given
        )
        return Response(connection_shape(rotated))


class ConnectionTest(ApiView):
    @operation(
        "test_connection",
        "Ask the provider who the credential is, at most 6 times a minute",
        body=Nothing,
        answer=TestedConnectionAnswer,
    )
    def post(self, request: Request, connection_id: str) -> Response:
        _read(request, Nothing)
        return Response(tested_shape(test_connection(principal=reach_of(request), connection_id=connection_id)))


def _read(request: Request, shape: type[Serializer[Any]]) -> dict[str, Any]:
    return read_body(request, shape, max_bytes=MAX_BODY_BYTES)


def _check_owner(owner: object, human: Human) -> None:
    """Raise InvalidArgument unless exactly one owner is named, NotFound unless it is the caller."""
    match owner:
        case {"human": str(name), **others} if not others:
            if name not in {"me", human.username}:
                raise NotFound
        case {"team": str(), **others} if not others:
            raise NotFound
        case _:
            raise InvalidArgument('owner is {"human": "me"} or {"team": slug}.', field="owner")
