"""The rules family: read, change and try out a webhook's routing rules (SPEC-0020)."""

from typing import Any

from mcp_bridge.schema import Schema, flag, identifier, record, result, text, whole_number
from mcp_bridge.tool import Arguments, Effect, Tool
from routing import configure, dry_run
from routing.rules import MAX_EXPRESSION_BYTES, MAX_NAME_BYTES, MAX_RULES
from switchboard.accounts.models import Endpoint
from switchboard.accounts.reach import Principal

WEBHOOK_ID = identifier("The webhook's id.")
RULE_ID = identifier("The rule's id.", example="noise")
EXPR = text(
    "A jq filter over the routing envelope; the rule matches when its first output is neither false nor null.",
    example='.kind == "issues" and .issue.action == "opened"',
    minLength=1,
    maxLength=MAX_EXPRESSION_BYTES,
)
NAME = text("A name for people.", example="New issues to triage", maxLength=MAX_NAME_BYTES)
ACTION = record(
    'Exactly {"drop": true}, or {"queue", "endpoints"?: [ids], "exclusive"?, "once"?, "work_order"?}.',
    example={"queue": "triage"},
)
DEFAULT: Schema = {
    "type": ["object", "null"],
    "description": "The action when no rule matches; null: the target queue on every target.",
    "examples": [{"drop": True}],
}
PARAMS = record("The object that expressions see as $params; at most 16 KiB.", example={"trusted_humans": ["octavia"]})
RULES: Schema = {
    "type": "array",
    "description": "The rules in order; the first match decides.",
    "maxItems": MAX_RULES,
    "items": {
        "type": "object",
        "properties": {
            "id": {"type": "string", "pattern": "^[A-Za-z0-9_-]{1,64}$"},
            "name": {"type": ["string", "null"]},
            "expr": {"type": "string"},
            "action": {"type": "object"},
        },
        "required": ["expr", "action"],
    },
    "examples": [[{"id": "noise", "expr": '.kind == "star"', "action": {"drop": True}}]],
}
POSITION = whole_number("Place in the list, 0 is first.", low=0, high=MAX_RULES, example=0)
VERSION = whole_number(
    "The version of the rules result that you read: refuses with conflict when they have changed since.",
    low=0,
    high=2**31 - 1,
    example=3,
)
JUDGED_BY_ROUTING = frozenset({"id", "name", "expr", "action", "rules", "default_action", "params", "headers"})
RULES_RESULT = result({"webhook_id": "string", "version": "integer", "rules": "array", "grant": "object"})
WHAT_COMES_BACK = (
    "Returns the whole rules result: {webhook_id, version, rules, default_action, params, grant: {queues, endpoints}, "
    "warnings?}."
)
REFUSALS = (
    "Errors name the rule by index, id and name and change nothing: invalid_expression, forbidden_function, "
    "invalid_rule, too_many_rules, invalid_params, forbidden (a queue or endpoint outside the grant), not_found, "
    "conflict (read the rules again)."
)


def list_webhook_rules(endpoint: Endpoint, arguments: Arguments) -> dict[str, Any]:
    """Return the webhook's rules result."""
    return configure.list_rules(principal=Principal.of_endpoint(endpoint), webhook_id=arguments["webhook_id"])


def set_webhook_rules(endpoint: Endpoint, arguments: Arguments) -> dict[str, Any]:
    """Replace rules, default and params together."""
    return configure.set_rules(
        principal=Principal.of_endpoint(endpoint),
        webhook_id=arguments["webhook_id"],
        rules=arguments["rules"],
        default_action=arguments.get("default_action"),
        params=arguments.get("params"),
        version=arguments.get("version"),
    )


def add_webhook_rule(endpoint: Endpoint, arguments: Arguments) -> dict[str, Any]:
    """Insert one rule."""
    return configure.add_rule(
        principal=Principal.of_endpoint(endpoint),
        webhook_id=arguments["webhook_id"],
        expr=arguments["expr"],
        action=arguments["action"],
        rule_id=arguments.get("id"),
        name=arguments.get("name"),
        position=arguments.get("position"),
        version=arguments.get("version"),
    )


def update_webhook_rule(endpoint: Endpoint, arguments: Arguments) -> dict[str, Any]:
    """Change name, expression or action of one rule."""
    return configure.update_rule(
        principal=Principal.of_endpoint(endpoint),
        webhook_id=arguments["webhook_id"],
        rule_id=arguments["rule_id"],
        changes={name: arguments[name] for name in ("name", "expr", "action") if name in arguments},
        version=arguments.get("version"),
    )


def move_webhook_rule(endpoint: Endpoint, arguments: Arguments) -> dict[str, Any]:
    """Move one rule to another place."""
    return configure.move_rule(
        principal=Principal.of_endpoint(endpoint),
        webhook_id=arguments["webhook_id"],
        rule_id=arguments["rule_id"],
        position=arguments["position"],
        version=arguments.get("version"),
    )


def remove_webhook_rule(endpoint: Endpoint, arguments: Arguments) -> dict[str, Any]:
    """Remove one rule."""
    return configure.remove_rule(
        principal=Principal.of_endpoint(endpoint),
        webhook_id=arguments["webhook_id"],
        rule_id=arguments["rule_id"],
        version=arguments.get("version"),
    )


def test_webhook_rules(endpoint: Endpoint, arguments: Arguments) -> dict[str, Any]:
    """Route a sample or a stored event without persisting anything."""
    sample = {name: value for name, value in arguments.items() if name != "webhook_id"}
    return dry_run.test_rules(
        principal=Principal.of_endpoint(endpoint), webhook_id=arguments["webhook_id"], arguments=sample
    )


TOOLS = (
    Tool(
        name="list_webhook_rules",
        description=(
            f"Read a webhook's ordered routing rules and what they may reach. {WHAT_COMES_BACK} Errors: not_found. "
            "Read them before you change them, and pass version along."
        ),
        handler=list_webhook_rules,
        effect=Effect.READS,
        arguments={"webhook_id": WEBHOOK_ID},
        required=("webhook_id",),
        result=RULES_RESULT,
    ),
    Tool(
        name="set_webhook_rules",
        description=(
            "Replace a webhook's rules, default_action and params together; what you leave out is cleared. The "
            "first rule whose jq expression is truthy decides. Expressions see .source, .kind, .verified, "
            ".trust_mode, .headers, .payload, .issue, .artifact and $params. An action is "
            '{"drop": true}, or {"queue"} with optional endpoints (some of the grant\'s), exclusive (one target '
            "that drains the queue), once (at most one todo a subject and queue), work_order. "
            f"{WHAT_COMES_BACK} {REFUSALS} Try rules with test_webhook_rules first."
        ),
        handler=set_webhook_rules,
        effect=Effect.DESTROYS,
        arguments={
            "webhook_id": WEBHOOK_ID,
            "rules": RULES,
            "default_action": DEFAULT,
            "params": PARAMS,
            "version": VERSION,
        },
        required=("webhook_id", "rules"),
        judged_later=JUDGED_BY_ROUTING,
        result=RULES_RESULT,
    ),
    Tool(
        name="add_webhook_rule",
        description=(
            f"Add one rule to a webhook, at position or last; everything else stays. {WHAT_COMES_BACK} {REFUSALS}"
        ),
        handler=add_webhook_rule,
        effect=Effect.CHANGES,
        arguments={
            "webhook_id": WEBHOOK_ID,
            "id": text("1-64 of A-Z a-z 0-9 _ -; minted when left out.", example="noise", maxLength=64),
            "name": NAME,
            "expr": EXPR,
            "action": ACTION,
            "position": POSITION,
            "version": VERSION,
        },
        required=("webhook_id", "expr", "action"),
        judged_later=JUDGED_BY_ROUTING,
        result=RULES_RESULT,
    ),
    Tool(
        name="update_webhook_rule",
        description=(
            "Change the name, expr or action of one rule; what you leave out stays. "
            f"{WHAT_COMES_BACK} {REFUSALS} Also rule_not_found."
        ),
        handler=update_webhook_rule,
        effect=Effect.DESTROYS,
        arguments={
            "webhook_id": WEBHOOK_ID,
            "rule_id": RULE_ID,
            "name": NAME,
            "expr": EXPR,
            "action": ACTION,
            "version": VERSION,
        },
        required=("webhook_id", "rule_id"),
        judged_later=JUDGED_BY_ROUTING,
        result=RULES_RESULT,
    ),
    Tool(
        name="move_webhook_rule",
        description=(
            "Move one rule to another position; order matters, the first match decides. "
            f"{WHAT_COMES_BACK} Errors: not_found, rule_not_found, invalid_argument, conflict."
        ),
        handler=move_webhook_rule,
        effect=Effect.DESTROYS,
        arguments={
            "webhook_id": WEBHOOK_ID,
            "rule_id": RULE_ID,
            "position": POSITION,
            "version": VERSION,
        },
        required=("webhook_id", "rule_id", "position"),
        result=RULES_RESULT,
    ),
    Tool(
        name="remove_webhook_rule",
        description=(
            f"Remove one rule; removing an absent one succeeds. {WHAT_COMES_BACK} Errors: not_found, conflict."
        ),
        handler=remove_webhook_rule,
        effect=Effect.DESTROYS,
        arguments={"webhook_id": WEBHOOK_ID, "rule_id": RULE_ID, "version": VERSION},
        required=("webhook_id", "rule_id"),
        result=RULES_RESULT,
    ),
    Tool(
        name="test_webhook_rules",
        description=(
            "See where a delivery would go, without storing anything: give exactly one of payload (a sample body, "
            "treated as verified) and event_id (an event of this webhook), and optionally candidate rules, "
            "default_action or params, which are checked like a save and not saved. Returns {decision: {drop, "
            "queue?, endpoints?}, trace, once_key?, work_order?, envelope?}; the trace names the rule and every "
            "fault. Use it before set_webhook_rules, and omit_envelope to save room. Errors: not_found, "
            "invalid_argument, and those of set_webhook_rules."
        ),
        handler=test_webhook_rules,
        effect=Effect.READS,
        arguments={
            "webhook_id": WEBHOOK_ID,
            "event_id": identifier("A stored event of this webhook."),
            "payload": {"description": "A sample body: any JSON value.", "examples": [{"action": "opened"}]},
            "headers": record(
                "Headers of the sample.", example={"X-GitHub-Event": "issues"}, maxProperties=dry_run.MAX_HEADERS
            ),
            "rules": RULES,
            "default_action": DEFAULT,
            "params": PARAMS,
            "omit_envelope": flag("Leave the envelope out of the result."),
        },
        required=("webhook_id",),
        judged_later=JUDGED_BY_ROUTING,
        result=result({"decision": "object", "trace": "object"}, envelope="object"),
    ),
)
