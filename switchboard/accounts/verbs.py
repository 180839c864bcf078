"""The verbs an endpoint may be granted, by family; the only list of them."""

DRAIN_VERBS = (
    "list_todos",
    "get_todo",
    "claim",
    "claim_next",
    "heartbeat",
    "complete",
    "fail",
    "release",
)
WEBHOOK_VERBS = ("create_webhook", "list_webhooks", "rotate_webhook", "delete_webhook")
ROUTE_VERBS = ("list_webhook_routes", "add_webhook_route", "remove_webhook_route")
RULE_VERBS = (
    "list_webhook_rules",
    "set_webhook_rules",
    "add_webhook_rule",
    "update_webhook_rule",
    "move_webhook_rule",
    "remove_webhook_rule",
    "test_webhook_rules",
)
HISTORY_VERBS = ("list_webhook_events", "get_webhook_event")
REPLY_VERBS = ("reply",)
CONNECTION_VERBS = ("list_connections", "create_connection", "rotate_connection", "delete_connection")
SECRET_VERBS = ("set_webhook_secret",)

FAMILIES: dict[str, tuple[str, ...]] = {
    "drain": DRAIN_VERBS,
    "webhooks": WEBHOOK_VERBS,
    "routes": ROUTE_VERBS,
    "rules": RULE_VERBS,
    "history": HISTORY_VERBS,
    "reply": REPLY_VERBS,
    "connections": CONNECTION_VERBS,
    "secrets": SECRET_VERBS,
}
OPT_IN_FAMILIES = frozenset({"reply", "connections", "secrets"})


def AllVerbs() -> tuple[str, ...]:  # noqa: N802 - the specification's own name
    """Return every grantable verb, in the order of the families."""
    return tuple(verb for verbs in FAMILIES.values() for verb in verbs)


def BasicVerbs() -> tuple[str, ...]:  # noqa: N802 - the specification's own name
    """Return AllVerbs without the opt-in families: the grant when nobody chose otherwise (SPEC-0028 REQ-6)."""
    return tuple(verb for family, verbs in FAMILIES.items() if family not in OPT_IN_FAMILIES for verb in verbs)
