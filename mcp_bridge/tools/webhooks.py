"""The webhooks family: create, list, rotate and delete the addresses that producers post to."""

from typing import Any

from mcp_bridge.pages import listing
from mcp_bridge.schema import PAGE, choice, flag, identifier, queue, result, text, whole_number
from mcp_bridge.tool import Arguments, Effect, Tool
from routing import webhooks
from routing.shapes import created_webhook_shape, webhook_shape
from switchboard.accounts.models import Endpoint
from switchboard.accounts.reach import Principal
from switchboard.source_types import Source

WEBHOOK_ID = identifier("The webhook's id.")
CREATED = result(
    {
        "webhook_id": "string",
        "ingest_url": "string",
        "source_type": "string",
        "target_queue": "string",
        "trust_mode": "string",
    },
    signing_secret="string",  # noqa: S106 - a JSON type
)


def create_webhook(endpoint: Endpoint, arguments: Arguments) -> dict[str, Any]:
    """Create a webhook on the calling endpoint, within its ceiling."""
    created = webhooks.create_webhook(
        endpoint=endpoint,
        source_type=arguments["source_type"],
        target_queue=arguments["target_queue"],
        signing_secret=arguments.get("signing_secret"),
    )
    return created_webhook_shape(created)


def list_webhooks(endpoint: Endpoint, arguments: Arguments) -> dict[str, Any]:
    """Return a page of the owner's webhooks and the calling endpoint's ceiling."""
    found = webhooks.list_webhooks(principal=Principal.of_endpoint(endpoint))
    ceiling = {
        "max": endpoint.webhook_max,
        "source_types": endpoint.webhook_source_types,
        "queues": endpoint.webhook_queues,
    }
    return {**listing("webhooks", found, webhook_shape, arguments), "ceiling": ceiling}


def rotate_webhook(endpoint: Endpoint, arguments: Arguments) -> dict[str, Any]:
    """Mint a new signing secret or a new address."""
    rotated = webhooks.rotate_webhook(
        principal=Principal.of_endpoint(endpoint),
        webhook_id=arguments["webhook_id"],
        rotate_url=arguments.get("rotate_url", False),
        keep_previous_for_seconds=arguments.get("keep_previous_for_seconds", 0),
    )
    return created_webhook_shape(rotated)


def delete_webhook(endpoint: Endpoint, arguments: Arguments) -> dict[str, Any]:
    """Delete a webhook for good."""
    webhooks.delete_webhook(principal=Principal.of_endpoint(endpoint), webhook_id=arguments["webhook_id"])
    return {"webhook_id": arguments["webhook_id"], "deleted": True}


TOOLS = (
    Tool(
        name="create_webhook",
        description=(
            "Create an address that a producer can post deliveries to; each verified one becomes a todo in "
            "target_queue, or goes where the webhook's rules say. Returns {webhook_id, ingest_url, source_type, "
            "target_queue, trust_mode, signing_secret?}: the secret is shown this once, so configure the producer "
            "with it and ingest_url now. Slack and Stripe issue their own secret: pass it, or the webhook answers "
            "503 until it is set. For generic the URL itself is the secret. Errors: forbidden_source_type and "
            "forbidden (outside the ceiling that list_webhooks shows), ceiling_exceeded (delete one first), "
            "encryption_required (tell your operator), invalid_argument. Next: set_webhook_rules."
        ),
        handler=create_webhook,
        effect=Effect.CHANGES,
        arguments={
            "source_type": choice("The producer.", [source.value for source in Source]),
            "target_queue": queue("The queue of deliveries that no rule routes elsewhere."),
            "signing_secret": text(
                "A secret that the producer already has; minted when left out.",
                example="8f742231b10e8888abcd99yyyzzz85a5",
                minLength=1,
                maxLength=512,
            ),
        },
        required=("source_type", "target_queue"),
        judged_later=frozenset({"signing_secret"}),
        result=CREATED,
    ),
    Tool(
        name="list_webhooks",
        description=(
            "List the webhooks of this endpoint's owner, newest first, without addresses and secrets, and how many "
            "webhooks of which sources and queues this endpoint may have. Returns {webhooks, next_cursor, ceiling: "
            "{max, source_types, queues}}. Errors: invalid_argument."
        ),
        handler=list_webhooks,
        effect=Effect.READS,
        arguments=PAGE,
        result=result({"webhooks": "array", "next_cursor": ["string", "null"], "ceiling": "object"}),
    ),
    Tool(
        name="rotate_webhook",
        description=(
            "Replace a webhook's signing secret, and with rotate_url (always for generic) its address, when one "
            "leaked. Returns {webhook_id, ingest_url, source_type, target_queue, trust_mode, signing_secret?}, "
            "shown this once: give them to the producer. What was there before stops working at once, or after "
            "keep_previous_for_seconds. Slack's and Stripe's secrets are the vendor's: rotate only their URL here. "
            "Errors: not_found, invalid_argument, encryption_required."
        ),
        handler=rotate_webhook,
        effect=Effect.DESTROYS,
        arguments={
            "webhook_id": WEBHOOK_ID,
            "rotate_url": flag("Also mint a new address."),
            "keep_previous_for_seconds": whole_number(
                "How long the former secret and address go on working.",
                low=0,
                high=webhooks.MAX_OVERLAP_SECONDS,
                example=3600,
            ),
        },
        required=("webhook_id",),
        result=CREATED,
    ),
    Tool(
        name="delete_webhook",
        description=(
            "Delete a webhook with its rules and routes for good: its address answers 404 at once; todos and events "
            "stay. Returns {webhook_id, deleted: true}. Errors: not_found."
        ),
        handler=delete_webhook,
        effect=Effect.DESTROYS,
        arguments={"webhook_id": WEBHOOK_ID},
        required=("webhook_id",),
        result=result({"webhook_id": "string", "deleted": "boolean"}),
    ),
)
