"""The OpenAPI document is valid, describes every route as it answers, and is readable under the strict policy."""

import re
from io import StringIO
from typing import Any

import pytest
from django.contrib.staticfiles import finders
from django.core.management import call_command
from django.test import Client
from jsonschema import Draft202012Validator

from tests.api.caller import Caller
from tests.api.surface import ROUTES, RULE, Route, furnish

PARAMETERS = {"endpoint": "ref", "webhook": "webhook_id", "other_endpoint": "endpoint_id"}


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    answer: dict[str, Any] = Client().get("/api/v1/schema/").json()
    return answer


def described_path(route: Route) -> str:
    named = re.sub(r"\{(\w+)\}", lambda found: f"{{{PARAMETERS.get(found[1], found[1] + '_id')}}}", route.path)
    return "/api/v1" + named.replace("/rules/r1", "/rules/{rule_id}")


def strict(schema: Any) -> Any:
    """Return an OpenAPI 3.0 schema as JSON Schema, refusing properties that it does not name."""
    if isinstance(schema, list):
        return [strict(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: strict(value) for key, value in schema.items() if key != "nullable"}
    if "properties" in schema and "additionalProperties" not in schema:
        found["additionalProperties"] = False
    return {"anyOf": [found, {"type": "null"}]} if schema.get("nullable") else found


def answer_schema(document: dict[str, Any], route: Route, status: int) -> dict[str, Any]:
    described = document["paths"][described_path(route)][route.method.lower()]["responses"][str(status)]
    return {
        **strict(described["content"]["application/json"]["schema"]),
        "components": strict(document["components"]),
    }


def test_the_document_validates_without_a_warning(db: None) -> None:
    call_command("spectacular", "--validate", "--fail-on-warn", stdout=StringIO())


def test_the_document_names_every_route_and_no_other(document: dict[str, Any]) -> None:
    described = {(method, path) for path, methods in document["paths"].items() for method in methods}
    assert described == {(route.method.lower(), described_path(route)) for route in ROUTES}


@pytest.mark.parametrize("route", ROUTES, ids=str)
def test_each_route_answers_as_described(owner: Caller, document: dict[str, Any], route: Route) -> None:
    ids = furnish(owner.human)
    if "/r1" in route.path:
        owner.call("PUT", f"/webhooks/{ids['webhook']}/rules", {"rules": [RULE]})
    response = owner.call(route.method, route.path.format(**ids), route.body)
    if response.status_code == 204:
        assert "204" in document["paths"][described_path(route)][route.method.lower()]["responses"]
        return
    Draft202012Validator(answer_schema(document, route, response.status_code)).validate(response.json())


def test_refusals_are_described(owner: Caller, document: dict[str, Any]) -> None:
    problem = {"$ref": "#/components/schemas/Problem", "components": strict(document["components"])}
    for response in (owner.call("GET", "/todos?limit=0"), owner.call("GET", "/todos/x")):
        Draft202012Validator(problem).validate(response.json())


def test_the_document_and_its_page_need_no_token(db: None) -> None:
    assert Client().get("/api/v1/schema/").headers["Content-Type"] == "application/json"
    assert Client().get("/api/v1/docs").status_code == 200


def test_no_description_is_left_to_the_code(document: dict[str, Any]) -> None:
    for methods in document["paths"].values():
        for described in methods.values():
            assert described["description"] == f"{described['summary']}."


def test_the_document_tells_how_to_authenticate(document: dict[str, Any]) -> None:
    assert document["components"]["securitySchemes"]["apiToken"]["scheme"] == "bearer"
    assert document["paths"]["/api/v1/todos"]["get"]["security"] == [{"apiToken": []}]


def test_the_page_holds_nothing_that_the_policy_blocks(db: None) -> None:
    response = Client().get("/api/v1/docs/")
    page = response.content.decode()
    assert "'unsafe-inline'" not in response.headers["Content-Security-Policy"]
    assert "<style" not in page
    assert not re.search(r"\s(style|on\w+)=", page)
    assert not re.search(r"<script[^>]*>[^<]", page)
    assert re.findall(r'(?:src|href)="([^"]+)"', page)


def test_everything_that_the_page_loads_is_there(db: None) -> None:
    page = Client().get("/api/v1/docs/").content.decode()
    for address in re.findall(r'(?:src|href)="([^"]+)"', page):
        if address.startswith("/static/"):
            assert finders.find(address.removeprefix("/static/"))
        else:
            script = Client().get(address.replace("&amp;", "&"))
            assert script.headers["Content-Type"].startswith("application/javascript")
            assert b"SwaggerUIBundle" in script.content
