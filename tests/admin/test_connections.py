"""Connections in the admin: added, narrowed, tested, replaced and deleted; the secret goes in and is never shown."""

import json
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.messages import get_messages
from django.test import Client, override_settings
from django.urls import reverse

from connections.models import Connection
from switchboard.accounts.models import Human
from switchboard.sealing import fingerprint
from tests.admin.conftest import World, signed_in
from tests.admin.paths import add_path, list_path, page_path
from tests.factories import make_connection, make_endpoint
from tests.stand_in import Respond, stand_in, write_authority

pytestmark = pytest.mark.django_db
SECRET = "xoxb-a-token-that-nobody-may-see"


def add(client: Client, owner: Human, **fields: Any) -> Any:
    values = {
        "owner": str(owner.pk),
        "kind": "slack",
        "name": "acme",
        "account_key": "T0123ABCD",
        "secret": SECRET,
        "targets": "C0123\n\nC0456\n",
        "endpoints": [],
        "signature_line": "",
    }
    return client.post(add_path(Connection), values | fields)


def edit(client: Client, connection: Connection, **fields: Any) -> Any:
    values = {"name": "acme", "targets": "", "endpoints": [], "signature_line": ""}
    return client.post(page_path(connection, "change"), values | fields)


def rotate_path(connection: Connection) -> str:
    return reverse("admin:connections_connection_rotate", args=[connection.pk])


def told(answer: Any) -> list[tuple[str, str]]:
    return [(message.level_tag, message.message) for message in get_messages(answer.wsgi_request)]


def test_a_connection_is_added_and_its_secret_shown_nowhere(owner: Human) -> None:
    client = signed_in(owner)
    answer = add(client, owner)
    stored = Connection.objects.get()

    assert (answer.status_code, answer.headers["Location"]) == (302, list_path(Connection))
    assert (stored.owner_human, stored.created_by, stored.acting_human) == (owner, owner, owner)
    assert stored.targets == ["C0123", "C0456"]
    assert stored.open_secret().reveal() == SECRET
    pages = [client.get(path).content.decode() for path in (list_path(Connection), page_path(stored, "change"))]
    assert all(fingerprint(SECRET) in page and SECRET not in page for page in pages)
    assert SECRET not in " ".join(entry.change_message for entry in LogEntry.objects.all())


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"secret": "a b"}, "secret"),
        ({"secret": ""}, "secret"),
        ({"account_key": "nope"}, "account_key"),
        ({"targets": "general"}, "targets"),
        ({"endpoints": [str(uuid4())]}, "endpoints"),
        ({"name": "a" * 121}, "name"),
    ],
)
def test_a_refusal_stands_at_its_field_and_repeats_no_secret(owner: Human, fields: Any, field: str) -> None:
    answer = add(signed_in(owner), owner, **fields)
    assert field in answer.context["adminform"].form.errors
    assert SECRET not in answer.content.decode()
    assert not Connection.objects.exists()


def test_a_second_connection_for_the_account_is_refused(owner: Human) -> None:
    client = signed_in(owner)
    add(client, owner)
    assert "account_key" in add(client, owner, name="again").context["adminform"].form.errors


@override_settings(SWITCHBOARD_ENCRYPTION_KEY=None)
def test_without_an_encryption_key_the_form_says_so(owner: Human) -> None:
    answer = add(signed_in(owner), owner)
    assert "SWITCHBOARD_SECRET_ENCRYPTION_KEY" in str(answer.context["adminform"].form.errors)


def test_staff_add_for_themselves_only(stranger: Human, owner: Human) -> None:
    assert "owner" in add(signed_in(stranger), owner).context["adminform"].form.errors


def test_a_superuser_adds_for_another_human(root: Human, owner: Human) -> None:
    add(signed_in(root), owner)
    stored = Connection.objects.get()
    assert (stored.owner_human, stored.created_by) == (owner, root)


def test_allowlists_and_signature_are_edited(owner: Human) -> None:
    endpoint = make_endpoint(owner).endpoint
    connection = make_connection(owner, name="hub")
    client = signed_in(owner)
    answer = edit(
        client, connection, name="hub", targets="acme/*", endpoints=[str(endpoint.pk)], signature_line="Sent by agents"
    )
    connection.refresh_from_db()

    assert answer.status_code == 302
    assert (connection.targets, connection.endpoints) == (["acme/*"], [str(endpoint.pk)])
    assert connection.signature_line == "Sent by agents"
    page = client.get(page_path(connection, "change")).content.decode()
    assert f'<option value="{endpoint.pk}" selected' in page
    assert ">\nacme/*</textarea>" in page


def test_a_bad_edit_is_told_at_its_field_and_changes_nothing(owner: Human) -> None:
    connection = make_connection(owner, name="hub", targets=["acme/*"])
    answer = edit(signed_in(owner), connection, targets="everything")
    connection.refresh_from_db()
    assert "targets" in answer.context["adminform"].form.errors
    assert (connection.name, connection.targets) == ("hub", ["acme/*"])


def test_another_owners_endpoints_are_no_choice_even_for_a_superuser(root: Human, owner: Human) -> None:
    connection = make_connection(owner)
    foreign = make_endpoint(root, name="roots").endpoint
    answer = edit(signed_in(root), connection, endpoints=[str(foreign.pk)])
    assert "endpoints" in answer.context["adminform"].form.errors


def test_a_secret_is_replaced_on_its_page(owner: Human) -> None:
    connection = make_connection(owner)
    client = signed_in(owner)
    assert rotate_path(connection) in client.get(page_path(connection, "change")).content.decode()
    assert client.get(rotate_path(connection)).status_code == 200
    answer = client.post(rotate_path(connection), {"secret": SECRET})
    connection.refresh_from_db()

    assert answer.headers["Location"] == page_path(connection, "change")
    assert connection.open_secret().reveal() == SECRET
    assert LogEntry.objects.get().change_message == "Replaced the secret."


def test_a_bad_new_secret_is_refused_without_an_echo(owner: Human) -> None:
    connection = make_connection(owner)
    answer = signed_in(owner).post(rotate_path(connection), {"secret": f"{SECRET} x"})
    assert answer.context["form"].errors["secret"]
    assert SECRET not in answer.content.decode()


def test_a_foreign_connections_secret_cannot_be_replaced(stranger: Human, world: World) -> None:
    client = signed_in(stranger)
    unknown = reverse("admin:connections_connection_rotate", args=[uuid4()])
    foreign, absent = (client.post(path, {"secret": SECRET}) for path in (rotate_path(world.connection), unknown))
    before = world.connection.secret_sealed
    world.connection.refresh_from_db()
    assert (foreign.status_code, foreign.headers["Location"]) == (absent.status_code, absent.headers["Location"])
    assert world.connection.secret_sealed == before


def test_reading_staff_see_and_change_nothing(owner: Human) -> None:
    connection = make_connection(owner, targets=["acme/*"])
    owner.user_permissions.set(owner.user_permissions.filter(codename="view_connection"))
    client = signed_in(owner)
    page = client.get(page_path(connection, "change")).content.decode()
    assert "acme/*" in page
    assert rotate_path(connection) not in page
    assert client.post(rotate_path(connection), {"secret": SECRET}).status_code == 403
    assert edit(client, connection).status_code == 403


def test_a_connection_is_deleted(owner: Human) -> None:
    connection = make_connection(owner)
    signed_in(owner).post(page_path(connection, "delete"), {"post": "yes"})
    assert not Connection.objects.exists()


def test_a_test_tells_its_result_in_words(owner: Human, monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(write_authority(tmp_path / "authority.pem")))
    with stand_in() as provider, override_settings(SWITCHBOARD_PRIVATE_HOSTS=("127.0.0.0/8",)):
        connection = make_connection(owner, kind="gitea", name="forge", account_key=provider.url)
        provider.on("/api/v1/user", Respond(200, {}, json.dumps({"login": "octo"}).encode()), Respond(401))
        client = signed_in(owner)
        action = {"action": "test", "_selected_action": str(connection.pk)}
        good, bad = (told(client.post(list_path(Connection), action)) for _ in range(2))
    assert good == [("success", "forge: The provider accepts the credential, as octo.")]
    [(level, words)] = [entry for entry in bad if entry not in good]
    assert (level, words[:46]) == ("error", "forge: The provider does not accept the creden")


def test_many_are_not_tested_in_one_request(owner: Human) -> None:
    rows = [make_connection(owner, account_key=f"host{number}.example") for number in range(6)]
    action = {"action": "test", "_selected_action": [str(row.pk) for row in rows]}
    answer = signed_in(owner).post(list_path(Connection), action)
    assert told(answer) == [("error", "Choose at most 5 connections.")]
