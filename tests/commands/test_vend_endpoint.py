"""vend_endpoint creates an endpoint, with its human on request, and prints the credential once."""

import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.management import CommandError
from django.utils import timezone

from switchboard.accounts.credentials import authenticate_endpoint
from switchboard.accounts.models import Endpoint, Human
from tests.commands.calling import run, run_json
from tests.factories import make_human

VEND = ("vend_endpoint", "--human", "ada", "--name", "Release bot", "--queues", "release, later")


def test_the_printed_object_is_what_an_agent_needs(db: None) -> None:
    human = make_human("ada")
    printed = run_json(*VEND)
    endpoint = Endpoint.objects.get()
    assert printed.keys() == {"endpoint_id", "slug", "mcp_url", "credential", "mcp_json"}
    assert (printed["endpoint_id"], printed["slug"]) == (str(endpoint.pk), endpoint.slug)
    assert authenticate_endpoint(printed["credential"]) == endpoint
    assert printed["mcp_json"]["mcpServers"]["switchboard"]["url"] == printed["mcp_url"]
    assert (endpoint.owner_human, endpoint.scope_queues) == (human, ["release", "later"])


def test_the_verbs_are_the_basics_unless_told_otherwise(db: None) -> None:
    make_human("ada")
    for words, holds_reply in ((), False), (("--verbs", "all"), True), (("--verbs", "claim,reply"), True):
        slug = run_json(*VEND, *words)["slug"]
        assert ("reply" in Endpoint.objects.get(slug=slug).scope_verbs) is holds_reply


def test_the_webhook_ceiling_is_set(db: None) -> None:
    make_human("ada")
    run(*VEND, "--webhook-max", "3", "--webhook-source-types", "github,gitea", "--webhook-queues", "release")
    endpoint = Endpoint.objects.get()
    assert endpoint.webhook_max == 3
    assert endpoint.webhook_source_types == ["github", "gitea"]
    assert endpoint.webhook_queues == ["release"]


@pytest.mark.parametrize(
    ("text", "duration"),
    [("30d", timedelta(days=30)), ("12h", timedelta(hours=12)), ("45m", timedelta(minutes=45))],
)
def test_an_endpoint_can_expire(db: None, text: str, duration: timedelta) -> None:
    make_human("ada")
    before = timezone.now()
    run(*VEND, "--expires-in", text)
    expires_at = Endpoint.objects.get().expires_at
    assert expires_at is not None
    assert before + duration <= expires_at <= timezone.now() + duration


@pytest.mark.parametrize("text", ["", "30", "0d", "-1d", "1.5h", "30 d", "1w", "٣d", "9999999d", "30d\n"])
def test_a_malformed_duration_is_refused(db: None, text: str) -> None:
    with pytest.raises(CommandError, match="must be a duration such as 30d, 12h or 45m"):
        run(*VEND, f"--expires-in={text}")


def test_the_human_is_created_on_request_and_cannot_sign_in(db: None) -> None:
    run(*VEND, "--create-human")
    human = Human.objects.get(username="ada")
    assert not human.has_usable_password()
    run(*VEND, "--create-human")
    assert human.owned_endpoints.count() == 2


def test_a_missing_human_is_named_in_a_sentence(db: None) -> None:
    with pytest.raises(CommandError, match=r"no human named ada\. Give --create-human"):
        run(*VEND)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--verbs", "fly"), "Unknown verbs: fly"),
        (("--webhook-source-types", "gitlab"), "webhook_source_types"),
        (("--webhook-max", "-1"), "webhook_max must be"),
        (("--queues", "two words"), "queues: A queue name is"),
        (("--queues", ","), "at least one queue"),
    ],
)
def test_a_refused_endpoint_leaves_no_human_behind(db: None, words: tuple[str, str], sentence: str) -> None:
    with pytest.raises(CommandError, match=sentence):
        run(*VEND, "--create-human", *words)
    assert Human.objects.count() == 0


@pytest.mark.parametrize("name", ["a b", "", "x" * 151, "a\0b"])
def test_a_user_name_that_django_refuses_is_a_sentence(db: None, name: str) -> None:
    with pytest.raises(CommandError):
        run("vend_endpoint", "--human", name, "--name", "n", "--queues", "q", "--create-human")


def test_the_words_show_the_credential_once(db: None) -> None:
    make_human("ada")
    printed = run(*VEND)
    assert printed.count("sbk_") == 1
    assert "shown this once" in printed


def test_a_refusal_is_one_line_and_exit_status_1(tmp_path: Path) -> None:
    environment = {**os.environ, "DATABASE_URL": f"sqlite:///{tmp_path / 'db.sqlite3'}"}
    environment |= {"DJANGO_SETTINGS_MODULE": "tests.settings"}

    def manage(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "manage.py", *words]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    assert manage("migrate", "-v0").returncode == 0
    refused = manage(*VEND)
    assert refused.returncode == 1
    assert refused.stdout == ""
    assert refused.stderr.strip().startswith("CommandError: There is no human named ada.")
    assert len(refused.stderr.strip().splitlines()) == 1
