"""What a connection is: sealed, write-only, one for each account and name of an owner (SPEC-0028 REQ-3)."""

from typing import Any

import pytest
from django.db import IntegrityError, transaction
from pytest_django import Settings

from connections.models import Connection
from switchboard.accounts.models import Team
from switchboard.accounts.rekey import rekey
from switchboard.sealing import fingerprint
from tests.api.caller import Caller
from tests.factories import make_connection, make_endpoint

pytestmark = pytest.mark.django_db
SECRET = "xoxb-a-token-that-nobody-may-see"
SLACK = {"kind": "slack", "name": "acme", "account_key": "T0123ABCD", "secret": SECRET}


def create(caller: Caller, **body: Any) -> Any:
    return caller.call("POST", "/connections", SLACK | body)


def test_create_without_an_encryption_key(owner: Caller, settings: Settings) -> None:
    settings.SWITCHBOARD_ENCRYPTION_KEY = None
    answer = create(owner)
    assert (answer.status_code, answer.json()["code"]) == (409, "encryption_required")
    assert not Connection.objects.exists()


def test_rotate_without_an_encryption_key_changes_nothing(owner: Caller, settings: Settings) -> None:
    before = make_connection(owner.human)
    settings.SWITCHBOARD_ENCRYPTION_KEY = None
    answer = owner.call("PUT", f"/connections/{before.pk}/secret", {"secret": SECRET})
    assert (answer.status_code, answer.json()["code"]) == (409, "encryption_required")
    assert Connection.objects.get().secret_sealed == before.secret_sealed


def test_secret_is_never_read_back(owner: Caller) -> None:
    created = create(owner)
    path = f"/connections/{created.json()['id']}"
    rotated = owner.call("PUT", f"{path}/secret", {"secret": f"{SECRET}-2"})
    answers = [created, rotated, owner.call("GET", "/connections"), owner.call("GET", path)]
    for answer, shown in zip(answers, [SECRET, *[f"{SECRET}-2"] * 3], strict=True):
        assert answer.status_code in {200, 201}
        assert fingerprint(shown) in answer.content.decode()
        assert SECRET not in answer.content.decode()
        assert "enc:v1:" not in answer.content.decode()


def test_the_secret_is_sealed_for_its_row(owner: Caller) -> None:
    create(owner)
    stored = Connection.objects.get()
    assert stored.secret_sealed.startswith("enc:v1:")
    assert SECRET not in stored.secret_sealed
    assert stored.open_secret().reveal() == SECRET


def test_a_new_connection_has_the_promised_shape(owner: Caller) -> None:
    body = create(owner, signature_line="Sent by the acme agents").json()
    assert body.pop("id")
    assert body.pop("created_at")
    assert body == {
        "owner": {"human": "owner"},
        "kind": "slack",
        "name": "acme",
        "account_key": "T0123ABCD",
        "fingerprint": fingerprint(SECRET),
        "targets": [],
        "endpoints": [],
        "signature_line": "Sent by the acme agents",
        "created_by": "owner",
        "rotated_at": None,
        "last_used_at": None,
        "last_test": None,
    }


def test_a_github_connection_is_for_github_com_by_default(owner: Caller) -> None:
    body = owner.call("POST", "/connections", {"kind": "github", "name": "hub", "secret": SECRET}).json()
    assert body["account_key"] == "github.com"


def test_duplicate_account_key(owner: Caller) -> None:
    make_connection(owner.human, kind="github", account_key="github.com")
    answer = owner.call(
        "POST", "/connections", {"kind": "github", "name": "again", "account_key": "github.com", "secret": SECRET}
    )
    assert (answer.status_code, answer.json()["code"], answer.json()["field"]) == (409, "conflict", "account_key")
    assert Connection.objects.count() == 1


@pytest.mark.parametrize(
    ("kind", "first", "second"),
    [
        ("github", "github.com", "GitHub.com."),
        ("github", "", "https://GITHUB.com:443/"),
        ("gitea", "https://git.example.net", "https://Git.Example.net"),
        ("gitea", "https://git.example.net", "https://git.example.net:443"),
        ("gitea", "https://git.example.net/forge", "HTTPS://git.example.net/forge/"),
        ("gitea", "https://bücher.example", "https://xn--bcher-kva.example/"),
        ("cairn", "https://cairn.example.com", "https://cairn.example.com:443/"),
    ],
)
def test_spellings_of_one_account_conflict(owner: Caller, kind: str, first: str, second: str) -> None:
    make_connection(owner.human, kind=kind, account_key=first)
    answer = owner.call(
        "POST", "/connections", {"kind": kind, "name": "again", "account_key": second, "secret": SECRET}
    )
    assert (answer.status_code, answer.json()["code"]) == (409, "conflict")


def test_another_port_is_another_account(owner: Caller) -> None:
    make_connection(owner.human, kind="gitea", account_key="https://git.example.net")
    make_connection(owner.human, kind="gitea", account_key="https://git.example.net:8443")
    assert Connection.objects.count() == 2


def test_a_name_is_taken_once_by_an_owner(owner: Caller) -> None:
    create(owner)
    answer = create(owner, account_key="T0999")
    assert (answer.status_code, answer.json()["field"]) == (409, "name")


def test_two_owners_may_have_the_same_account_and_name(owner: Caller, stranger: Caller) -> None:
    assert [create(caller).status_code for caller in (owner, stranger)] == [201, 201]


def test_a_rename_to_a_taken_name_conflicts_and_changes_nothing(owner: Caller) -> None:
    make_connection(owner.human, name="first", account_key="one.example")
    second = make_connection(owner.human, name="second", account_key="two.example")
    answer = owner.call("PATCH", f"/connections/{second.pk}", {"name": "first", "targets": ["acme/*"]})
    assert (answer.status_code, answer.json()["field"]) == (409, "name")
    second.refresh_from_db()
    assert (second.name, second.targets) == ("second", [])


def test_the_database_itself_refuses_a_second_account_of_a_team() -> None:
    team = Team.objects.create(slug="acme", name="Acme")
    Connection.objects.create(owner_team=team, kind="slack", name="one", account_key="T0123", secret_sealed="x")
    with pytest.raises(IntegrityError), transaction.atomic():
        Connection.objects.create(owner_team=team, kind="slack", name="two", account_key="T0123", secret_sealed="x")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"kind": "stripe"}, "kind"),
        ({"name": ""}, "name"),
        ({"name": "a\nb"}, "name"),
        ({"name": "a" * 121}, "name"),
        ({"name": 7}, "name"),
        ({"account_key": ""}, "account_key"),
        ({"account_key": "t0123"}, "account_key"),
        ({"kind": "gitea", "account_key": "http://git.example.net"}, "account_key"),
        ({"kind": "gitea", "account_key": "https://me:pw@git.example.net"}, "account_key"),
        ({"kind": "gitea", "account_key": f"https://git.example.net/{'a' * 500}"}, "account_key"),
        ({"kind": "cairn", "account_key": "https://cairn.example.com/path"}, "account_key"),
        ({"targets": ["general"]}, "targets"),
        ({"targets": "C0123"}, "targets"),
        ({"targets": [f"C{number:05}" for number in range(101)]}, "targets"),
        ({"kind": "github", "account_key": "", "targets": ["C0123"]}, "targets"),
        ({"endpoints": ["not-an-id"]}, "endpoints"),
        ({"signature_line": "two\nlines"}, "signature_line"),
        ({"signature_line": "a" * 201}, "signature_line"),
        ({"owner": "me"}, "owner"),
        ({"owner": {}}, "owner"),
        ({"owner": {"human": "me", "team": "acme"}}, "owner"),
        ({"surprise": 1}, "surprise"),
    ],
)
def test_a_malformed_argument_is_refused_by_name(owner: Caller, body: dict[str, Any], field: str) -> None:
    answer = create(owner, **body)
    assert (answer.status_code, answer.json()["code"], answer.json()["field"]) == (400, "invalid_argument", field)
    assert not Connection.objects.exists()


@pytest.mark.parametrize("owner_named", [{"human": "stranger"}, {"human": "nobody"}, {"team": "acme"}])
def test_a_connection_cannot_be_made_for_others(owner: Caller, stranger: Caller, owner_named: dict[str, str]) -> None:
    Team.objects.create(slug="acme", name="Acme")
    assert create(owner, owner=owner_named).status_code == 404
    assert not Connection.objects.exists()


@pytest.mark.parametrize("owner_named", [{"human": "me"}, {"human": "owner"}])
def test_the_caller_may_name_themselves_as_the_owner(owner: Caller, owner_named: dict[str, str]) -> None:
    assert create(owner, owner=owner_named).json()["owner"] == {"human": "owner"}


@pytest.mark.parametrize(
    "secret",
    [
        "",
        "\n",
        "tok en-ALPHA",
        " token-ALPHA",
        "token-ALPHA ",
        "tok\nen-ALPHA",
        "tok\r\nX-Evil: 1-ALPHA",
        "tökén-ALPHA",
        "tok\0en-ALPHA",
        "tok\ud800en-ALPHA",
        "\N{ZERO WIDTH SPACE}token-ALPHA",
        "a" * 4097,
        {"token": "ALPHA"},
        ["ALPHA"],
        None,
        7,
    ],
)
def test_an_odd_secret_is_refused_without_an_echo(owner: Caller, secret: object) -> None:
    answer = create(owner, secret=secret)
    assert (answer.status_code, answer.json()["code"], answer.json()["field"]) == (400, "invalid_argument", "secret")
    assert b"ALPHA" not in answer.content
    assert not Connection.objects.exists()


@pytest.mark.parametrize("pasted", ["{}\n", "{}\r\n", "{}\n\n"])
def test_the_line_end_that_pasting_adds_is_dropped(owner: Caller, pasted: str) -> None:
    assert create(owner, secret=pasted.format(SECRET)).json()["fingerprint"] == fingerprint(SECRET)


def test_the_longest_secret_fits(owner: Caller) -> None:
    assert create(owner, secret="a" * 4096).status_code == 201


def test_an_allowlist_takes_the_owners_endpoints(owner: Caller) -> None:
    own = str(make_endpoint(owner.human).endpoint.pk)
    assert create(owner, endpoints=[own, own]).json()["endpoints"] == [own]


def test_another_humans_endpoint_is_an_unknown_one(owner: Caller, stranger: Caller) -> None:
    foreign = make_endpoint(stranger.human).endpoint
    answers = [create(owner, endpoints=[i]) for i in (str(foreign.pk), "0192f0c1-8a3e-7c11-9d52-3f6e1b7a4c20", "x")]
    assert {(answer.status_code, answer.content) for answer in answers} == {(400, answers[0].content)}


def test_an_edit_changes_what_it_names_only(owner: Caller) -> None:
    connection = make_connection(owner.human, name="hub", targets=["acme/*"], signature_line="Sent by agents")
    body = owner.call("PATCH", f"/connections/{connection.pk}", {"targets": []}).json()
    assert (body["targets"], body["name"], body["signature_line"]) == ([], "hub", "Sent by agents")
    assert Connection.objects.get().secret_sealed == connection.secret_sealed


@pytest.mark.parametrize("body", [{"account_key": "other.example"}, {"kind": "gitea"}, {"secret": SECRET}])
def test_an_edit_cannot_change_what_a_connection_is_for(owner: Caller, body: dict[str, str]) -> None:
    connection = make_connection(owner.human)
    assert owner.call("PATCH", f"/connections/{connection.pk}", body).status_code == 400


def test_a_rotation_replaces_the_secret_and_forgets_the_last_test(owner: Caller) -> None:
    connection = make_connection(owner.human)
    Connection.objects.update(last_test_at=connection.created_at, last_test_ok=True)
    body = owner.call("PUT", f"/connections/{connection.pk}/secret", {"secret": SECRET}).json()
    assert (body["fingerprint"], body["last_test"]) == (fingerprint(SECRET), None)
    assert body["rotated_at"]
    assert Connection.objects.get().open_secret().reveal() == SECRET


def test_a_deleted_connection_is_gone_and_its_account_free(owner: Caller) -> None:
    path = f"/connections/{create(owner).json()['id']}"
    assert owner.call("DELETE", path).status_code == 204
    assert owner.call("GET", path).status_code == 404
    assert owner.call("DELETE", path).status_code == 404
    assert create(owner).status_code == 201


def test_rekey_covers_connections(owner: Caller, settings: Settings) -> None:
    make_connection(owner.human, secret=SECRET)
    settings.SWITCHBOARD_PREVIOUS_ENCRYPTION_KEYS = (settings.SWITCHBOARD_ENCRYPTION_KEY,)
    settings.SWITCHBOARD_ENCRYPTION_KEY = b"2" * 32
    assert rekey().unopened == 0
    settings.SWITCHBOARD_PREVIOUS_ENCRYPTION_KEYS = ()
    assert Connection.objects.get().open_secret().reveal() == SECRET
