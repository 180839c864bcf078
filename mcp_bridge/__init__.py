"""The MCP bridge: what an agent sees of Switchboard."""
