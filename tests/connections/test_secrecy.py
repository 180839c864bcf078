"""A secret is in no log line, report, row or answer, whatever fails while it is in hand (trap 40)."""

import errno
import logging
import socket
import ssl
import sys
from typing import Any

import pytest
from django.core import signals
from django.core.management import call_command
from django.http import HttpRequest
from django.test import Client, RequestFactory
from django.views.debug import ExceptionReporter
from pytest_django import Settings

from connections.models import Connection
from connections.probe import test_connection as probe
from replies import dial
from switchboard.accounts.models import Human
from switchboard.accounts.reach import Principal
from switchboard.api import errors as api_errors
from switchboard.sealing import seal
from tests.api.caller import Caller
from tests.factories import make_connection, make_endpoint, make_human
from tests.mcp_bridge.agents import Agent
from tests.replies.stage import open_conversation
from tests.stand_in import Fault, Respond, StandIn

pytestmark = pytest.mark.django_db
SECRET = "ghp_a-token-that-nobody-may-see"
VERBS = ["list_connections", "create_connection", "rotate_connection", "delete_connection"]


@pytest.fixture
def root(db: None) -> Human:
    return make_human("root", is_staff=True, is_superuser=True)


class InnerFailure(Exception):
    """Something that nobody expects."""


def let_it_fail(monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    """Let the write of a connection fail where its secret is near."""

    def fail(*given: Any, **named: Any) -> None:
        del given, named  # they hold the secret, and this frame is no part of the product
        raise InnerFailure("the disk is full")

    places = {"saving": "connections.models.Connection.save", "sealing": "switchboard.sealing.AESGCM.encrypt"}
    monkeypatch.setattr(places[place], fail)


@pytest.fixture
def reports(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What an error mail would say of each unexpected failure, with every frame's variables."""
    written: list[str] = []

    def report(error: BaseException | None) -> None:
        assert error is not None
        reporter = ExceptionReporter(RequestFactory().get("/"), type(error), error, error.__traceback__, is_email=True)
        written.extend([reporter.get_traceback_html(), reporter.get_traceback_text()])

    def internal(error: Exception, **options: Any) -> Any:
        report(error)
        return answer(error, **options)

    def new_reference() -> str:
        report(sys.exc_info()[1])
        return "0000"

    answer = api_errors._internal
    monkeypatch.setattr(api_errors, "_internal", internal)
    monkeypatch.setattr("mcp_bridge.call.new_reference", new_reference)
    return written


def write(who: Any, connection: Connection, verb: str) -> Any:
    """Create or rotate over the API or MCP and return the bytes of the answer."""
    if isinstance(who, Agent):
        body = {"kind": "github", "name": "b", "secret": SECRET, "account_key": "b.example"}
        arguments = body if verb == "create" else {"connection_id": str(connection.pk), "secret": SECRET}
        return str(who.call(f"{verb}_connection", **arguments).text)
    if verb == "create":
        body = {"kind": "github", "name": "b", "secret": SECRET, "account_key": "b.example"}
        return who.call("POST", "/connections", body).content.decode()
    return who.call("PUT", f"/connections/{connection.pk}/secret", {"secret": SECRET}).content.decode()


@pytest.mark.parametrize("place", ["saving", "sealing"])
@pytest.mark.parametrize("verb", ["create", "rotate"])
@pytest.mark.parametrize("door", ["api", "mcp"])
def test_an_unexpected_failure_shows_no_secret(
    owner: Caller,
    door: str,
    verb: str,
    place: str,
    reports: list[str],
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    connection = make_connection(owner.human)
    who = owner if door == "api" else Agent(make_endpoint(owner.human, verbs=VERBS))
    let_it_fail(monkeypatch, place)
    caplog.set_level(logging.DEBUG)
    answer = write(who, connection, verb)
    printed = capfd.readouterr()

    assert "internal" in answer
    assert len(reports) == 2
    assert "InnerFailure" in reports[0]
    for text in (answer, caplog.text, printed.out, printed.err, *reports):
        assert SECRET not in text


def every_report(error: BaseException) -> list[str]:
    """What error mails and debug pages would say of the failure, in all their forms."""
    request = RequestFactory().get("/")
    reporters = [
        ExceptionReporter(request, type(error), error, error.__traceback__, is_email=by_mail)
        for by_mail in (True, False)
    ]
    texts: list[str] = [text for it in reporters for text in (it.get_traceback_html(), it.get_traceback_text())]
    assert all("InnerFailure" in text and "transport.py" in text for text in texts)
    return texts


@pytest.fixture(params=["socket", "connect", "send", "recv_into"])
def exploding(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Let one step of every call to the network fail as nobody expects."""

    def fail(*given: Any, **named: Any) -> None:
        del given, named
        raise InnerFailure("the network is on fire")

    if request.param == "socket":
        monkeypatch.setattr("switchboard.outbound.transport.socket.socket", fail)
    else:
        monkeypatch.setattr(ssl.SSLSocket if request.param != "connect" else socket.socket, request.param, fail)
    return str(request.param)


@pytest.mark.parametrize("debug", [True, False])
def test_a_test_that_breaks_unexpectedly_shows_no_secret(
    owner: Caller, provider: StandIn, settings: Settings, exploding: str, debug: bool
) -> None:
    settings.DEBUG = debug
    connection = make_connection(owner.human, secret=SECRET)
    with pytest.raises(InnerFailure) as caught:
        probe(principal=Principal.of_human(owner.human), connection_id=str(connection.pk))

    assert not [text for text in every_report(caught.value) if SECRET in text]


@pytest.mark.parametrize("debug", [True, False])
def test_a_dial_that_breaks_unexpectedly_shows_no_secret(
    provider: StandIn, settings: Settings, monkeypatch: pytest.MonkeyPatch, exploding: str, debug: bool
) -> None:
    settings.DEBUG = debug
    settings.REDIS_URL = None
    settings.SWITCHBOARD_PRIVATE_HOSTS = ("127.0.0.0/8", "::1/128")
    conversation = open_conversation(provider, connection={"secret": SECRET})
    reports: list[str] = []
    made = dial._dial

    def reported(*given: Any) -> Any:
        try:
            return made(*given)
        except InnerFailure as error:
            reports.extend(every_report(error))
            raise

    monkeypatch.setattr(dial, "_dial", reported)
    result = conversation.reply()

    assert (result["state"], result["code"]) == ("unknown", "internal_error")
    assert len(reports) == 4
    assert not [text for text in reports if SECRET in text]


@pytest.mark.parametrize("debug", [True, False])
def test_a_test_without_a_free_socket_is_an_ordinary_result(
    owner: Caller, provider: StandIn, settings: Settings, monkeypatch: pytest.MonkeyPatch, debug: bool
) -> None:
    def no_socket(*_: Any, **__: Any) -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    settings.DEBUG = debug
    monkeypatch.setattr("switchboard.outbound.transport.socket.socket", no_socket)
    connection = make_connection(owner.human, secret=SECRET)
    tested = probe(principal=Principal.of_human(owner.human), connection_id=str(connection.pk))

    assert tested.failed is not None
    assert (tested.failed.error_class, tested.failed.code) == ("network", "connect_failed")


def test_a_stored_secret_that_no_header_holds_is_an_ordinary_result(owner: Caller, provider: StandIn) -> None:
    connection = make_connection(owner.human, secret=SECRET)
    bad = seal(f"{SECRET}\n", identity=connection.seal_identity("secret_sealed"))
    Connection.objects.update(secret_sealed=bad)
    answer = owner.call("POST", f"/connections/{connection.pk}/test")

    assert answer.status_code == 200
    assert "unusable_secret" in answer.content.decode()
    assert SECRET not in answer.content.decode()
    assert provider.connections == 0


@pytest.mark.parametrize("place", ["saving", "sealing"])
@pytest.mark.parametrize("verb", ["create", "rotate"])
def test_an_error_mail_about_an_admin_page_shows_no_secret(
    root: Human, verb: str, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection = make_connection(root)
    reports: list[str] = []

    def report(request: HttpRequest, **_: Any) -> None:
        kind, error, trace = sys.exc_info()
        reporter = ExceptionReporter(request, kind, error, trace, is_email=True)
        reports.extend([reporter.get_traceback_html(), reporter.get_traceback_text()])

    monkeypatch.setattr(signals.got_request_exception, "send", lambda sender, request: report(request))
    let_it_fail(monkeypatch, place)
    client = Client(raise_request_exception=False)
    client.force_login(root)
    path = f"{connection.pk}/rotate/" if verb == "rotate" else "add/"
    body = {"owner": str(root.pk), "kind": "slack", "name": "b", "account_key": "T0123", "secret": SECRET}
    answer = client.post(f"/admin/connections/connection/{path}", body)

    assert answer.status_code == 500
    assert "InnerFailure" in reports[0]
    assert not [report for report in reports if SECRET in report]


@pytest.mark.parametrize("secret", [f"{SECRET}\n{SECRET}", f"{SECRET} ", f"{SECRET}é"])
@pytest.mark.parametrize("door", ["api", "mcp"])
def test_a_refused_secret_is_not_logged(
    owner: Caller, door: str, secret: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    if door == "api":
        body = {"kind": "github", "name": "b", "secret": secret}
        said = owner.call("POST", "/connections", body).content.decode()
    else:
        agent = Agent(make_endpoint(owner.human, verbs=VERBS))
        said = str(agent.call("create_connection", kind="github", name="b", secret=secret).text)
    assert "invalid_argument" in said
    assert SECRET not in said + caplog.text


@pytest.mark.parametrize("answer", [Respond(401), Respond(500), Fault.RESET, Fault.RUBBISH, Fault.CLOSE])
def test_a_failed_test_logs_its_class_and_no_secret(
    owner: Caller, provider: StandIn, answer: Any, caplog: pytest.LogCaptureFixture
) -> None:
    echo = Respond(answer.status, {}, f'{{"message": "{SECRET}"}}'.encode()) if isinstance(answer, Respond) else answer
    provider.on("/user", echo)
    connection = make_connection(owner.human, secret=SECRET)
    caplog.set_level(logging.DEBUG)
    said = owner.call("POST", f"/connections/{connection.pk}/test").content.decode()
    assert "connection.tested" in caplog.text
    assert str(connection.pk) in caplog.text
    assert SECRET not in said + caplog.text + str(Connection.objects.values().get())


def test_every_write_is_logged_with_who_did_it(owner: Caller, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    agent = Agent(make_endpoint(owner.human, verbs=VERBS))
    created = agent.get("create_connection", kind="github", name="b", secret=SECRET)
    agent.get("rotate_connection", connection_id=created["id"], secret=f"{SECRET}-2")
    agent.get("delete_connection", connection_id=created["id"])
    lines = [line.getMessage() for line in caplog.records if "'event': 'connection." in line.getMessage()]
    assert [event for event in ("created", "rotated", "deleted") for line in lines if f"connection.{event}" in line]
    for line in lines:
        assert created["id"] in line
        assert agent.vended.endpoint.slug in line
        assert "'human': 'owner'" in line
    assert len(lines) == 3
    assert SECRET not in caplog.text


def test_a_fixture_dump_holds_the_sealed_secret_only(owner: Caller, capsys: pytest.CaptureFixture[str]) -> None:
    make_connection(owner.human, secret=SECRET)
    call_command("dumpdata", "connections")
    assert SECRET not in capsys.readouterr().out
