"""The documentation says what the code does: its lists, its examples and its links are checked against it."""

import inspect
import json
import re
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from routing.rules import read_action, read_rule, read_rule_list
from routing.sandbox import client, policy
from switchboard import env, errors
from switchboard.accounts.verbs import FAMILIES, OPT_IN_FAMILIES
from switchboard.source_types import Source

PROJECT = Path(__file__).resolve().parents[2]
DOCS = PROJECT / "docs"
PAGES = [PROJECT / "README.md", *sorted(DOCS.rglob("*.md"))]
FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
VARIABLE = re.compile(r"\b(?:SWITCHBOARD_[A-Z_]*[A-Z]|DJANGO_[A-Z_]*[A-Z]|DATABASE_URL|REDIS_URL)\b")
OF_THE_COMMANDS = {"SWITCHBOARD_CREDENTIAL", "SWITCHBOARD_URL"}  # of the examples' own making

page = pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(PROJECT)))


def prose(path: Path) -> str:
    return FENCE.sub("", path.read_text())


def examples(path: Path, language: str) -> list[str]:
    return [code for _, tongue, code in FENCE.findall(path.read_text()) if tongue == language]


def section(path: Path, heading: str) -> str:
    found = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", path.read_text(), re.MULTILINE | re.DOTALL)
    assert found, f"{path.name} has no section {heading}"
    return found[1]


def rows(text: str) -> list[list[str]]:
    """The cells of every table row, without headings' lines of dashes."""
    lines = [line for line in text.splitlines() if line.startswith("| ") and not line.startswith("| ---")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def code_words(text: str) -> list[str]:
    return re.findall(r"`([^`]+)`", text)


def test_every_jq_example_may_be_saved() -> None:
    found = [code for path in PAGES for code in examples(path, "jq")]

    for expression in found:
        policy.check_expression(expression)
    assert client.check_compiles(expressions=found, limits=client.Limits()) == [None] * len(found)
    assert len(found) > 5


@page
def test_every_json_example_is_json_and_every_rule_in_it_a_rule(path: Path) -> None:
    for code in examples(path, "json"):
        check_example(json.loads(code))


def check_example(value: Any) -> None:
    if "expr" in value:
        read_rule(value)
    elif "queue" in value:
        read_action(value)
    elif "rules" in value:
        numbered = [{"id": f"rule-{index}", **rule} for index, rule in enumerate(value["rules"])]
        default, params = value.get("default_action"), value.get("params")
        checked = read_rule_list(rules=numbered, default_action=default, params=params)
        expressions = [rule.expr for rule in checked.rules]
        assert client.check_compiles(expressions=expressions, limits=client.Limits()) == [None] * len(expressions)


def test_the_forbidden_names_are_those_that_are_refused() -> None:
    paragraphs = section(DOCS / "rules.md", "What an expression may name").split("\n\n")
    (listed,) = [paragraph for paragraph in paragraphs if paragraph.startswith("`")]

    assert sorted(code_words(listed)) == sorted(policy.FORBIDDEN)


def test_the_faults_are_those_that_a_trace_can_name() -> None:
    listed = {code_words(row[0])[0] for row in rows(section(DOCS / "rules.md", "Faults"))[1:]}

    of_a_rule = {"error", "timeout", "compile_error", "budget_exhausted"}  # SPEC-0020, "Deterministic Rule Evaluation"
    assert listed == of_a_rule | {"sandbox_failure", "sandbox_busy"}


def test_the_settings_table_is_the_environment_that_is_read() -> None:
    listed = [code_words(row[0])[0] for row in rows(section(DOCS / "self-hosting.md", "Settings"))[1:]]

    assert sorted(listed) == sorted(set(VARIABLE.findall(inspect.getsource(env))))


@page
def test_every_variable_that_is_named_exists(path: Path) -> None:
    assert set(VARIABLE.findall(path.read_text())) - OF_THE_COMMANDS <= set(VARIABLE.findall(inspect.getsource(env)))


def test_the_processes_are_those_of_the_procfile() -> None:
    processes = re.findall(r"^(\w+):", (PROJECT / "Procfile").read_text(), re.MULTILINE)

    for path, heading in ((PROJECT / "README.md", "Run it for real"), (DOCS / "self-hosting.md", "Production")):
        assert sorted(code_words(row[0])[0] for row in rows(section(path, heading))[1:]) == sorted(processes)


def test_the_verbs_are_those_of_the_families() -> None:
    listed = rows(section(DOCS / "connecting-an-agent.md", "The verbs"))[1:]
    families = {family.partition(" ")[0]: tuple(code_words(verbs)) for family, verbs, _ in listed}
    opt_in = {family.partition(" ")[0] for family, _, _ in listed if "opt-in" in family}

    assert families == FAMILIES
    assert opt_in == set(OPT_IN_FAMILIES)


@pytest.mark.parametrize(
    ("name", "heading"), [("connecting-an-agent.md", "Errors"), ("rules.md", "Set them")], ids=lambda text: text
)
def test_every_error_code_exists(name: str, heading: str) -> None:
    known = {kind.code for kind in vars(errors).values() if inspect.isclass(kind) and hasattr(kind, "code")}
    listed = {code for row in rows(section(DOCS / name, heading))[1:] for code in code_words(row[0])}

    assert listed
    assert listed <= known


@pytest.mark.parametrize(
    ("name", "heading"), [("first-webhook.md", "The producers"), ("security-model.md", "What is verified")]
)
def test_every_source_is_described(name: str, heading: str) -> None:
    listed = [code_words(row[0])[0] for row in rows(section(DOCS / name, heading))[1:]]

    assert listed == [source.value for source in Source]


@page
def test_every_internal_link_leads_somewhere(path: Path) -> None:
    for target in LINK.findall(prose(path)):
        if re.match(r"https?://", target):
            continue
        name, _, anchor = target.partition("#")
        linked = (path.parent / name).resolve() if name else path
        assert linked.exists(), target
        assert not anchor or anchor in anchors(linked), target


def anchors(path: Path) -> set[str]:
    """The anchors that GitHub makes of a page's headings."""
    headings = re.findall(r"^#+ (.+)$", prose(path), re.MULTILINE)
    return {
        re.sub(r"[^\w\- ]", "", unicodedata.normalize("NFC", text)).strip().lower().replace(" ", "-")
        for text in headings
    }


def test_every_folder_that_the_readme_names_exists() -> None:
    listed = [
        word for row in rows(section(PROJECT / "README.md", "Which door to knock at")) for word in code_words(row[0])
    ]
    folders = [word for word in listed if re.fullmatch(r"[a-z][a-z_/]*/", word)]

    assert folders
    assert [folder for folder in folders if not (PROJECT / folder).is_dir()] == []
