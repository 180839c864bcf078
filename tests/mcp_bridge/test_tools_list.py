"""What a model is told: the endpoint's own verbs, each with words and schemas by which it can call it right."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from mcp_bridge.registry import FAMILIES, TOOLS
from mcp_bridge.tool import Effect, Tool
from switchboard.accounts import verbs
from tests.mcp_bridge.agents import make_agent

EVERY_TOOL = pytest.mark.parametrize("tool", TOOLS.values(), ids=TOOLS)


def arguments_of(tool: Tool) -> Iterator[tuple[str, dict[str, Any]]]:
    yield from tool.input_schema["properties"].items()


def test_each_family_holds_its_verbs_only() -> None:
    assert {family: tuple(tool.name for tool in tools) for family, tools in FAMILIES.items()} == {
        family: verbs.FAMILIES[family] for family in FAMILIES
    }


@EVERY_TOOL
def test_a_description_fits_what_clients_show(tool: Tool) -> None:
    assert 80 <= len(tool.description) <= 2048
    assert "Returns" in tool.description
    assert "Errors" in tool.description


@EVERY_TOOL
def test_both_schemas_are_plain_objects(tool: Tool) -> None:
    for schema in (tool.input_schema, tool.result):
        Draft202012Validator.check_schema(schema)
        assert schema["type"] == "object"
        assert not {"anyOf", "oneOf", "allOf"} & set(schema)
    assert tool.input_schema["additionalProperties"] is False
    assert set(tool.input_schema["required"]) <= set(tool.input_schema["properties"])


@EVERY_TOOL
def test_each_argument_is_described_with_an_example_that_fits(tool: Tool) -> None:
    for name, schema in arguments_of(tool):
        assert schema["description"], name
        for example in schema["examples"]:
            Draft202012Validator(schema).validate(example)
        assert schema["examples"], name


@EVERY_TOOL
def test_each_number_and_text_is_bounded_but_for_ids(tool: Tool) -> None:
    for name, schema in arguments_of(tool):
        if schema.get("type") == "integer":
            assert {"minimum", "maximum"} <= set(schema), name
        if schema.get("type") == "string" and not name.endswith("id"):
            assert {"maxLength", "enum", "pattern"} & set(schema), name


@EVERY_TOOL
def test_annotations_say_what_a_call_does(tool: Tool) -> None:
    reads = tool.name.startswith(("list_", "get_", "test_"))
    assert tool.annotations["readOnlyHint"] is reads
    assert tool.annotations["openWorldHint"] is (tool.name == "reply")
    assert (tool.effect is Effect.DESTROYS) is tool.annotations["destructiveHint"]
    assert not (reads and tool.annotations["destructiveHint"])


@pytest.mark.parametrize("name", ["claim", "claim_next"])
def test_a_claim_is_not_called_destructive(name: str) -> None:
    assert TOOLS[name].annotations["destructiveHint"] is False


@pytest.mark.django_db
def test_the_list_shows_exactly_the_endpoints_verbs() -> None:
    granted = ["get_todo", "claim", "set_webhook_secret"]
    tools = make_agent(verbs=granted).request("tools/list")["result"]["tools"]
    assert [tool["name"] for tool in tools] == granted


@pytest.mark.django_db
def test_basic_verbs_are_listed_without_the_opt_in_families() -> None:
    tools = make_agent(verbs="basics").request("tools/list")["result"]["tools"]
    assert [tool["name"] for tool in tools] == list(verbs.BasicVerbs())


@pytest.mark.django_db
def test_the_whole_list_stays_under_ten_thousand_tokens() -> None:
    answer = make_agent(verbs="all").request("tools/list")["result"]
    assert len(json.dumps(answer)) / 4 < 10_000


@pytest.mark.django_db
def test_the_list_carries_schemas_and_every_hint() -> None:
    tool, *_ = make_agent(verbs=["claim"]).request("tools/list")["result"]["tools"]
    assert tool["inputSchema"] == TOOLS["claim"].input_schema
    assert tool["outputSchema"] == TOOLS["claim"].result
    assert tool["annotations"] == {"readOnlyHint": False, "destructiveHint": False, "openWorldHint": False}
