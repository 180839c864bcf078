"""`install_pack` on the command line: what it prints, and one sentence for each refusal."""

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from routing import configure
from tests.routing.conftest import Line, OpenLine


def run(*arguments: str) -> str:
    output = StringIO()
    call_command("install_pack", *arguments, stdout=output)
    return output.getvalue()


@pytest.fixture
def door(line: OpenLine) -> Line:
    return line("github")


def test_a_pack_is_installed_with_its_params(door: Line, tmp_path: Path) -> None:
    file = tmp_path / "params.json"
    file.write_text('{"identity": "octavia"}')
    result = json.loads(run("pool-review", "--webhook", door.webhook_id, "--params", str(file), "--json"))
    assert result == configure.list_rules(principal=door.principal, webhook_id=door.webhook_id)
    assert result["params"] == {"identity": "octavia"}
    assert [rule["id"] for rule in result["rules"]] == ["review-request-not-for-me", "own-pr-review-trigger"]


def test_without_json_it_says_what_is_in_force(door: Line) -> None:
    assert run("pool-review", "--webhook", door.webhook_id) == (
        f"Webhook {door.webhook_id} has 2 rules (version 1).\nParams: none: the pack's allowlists admit nothing.\n"
    )


@pytest.mark.parametrize("webhook_id", ["nonsense", "00000000-0000-7000-8000-000000000000"])
def test_an_unknown_webhook_is_one_sentence(db: None, webhook_id: str) -> None:
    with pytest.raises(CommandError, match=f"^There is no webhook {webhook_id}.$"):
        run("pool-review", "--webhook", webhook_id)


def test_an_unknown_pack_is_refused_naming_the_packs(door: Line) -> None:
    with pytest.raises(CommandError, match=r"invalid choice: 'flete' \(choose from '?fleet'?, '?pool-review'?\)"):
        run("flete", "--webhook", door.webhook_id)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (None, "cannot be read: No such file or directory."),
        (b"{", "is not JSON."),
        (b"\xff", "is not JSON."),
        (b"[" * 100_000, "is not JSON."),
        (b'["octavia"]', "object"),
    ],
)
def test_bad_params_are_one_sentence(door: Line, tmp_path: Path, content: bytes | None, sentence: str) -> None:
    file = tmp_path / "params.json"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(CommandError) as refused:
        run("pool-review", "--webhook", door.webhook_id, "--params", str(file))
    assert sentence in str(refused.value)
    assert configure.list_rules(principal=door.principal, webhook_id=door.webhook_id)["rules"] == []


def test_a_queue_that_is_not_granted_is_one_sentence_naming_the_rule(door: Line) -> None:
    with pytest.raises(CommandError, match=r"^Rule 3 \(cairn-lane-vision\): The queue lane-vision is not one"):
        run("fleet", "--webhook", door.webhook_id)
