"""Every tool of the bridge, by family; tools/list and the argument check both read this table."""

from mcp_bridge.tool import Tool
from mcp_bridge.tools import connections, drain, history, replies, routes, rules, secrets, webhooks

FAMILIES: dict[str, tuple[Tool, ...]] = {
    "drain": drain.TOOLS,
    "webhooks": webhooks.TOOLS,
    "routes": routes.TOOLS,
    "rules": rules.TOOLS,
    "history": history.TOOLS,
    "reply": replies.TOOLS,
    "connections": connections.TOOLS,
    "secrets": secrets.TOOLS,
}
TOOLS: dict[str, Tool] = {tool.name: tool for tools in FAMILIES.values() for tool in tools}
