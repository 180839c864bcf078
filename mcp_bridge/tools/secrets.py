"""The secrets family: store a signing secret that a vendor issued."""

from typing import Any

from mcp_bridge.schema import identifier, result, text
from mcp_bridge.tool import Arguments, Effect, Tool
from routing.webhooks import set_signing_secret
from switchboard.accounts.models import Endpoint
from switchboard.accounts.reach import Principal


def set_webhook_secret(endpoint: Endpoint, arguments: Arguments) -> dict[str, Any]:
    """Store the signing secret of a webhook; it is never shown again."""
    set_signing_secret(
        principal=Principal.of_endpoint(endpoint),
        webhook_id=arguments["webhook_id"],
        signing_secret=arguments["signing_secret"],
    )
    return {"webhook_id": arguments["webhook_id"], "has_secret": True}


TOOLS = (
    Tool(
        name="set_webhook_secret",
        description=(
            "Store the signing secret that Slack or Stripe issued, or that the producer already has, for a webhook; "
            "the former one stops verifying at once. The secret passes through this conversation: prefer the "
            "owner's web page where that matters. Returns {webhook_id, has_secret: true}, never the secret. "
            "Errors: not_found, invalid_argument (a generic webhook has none), encryption_required."
        ),
        handler=set_webhook_secret,
        effect=Effect.DESTROYS,
        arguments={
            "webhook_id": identifier("The webhook's id."),
            "signing_secret": text(
                "The secret as the vendor shows it.",
                example="8f742231b10e8888abcd99yyyzzz85a5",
                minLength=1,
                maxLength=512,
            ),
        },
        required=("webhook_id", "signing_secret"),
        judged_later=frozenset({"signing_secret"}),
        result=result({"webhook_id": "string", "has_secret": "boolean"}),
    ),
)
