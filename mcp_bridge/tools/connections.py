"""The connections family: store, list, replace and delete the owner's outbound credentials."""

from typing import Any

from connections import manage
from connections.arguments import MAX_ENTRIES, MAX_NAME_CHARACTERS, MAX_SECRET_BYTES
from connections.models import MAX_ACCOUNT_KEY_CHARACTERS
from connections.shapes import listed_connection_shape
from mcp_bridge.pages import listing
from mcp_bridge.schema import PAGE, Schema, choice, identifier, result, text
from mcp_bridge.tool import Arguments, Effect, Tool
from switchboard.accounts.models import Endpoint
from switchboard.accounts.reach import Principal
from switchboard.reply_address import Provider

CONNECTION_ID = identifier("The connection's id.")
SECRET = text("The provider's token.", example="xoxb-not-a-real-token", minLength=1, maxLength=MAX_SECRET_BYTES + 2)
STORED = result(
    {
        "id": "string",
        "kind": "string",
        "name": "string",
        "account_key": "string",
        "targets": "array",
        "endpoints": "array",
        "fingerprint": "string",
    }
)


def list_connections(endpoint: Endpoint, arguments: Arguments) -> dict[str, Any]:
    """Return a page of the owner's connections."""
    found = manage.list_connections(principal=Principal.of_endpoint(endpoint))
    return listing("connections", found, listed_connection_shape, arguments)


def create_connection(endpoint: Endpoint, arguments: Arguments) -> dict[str, Any]:
    """Store a credential for the owner of the calling endpoint."""
    created = manage.create_connection(
        principal=Principal.of_endpoint(endpoint),
        acting=endpoint,
        kind=arguments["kind"],
        name=arguments["name"],
        account_key=arguments.get("account_key", ""),
        secret=arguments["secret"],
        targets=arguments.get("targets", ()),
        endpoints=arguments.get("endpoints", ()),
    )
    return listed_connection_shape(created)


def rotate_connection(endpoint: Endpoint, arguments: Arguments) -> dict[str, Any]:
    """Replace the secret of a connection."""
    rotated = manage.rotate_connection(
        principal=Principal.of_endpoint(endpoint),
        acting=endpoint,
        connection_id=arguments["connection_id"],
        secret=arguments["secret"],
    )
    return listed_connection_shape(rotated)


def delete_connection(endpoint: Endpoint, arguments: Arguments) -> dict[str, Any]:
    """Delete a connection for good."""
    connection_id = arguments["connection_id"]
    manage.delete_connection(principal=Principal.of_endpoint(endpoint), acting=endpoint, connection_id=connection_id)
    return {"connection_id": connection_id, "deleted": True}


def _texts(description: str, *, example: str) -> Schema:
    return {
        "type": "array",
        "description": description,
        "items": {"type": "string"},
        "maxItems": MAX_ENTRIES,
        "examples": [[example]],
    }


TOOLS = (
    Tool(
        name="list_connections",
        description=(
            "List the outbound credentials of this endpoint's owner, newest first: what each is for, its allowlists "
            "and its fingerprint (12 hex digits of the secret's SHA-256), never the secret. Returns {connections, "
            "next_cursor}. Errors: invalid_argument."
        ),
        handler=list_connections,
        effect=Effect.READS,
        arguments=PAGE,
        result=result({"connections": "array", "next_cursor": ["string", "null"]}),
    ),
    Tool(
        name="create_connection",
        description=(
            "Store a credential with which replies of this endpoint's owner are posted to one account. The secret "
            "is sealed and never shown again; it passes through this conversation, so prefer the owner's web page "
            "where that matters. Returns the connection with its fingerprint. Errors: invalid_argument, conflict "
            "(the owner has that name or account already: rotate_connection), encryption_required (tell your "
            "operator)."
        ),
        handler=create_connection,
        effect=Effect.CHANGES,
        arguments={
            "kind": choice("The provider.", [provider.value for provider in Provider]),
            "name": text("A name for people.", example="acme on GitHub", minLength=1, maxLength=MAX_NAME_CHARACTERS),
            "account_key": text(
                "github: a host (github.com when left out); gitea, cairn: the https base URL; slack: the team id.",
                example="https://git.example.net",
                maxLength=MAX_ACCOUNT_KEY_CHARACTERS,
            ),
            "secret": SECRET,
            "targets": _texts(
                "Only these: owner/* or owner/name, Slack channel ids, Cairn tags or *. Empty: all.",
                example="acme/*",
            ),
            "endpoints": _texts(
                "Only these endpoints of the owner, by id. Empty: all.",
                example="0192f0c1-8a3e-7c11-9d52-3f6e1b7a4c20",
            ),
        },
        required=("kind", "name", "secret"),
        secrets=frozenset({"secret"}),
        result=STORED,
    ),
    Tool(
        name="rotate_connection",
        description=(
            "Replace a connection's secret; the former one is gone at once. Returns the connection with its new "
            "fingerprint, never the secret. Errors: not_found, invalid_argument, encryption_required."
        ),
        handler=rotate_connection,
        effect=Effect.DESTROYS,
        arguments={"connection_id": CONNECTION_ID, "secret": SECRET},
        required=("connection_id", "secret"),
        secrets=frozenset({"secret"}),
        result=STORED,
    ),
    Tool(
        name="delete_connection",
        description=(
            "Delete a connection for good: nothing can be posted with it any more, and the replies made with it stay. "
            "Returns {connection_id, deleted: true}. Errors: not_found."
        ),
        handler=delete_connection,
        effect=Effect.DESTROYS,
        arguments={"connection_id": CONNECTION_ID},
        required=("connection_id",),
        result=result({"connection_id": "string", "deleted": "boolean"}),
    ),
)
