"""No admin page, message or log entry holds a secret, its hash or its ciphertext (trap 41)."""

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client

from switchboard.accounts.models import Endpoint, Human
from tests.admin.conftest import World, signed_in
from tests.admin.paths import all_paths, list_path, page_path

pytestmark = pytest.mark.django_db


def found(client: Client, world: World, paths: list[str]) -> set[tuple[str, str]]:
    pages = {path: client.get(path, follow=True).content.decode() for path in paths}
    return {(path, name) for path, page in pages.items() for name, secret in world.secrets.items() if secret in page}


@pytest.mark.parametrize("who", ["root", "owner"])
def test_no_page_shows_a_secret(request: pytest.FixtureRequest, world: World, who: str) -> None:
    client = signed_in(request.getfixturevalue(who))
    paths = [path for record in world.records for path in all_paths(record)]

    assert found(client, world, ["/admin/", *paths]) == set()


def test_the_webhook_page_says_whether_a_secret_is_stored_and_when_the_former_one_ends(world: World) -> None:
    page = signed_in(world.owner).get(page_path(world.webhook, "change")).content.decode()

    assert "Has secret" in page
    assert "Previous ends at" in page


@pytest.mark.parametrize(
    "query",
    [
        "credential_hash__startswith=a",
        "credential_hash__gt=0",
        "owner_human__password__startswith=m",
        "webhooks__signing_secret_sealed__startswith=e",
    ],
)
def test_a_hash_cannot_be_guessed_through_the_address_line(root: Human, world: World, query: str) -> None:
    assert signed_in(root).get(f"{list_path(Endpoint)}?{query}").status_code == 400


def test_a_search_finds_nothing_by_hash_or_body(root: Human, world: World) -> None:
    client = signed_in(root)
    for model, term in [
        (type(world.endpoint), world.secrets["credential hash"]),
        (type(world.token), world.secrets["token hash"]),
        (type(world.webhook), world.secrets["ingest token hash"]),
        (type(world.event), "9007199254740993"),
    ]:
        answer = client.get(list_path(model), {"q": term})
        assert answer.context["cl"].result_count == 0


def test_log_entries_hold_no_secret(root: Human, world: World) -> None:
    client = signed_in(root)
    client.post(list_path(type(world.webhook)), {"action": "rotate_now", "_selected_action": str(world.webhook.pk)})
    client.post(page_path(world.webhook, "delete"), {"post": "yes"})
    written = " ".join(f"{entry.object_repr} {entry.change_message}" for entry in LogEntry.objects.all())

    assert LogEntry.objects.count() == 2
    assert not any(secret in written for secret in world.secrets.values())
