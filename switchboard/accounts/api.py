"""The operator API's routes about endpoints and the caller's own tokens."""

from rest_framework.request import Request
from rest_framework.response import Response

from switchboard.accounts.reading import list_endpoints
from switchboard.accounts.serializers import (
    CreatedTokenAnswer,
    EndpointAnswer,
    TokenAnswer,
    TokenRequest,
    VendAnswer,
    VendRequest,
)
from switchboard.accounts.shapes import created_token_shape, endpoint_shape, token_shape, vended_shape
from switchboard.accounts.tokens import issue_token, list_tokens, revoke_token
from switchboard.accounts.vend import find_endpoint, revoke_endpoint, vend_endpoint
from switchboard.api.pagination import PAGE_PARAMETERS, paged
from switchboard.api.parsing import read_body
from switchboard.api.schema import operation, page_of
from switchboard.api.views import ApiView, human_of, reach_of, token_of
from switchboard.errors import NotFound


class Endpoints(ApiView):
    query_parameters = {"GET": PAGE_PARAMETERS}

    @operation("list_endpoints", "List endpoints", answer=page_of("endpoints", EndpointAnswer), listing=True)
    def get(self, request: Request) -> Response:
        rows = list_endpoints(principal=reach_of(request))
        return paged(rows, plural="endpoints", shape=endpoint_shape, query=self.query)

    @operation("vend_endpoint", "Vend an endpoint", body=VendRequest, answer=VendAnswer, status=201)
    def post(self, request: Request) -> Response:
        wanted = read_body(request, VendRequest)
        if wanted.pop("team", None) is not None:
            raise NotFound
        return Response(vended_shape(vend_endpoint(human=human_of(request), **wanted)), status=201)


class OneEndpoint(ApiView):
    @operation("get_endpoint", "Get an endpoint by id or slug", answer=EndpointAnswer)
    def get(self, request: Request, ref: str) -> Response:
        return Response(endpoint_shape(find_endpoint(principal=reach_of(request), ref=ref)))

    @operation("revoke_endpoint", "Revoke an endpoint for good", status=204)
    def delete(self, request: Request, ref: str) -> Response:
        revoke_endpoint(principal=reach_of(request), ref=ref)
        return Response(status=204)


class Tokens(ApiView):
    query_parameters = {"GET": PAGE_PARAMETERS}

    @operation("list_tokens", "List your API tokens", answer=page_of("tokens", TokenAnswer), listing=True)
    def get(self, request: Request) -> Response:
        rows = list_tokens(principal=reach_of(request))
        return paged(rows, plural="tokens", shape=token_shape, query=self.query)

    @operation("create_token", "Create an API token", body=TokenRequest, answer=CreatedTokenAnswer, status=201)
    def post(self, request: Request) -> Response:
        wanted = read_body(request, TokenRequest)
        return Response(created_token_shape(issue_token(holder=token_of(request), **wanted)), status=201)


class OneToken(ApiView):
    @operation("revoke_token", "Revoke an API token for good", status=204)
    def delete(self, request: Request, token_id: str) -> Response:
        revoke_token(principal=reach_of(request), token_id=token_id)
        return Response(status=204)
