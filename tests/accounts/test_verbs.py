"""The grantable verbs: the contract's families, what is basic, and what somebody must opt in to."""

import pytest

from mcp_bridge import registry
from switchboard.accounts.verbs import FAMILIES, OPT_IN_FAMILIES, AllVerbs, BasicVerbs

CONTRACT = {
    "drain": "list_todos get_todo claim claim_next heartbeat complete fail release",
    "webhooks": "create_webhook list_webhooks rotate_webhook delete_webhook",
    "routes": "list_webhook_routes add_webhook_route remove_webhook_route",
    "rules": (
        "list_webhook_rules set_webhook_rules add_webhook_rule update_webhook_rule move_webhook_rule "
        "remove_webhook_rule test_webhook_rules"
    ),
    "history": "list_webhook_events get_webhook_event",
    "reply": "reply",
    "connections": "list_connections create_connection rotate_connection delete_connection",
    "secrets": "set_webhook_secret",
}
OPT_IN = {"reply", "connections", "secrets"}


@pytest.mark.parametrize("family", CONTRACT)
def test_a_family_has_the_contracts_verbs(family: str) -> None:
    assert FAMILIES[family] == tuple(CONTRACT[family].split())


def test_all_verbs_are_those_of_the_families_each_once() -> None:
    assert AllVerbs() == tuple(" ".join(CONTRACT.values()).split())
    assert len(set(AllVerbs())) == len(AllVerbs())


def test_the_basics_are_all_verbs_but_the_opt_in_families() -> None:
    assert set(OPT_IN_FAMILIES) == OPT_IN
    opt_in = {verb for family in OPT_IN for verb in CONTRACT[family].split()}
    assert BasicVerbs() == tuple(verb for verb in AllVerbs() if verb not in opt_in)
    assert set(AllVerbs()) - set(BasicVerbs()) == opt_in


def test_no_verb_that_posts_or_holds_a_credential_is_basic() -> None:
    assert not [verb for verb in BasicVerbs() if "reply" in verb or "connection" in verb or "secret" in verb]


def test_the_bridge_has_a_tool_for_each_verb() -> None:
    assert {family: tuple(tool.name for tool in tools) for family, tools in registry.FAMILIES.items()} == FAMILIES
