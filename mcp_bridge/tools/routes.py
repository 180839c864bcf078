"""The routes family: further endpoints that a webhook delivers to."""

from typing import Any

from mcp_bridge.schema import identifier, result
from mcp_bridge.tool import Arguments, Effect, Tool
from routing import routes
from routing.shapes import route_shape
from switchboard.accounts.models import Endpoint
from switchboard.accounts.reach import Principal

WEBHOOK_ID = identifier("The webhook's id.")


def list_webhook_routes(endpoint: Endpoint, arguments: Arguments) -> dict[str, Any]:
    """Return the webhook's routes in target order."""
    found = routes.list_routes(principal=Principal.of_endpoint(endpoint), webhook_id=arguments["webhook_id"])
    return {"routes": [route_shape(route) for route in found]}


def add_webhook_route(endpoint: Endpoint, arguments: Arguments) -> dict[str, Any]:
    """Route the webhook to one more endpoint."""
    route = routes.add_route(
        principal=Principal.of_endpoint(endpoint),
        webhook_id=arguments["webhook_id"],
        endpoint_id=arguments["endpoint_id"],
        acting_human=endpoint.owner_human,
    )
    return route_shape(route)


def remove_webhook_route(endpoint: Endpoint, arguments: Arguments) -> dict[str, Any]:
    """Stop routing the webhook to an endpoint."""
    routes.remove_route(
        principal=Principal.of_endpoint(endpoint),
        webhook_id=arguments["webhook_id"],
        endpoint_id=arguments["endpoint_id"],
    )
    return {"webhook_id": arguments["webhook_id"], "endpoint_id": arguments["endpoint_id"], "removed": True}


TOOLS = (
    Tool(
        name="list_webhook_routes",
        description=(
            "List the further endpoints that a webhook delivers to besides its own, in target order. Returns "
            "{routes: [{route_id, webhook_id, endpoint_id, state, requested_at, granted_at}]}; state is live, or "
            "waiting for the target owner's approval. Errors: not_found."
        ),
        handler=list_webhook_routes,
        effect=Effect.READS,
        arguments={"webhook_id": WEBHOOK_ID},
        required=("webhook_id",),
        result=result({"routes": "array"}),
    ),
    Tool(
        name="add_webhook_route",
        description=(
            "Make an endpoint a further delivery target of a webhook, so that rules may name it. An endpoint of the "
            "same owner is live at once; another owner's waits until that owner approves (state: waiting). Adding "
            "it twice returns the route that is there. Returns {route_id, webhook_id, endpoint_id, state, …}. "
            "Errors: not_found, invalid_argument for the webhook's own endpoint, ceiling_exceeded. Next: "
            "set_webhook_rules with actions that name the endpoint."
        ),
        handler=add_webhook_route,
        effect=Effect.CHANGES,
        arguments={"webhook_id": WEBHOOK_ID, "endpoint_id": identifier("The id of the endpoint to add.")},
        required=("webhook_id", "endpoint_id"),
        result=result({"route_id": "string", "webhook_id": "string", "endpoint_id": "string", "state": "string"}),
    ),
    Tool(
        name="remove_webhook_route",
        description=(
            "Stop delivering a webhook to an endpoint; rules that name it take the default from then on. Removing an "
            "absent route succeeds. Returns {webhook_id, endpoint_id, removed: true}. Errors: not_found."
        ),
        handler=remove_webhook_route,
        effect=Effect.DESTROYS,
        arguments={"webhook_id": WEBHOOK_ID, "endpoint_id": identifier("The id of the endpoint to remove.")},
        required=("webhook_id", "endpoint_id"),
        result=result({"webhook_id": "string", "endpoint_id": "string", "removed": "boolean"}),
    ),
)
