"""The operator API's routes about webhooks, their rules and routes, and event history."""

from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework.request import Request
from rest_framework.response import Response

from routing.configure import add_rule, list_rules, move_rule, remove_rule, set_rules, update_rule
from routing.dry_run import test_rules
from routing.history import find_event, list_events
from routing.packs import install_pack, list_packs
from routing.routes import add_route, approve_route, delete_route, list_all_routes, remove_route
from routing.serializers import (
    AddRuleRequest,
    CreatedWebhookAnswer,
    CreateWebhookRequest,
    EventAnswer,
    EventRow,
    InstallPackRequest,
    MoveRuleRequest,
    PacksAnswer,
    RemoveRuleRequest,
    RotateRequest,
    RouteAnswer,
    RulesAnswer,
    SecretRequest,
    SetRulesRequest,
    TestRulesAnswer,
    TestRulesRequest,
    UpdateRuleRequest,
    WebhookAnswer,
)
from routing.shapes import created_webhook_shape, event_shape, full_event_shape, pack_shape, route_shape, webhook_shape
from routing.webhooks import (
    create_webhook,
    delete_webhook,
    find_webhook,
    list_webhooks,
    rotate_webhook,
    set_signing_secret,
)
from switchboard.accounts.vend import find_endpoint
from switchboard.api.pagination import PAGE_PARAMETERS, paged, without_paging
from switchboard.api.parsing import Nothing, read_body
from switchboard.api.schema import operation, page_of
from switchboard.api.views import ApiView, human_of, reach_of

EVENT_FILTERS = {
    "webhook_id": "The webhook that received it.",
    "source": "A source type.",
    "kind": "The delivery's kind.",
    "disposition": "routed, dropped, repeat or self_reply.",
    "rule_id": "The rule that decided.",
    "since": "Received at or after, RFC 3339.",
    "until": "Received before, RFC 3339.",
}
WEBHOOK_PAGE = page_of("webhooks", WebhookAnswer)
ROUTE_PAGE = page_of("routes", RouteAnswer)


class Webhooks(ApiView):
    query_parameters = {"GET": PAGE_PARAMETERS}

    @operation("list_webhooks", "List webhooks", answer=WEBHOOK_PAGE, listing=True)
    def get(self, request: Request) -> Response:
        rows = list_webhooks(principal=reach_of(request))
        return paged(rows, plural="webhooks", shape=webhook_shape, query=self.query)


class EndpointWebhooks(ApiView):
    query_parameters = {"GET": PAGE_PARAMETERS}

    @operation("list_endpoint_webhooks", "List an endpoint's webhooks", answer=WEBHOOK_PAGE, listing=True)
    def get(self, request: Request, ref: str) -> Response:
        endpoint = find_endpoint(principal=reach_of(request), ref=ref)
        rows = list_webhooks(principal=reach_of(request)).filter(endpoint=endpoint)
        return paged(rows, plural="webhooks", shape=webhook_shape, query=self.query)

    @operation("create_webhook", "Create a webhook", body=CreateWebhookRequest, answer=CreatedWebhookAnswer, status=201)
    def post(self, request: Request, ref: str) -> Response:
        endpoint = find_endpoint(principal=reach_of(request), ref=ref)
        created = create_webhook(endpoint=endpoint, **read_body(request, CreateWebhookRequest))
        return Response(created_webhook_shape(created), status=201)


class OneWebhook(ApiView):
    @operation("get_webhook", "Get a webhook", answer=WebhookAnswer)
    def get(self, request: Request, webhook_id: str) -> Response:
        return Response(webhook_shape(find_webhook(principal=reach_of(request), webhook_id=webhook_id)))

    @operation("delete_webhook", "Delete a webhook; its events and todos stay", status=204)
    def delete(self, request: Request, webhook_id: str) -> Response:
        delete_webhook(principal=reach_of(request), webhook_id=webhook_id)
        return Response(status=204)


class Rotation(ApiView):
    @operation("rotate_webhook", "Mint a new secret or address", body=RotateRequest, answer=CreatedWebhookAnswer)
    def post(self, request: Request, webhook_id: str) -> Response:
        wanted = read_body(request, RotateRequest)
        rotated = rotate_webhook(principal=reach_of(request), webhook_id=webhook_id, **wanted)
        return Response(created_webhook_shape(rotated))


class SigningSecret(ApiView):
    @operation("set_webhook_secret", "Set the signing secret", body=SecretRequest, status=204)
    def put(self, request: Request, webhook_id: str) -> Response:
        given = read_body(request, SecretRequest)
        set_signing_secret(principal=reach_of(request), webhook_id=webhook_id, **given)
        return Response(status=204)


class Rules(ApiView):
    @operation("list_webhook_rules", "Get rules, default, params and grant", answer=RulesAnswer)
    def get(self, request: Request, webhook_id: str) -> Response:
        return Response(list_rules(principal=reach_of(request), webhook_id=webhook_id))

    @operation("set_webhook_rules", "Replace rules, default and params", body=SetRulesRequest, answer=RulesAnswer)
    def put(self, request: Request, webhook_id: str) -> Response:
        wanted = read_body(request, SetRulesRequest)
        return Response(set_rules(principal=reach_of(request), webhook_id=webhook_id, **wanted))

    @operation("add_webhook_rule", "Insert a rule", body=AddRuleRequest, answer=RulesAnswer)
    def post(self, request: Request, webhook_id: str) -> Response:
        wanted = read_body(request, AddRuleRequest)
        rule_id = wanted.pop("id", None)
        return Response(add_rule(principal=reach_of(request), webhook_id=webhook_id, rule_id=rule_id, **wanted))


class OneRule(ApiView):
    @operation("update_webhook_rule", "Change a rule", body=UpdateRuleRequest, answer=RulesAnswer)
    def patch(self, request: Request, webhook_id: str, rule_id: str) -> Response:
        changes = read_body(request, UpdateRuleRequest)
        version = changes.pop("version", None)
        changed = update_rule(
            principal=reach_of(request), webhook_id=webhook_id, rule_id=rule_id, changes=changes, version=version
        )
        return Response(changed)

    @operation(
        "remove_webhook_rule",
        "Remove a rule; a body may name the version that was read",
        body=RemoveRuleRequest,
        answer=RulesAnswer,
    )
    def delete(self, request: Request, webhook_id: str, rule_id: str) -> Response:
        given = read_body(request, RemoveRuleRequest)
        return Response(remove_rule(principal=reach_of(request), webhook_id=webhook_id, rule_id=rule_id, **given))


class RuleMove(ApiView):
    @operation("move_webhook_rule", "Move a rule", body=MoveRuleRequest, answer=RulesAnswer)
    def post(self, request: Request, webhook_id: str, rule_id: str) -> Response:
        wanted = read_body(request, MoveRuleRequest)
        return Response(move_rule(principal=reach_of(request), webhook_id=webhook_id, rule_id=rule_id, **wanted))


@extend_schema_view(patch=extend_schema(exclude=True), delete=extend_schema(exclude=True))
class RulesTest(OneRule):
    """The dry run; a rule that happens to have the id `test` is changed and removed at the same path."""

    @property
    def scope(self) -> str | None:
        """A dry run changes nothing, so a token with `read` may ask for it."""
        return "read" if self.request.method == "POST" else None

    @operation("test_webhook_rules", "Try rules, save nothing", body=TestRulesRequest, answer=TestRulesAnswer)
    def post(self, request: Request, webhook_id: str, rule_id: str) -> Response:  # noqa: ARG002 - always "test"
        arguments = read_body(request, TestRulesRequest)
        return Response(test_rules(principal=reach_of(request), webhook_id=webhook_id, arguments=arguments))


class RulePacks(ApiView):
    @operation("list_rule_packs", "List the rule packs that can be installed", answer=PacksAnswer)
    def get(self, request: Request) -> Response:  # noqa: ARG002 - the same for everybody
        return Response({"packs": [pack_shape(pack) for pack in list_packs()]})


class InstalledPack(ApiView):
    @operation("install_rule_pack", "Replace the rules by a pack's", body=InstallPackRequest, answer=RulesAnswer)
    def put(self, request: Request, webhook_id: str) -> Response:
        wanted = read_body(request, InstallPackRequest)
        name = wanted.pop("pack")
        values = {"params": None, **wanted}
        return Response(install_pack(principal=reach_of(request), webhook_id=webhook_id, name=name, **values))


class WebhookRoutes(ApiView):
    query_parameters = {"GET": PAGE_PARAMETERS}

    @operation("list_webhook_routes", "List a webhook's routes", answer=ROUTE_PAGE, listing=True)
    def get(self, request: Request, webhook_id: str) -> Response:
        webhook = find_webhook(principal=reach_of(request), webhook_id=webhook_id)
        rows = list_all_routes(principal=reach_of(request)).filter(webhook=webhook)
        return paged(rows, plural="routes", shape=route_shape, query=self.query)


class WebhookRoute(ApiView):
    @operation("add_webhook_route", "Route to one more endpoint", body=Nothing, answer=RouteAnswer)
    def put(self, request: Request, webhook_id: str, endpoint_id: str) -> Response:
        read_body(request, Nothing)
        route = add_route(
            principal=reach_of(request), webhook_id=webhook_id, endpoint_id=endpoint_id, acting_human=human_of(request)
        )
        return Response(route_shape(route))

    @operation("remove_webhook_route", "Remove the route to an endpoint", status=204)
    def delete(self, request: Request, webhook_id: str, endpoint_id: str) -> Response:
        remove_route(principal=reach_of(request), webhook_id=webhook_id, endpoint_id=endpoint_id)
        return Response(status=204)


class Routes(ApiView):
    query_parameters = {"GET": PAGE_PARAMETERS}

    @operation("list_routes", "List routes from your webhooks and to your endpoints", answer=ROUTE_PAGE, listing=True)
    def get(self, request: Request) -> Response:
        rows = list_all_routes(principal=reach_of(request))
        return paged(rows, plural="routes", shape=route_shape, query=self.query)


class Approval(ApiView):
    @operation("approve_route", "Approve a route to your endpoint", body=Nothing, answer=RouteAnswer)
    def post(self, request: Request, route_id: str) -> Response:
        read_body(request, Nothing)
        route = approve_route(principal=reach_of(request), route_id=route_id, acting_human=human_of(request))
        return Response(route_shape(route))


class OneRoute(ApiView):
    @operation("delete_route", "Remove a route from your webhook or to your endpoint", status=204)
    def delete(self, request: Request, route_id: str) -> Response:
        delete_route(principal=reach_of(request), route_id=route_id)
        return Response(status=204)


class Events(ApiView):
    query_parameters = {"GET": PAGE_PARAMETERS | EVENT_FILTERS.keys()}

    @operation("list_events", "List events", answer=page_of("events", EventRow), query=EVENT_FILTERS, listing=True)
    def get(self, request: Request) -> Response:
        rows = list_events(principal=reach_of(request), filters=without_paging(self.query))
        return paged(rows, plural="events", shape=event_shape, query=self.query)


class OneEvent(ApiView):
    @operation("get_event", "Get an event with its payload and todos", answer=EventAnswer)
    def get(self, request: Request, event_id: str) -> Response:
        return Response(full_event_shape(find_event(principal=reach_of(request), event_id=event_id)))
