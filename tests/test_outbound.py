"""The door to the network: what arrives, what comes back, and whether a failed call may have been sent."""

import errno
import logging
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pytest_django import Settings

from switchboard.outbound import Answer, Call, MaybeSent, NotSent, OutboundError, Refused, perform
from tests.stand_in import Certificate, Fault, Raw, Respond, StandIn, redirect, stand_in, write_authority

SECRET = "a-token-that-nobody-may-see"
SHORT = 0.5


@pytest.fixture(autouse=True)
def _loopback_is_opened(settings: Settings) -> None:
    settings.SWITCHBOARD_PRIVATE_HOSTS = ("127.0.0.0/8", "::1/128")
    settings.SWITCHBOARD_ALLOW_HTTP = False


@pytest.fixture
def provider() -> Iterator[StandIn]:
    with stand_in() as server:
        yield server


@pytest.fixture
def resolves(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """Make every name resolve to the given addresses, a list a lookup, the last list again; returns the names asked."""

    def install(*answers: list[str]) -> list[str]:
        asked: list[str] = []

        def getaddrinfo(host: str, port: int, **_: Any) -> list[Any]:
            found = answers[min(len(asked), len(answers) - 1)]
            asked.append(host)
            return [
                (socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))
                for address in found
            ]

        monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
        return asked

    return install


def post(url: str, provider: StandIn, **options: Any) -> Answer:
    call = Call("POST", url, {"Authorization": f"Bearer {SECRET}"}, b'{"body": "Picked this up."}')
    return perform(call, trust=provider.trust, **options)


@contextmanager
def within(seconds: float) -> Iterator[None]:
    started = time.monotonic()
    yield
    assert time.monotonic() - started < seconds


def test_a_call_arrives_whole_and_its_answer_comes_back(provider: StandIn) -> None:
    path = "/repos/a/b%2E%2E/issues/7/comments?x=%20&y=a+b"
    provider.on(path, Respond(201, {"Content-Type": "application/json", "X-Two": "1"}, b'{"id": 99001}'))

    answer = post(provider.url + path, provider)

    assert answer.status == 201
    assert answer.headers["content-type"] == "application/json"
    assert answer.body == b'{"id": 99001}'
    assert not answer.truncated
    (seen,) = provider.requests
    assert (seen.method, seen.path, seen.body) == ("POST", path, b'{"body": "Picked this up."}')
    assert seen.headers == {
        "host": f"127.0.0.1:{provider.port}",
        "user-agent": "Switchboard",
        "accept-encoding": "identity",
        "connection": "close",
        "authorization": f"Bearer {SECRET}",
        "content-length": "27",
    }


def test_a_chunked_answer_is_read(provider: StandIn) -> None:
    provider.next(Raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"))
    assert post(provider.url, provider).body == b"ok"


def test_an_answer_that_ends_with_its_connection_is_read(provider: StandIn) -> None:
    provider.next(Raw(b"HTTP/1.0 200 OK\r\n\r\nok"))
    assert post(provider.url, provider).body == b"ok"


def test_repeated_headers_are_joined(provider: StandIn) -> None:
    provider.next(Raw(b"HTTP/1.1 204 No Content\r\nX-Part: a\r\nx-part: b\r\n\r\n"))
    assert post(provider.url, provider).headers == {"x-part": "a, b"}


def test_no_cookie_of_one_answer_is_sent_with_the_next_call(provider: StandIn) -> None:
    provider.on("/", Respond(200, {"Set-Cookie": "session=1"}))
    post(provider.url, provider)
    post(provider.url, provider)
    assert all("cookie" not in seen.headers for seen in provider.requests)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_an_answer_and_never_followed(provider: StandIn, status: int) -> None:
    provider.on("/here", redirect("/there", status))
    answer = post(f"{provider.url}/here", provider)
    assert (answer.status, answer.headers["location"]) == (status, "/there")
    assert [seen.path for seen in provider.requests] == ["/here"]
    assert provider.connections == 1


def test_the_name_is_dialled_shown_and_verified(
    provider: StandIn, settings: Settings, resolves: Callable[..., list[str]]
) -> None:
    settings.SWITCHBOARD_PRIVATE_HOSTS = ("git.example.net",)
    asked = resolves(["127.0.0.1"])
    provider.on("/", Respond(200))
    post(provider.url_for("GIT.example.NET."), provider)
    assert asked == ["git.example.net"]
    assert provider.server_names == ["git.example.net"]
    assert provider.requests[0].headers["host"] == f"git.example.net:{provider.port}"


def test_an_international_name_is_dialled_in_its_ascii_form(
    provider: StandIn, settings: Settings, resolves: Callable[..., list[str]]
) -> None:
    settings.SWITCHBOARD_PRIVATE_HOSTS = ("xn--bcher-kva.example",)
    asked = resolves(["127.0.0.1"])
    provider.on("/", Respond(200))
    assert post(provider.url_for("Bücher.example"), provider).status == 200
    assert asked == ["xn--bcher-kva.example"]
    assert provider.server_names == ["xn--bcher-kva.example"]


def test_an_ipv6_literal_is_dialled() -> None:
    with stand_in(address="::1") as provider:
        provider.on("/", Respond(200))
        assert post(provider.url, provider).status == 200
        assert provider.requests[0].headers["host"] == f"[::1]:{provider.port}"


def test_the_next_address_is_tried_when_the_first_refuses_the_connection(
    provider: StandIn, resolves: Callable[..., list[str]]
) -> None:
    resolves(["::1", "127.0.0.1"])
    provider.on("/", Respond(200))
    assert post(provider.url_for("localhost"), provider).status == 200


def test_proxy_variables_are_ignored(provider: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    with stand_in(tls=False) as proxy:
        for name in ("http_proxy", "https_proxy", "all_proxy", "HTTPS_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url)
        provider.on("/", Respond(200))
        assert post(provider.url, provider).status == 200
        assert proxy.connections == 0


def test_plain_http_is_refused_unless_it_is_allowed(settings: Settings) -> None:
    with stand_in(tls=False) as provider:
        provider.on("/", Respond(200))
        with pytest.raises(Refused) as refused:
            post(provider.url, provider)
        assert (refused.value.reason, provider.connections) == ("plain_http", 0)
        settings.SWITCHBOARD_ALLOW_HTTP = True
        assert post(provider.url, provider).status == 200


# What certainly was not sent


@pytest.mark.parametrize("certificate", [Certificate.WRONG_NAME, Certificate.EXPIRED])
def test_a_bad_certificate_is_refused_before_anything_is_sent(certificate: Certificate) -> None:
    with stand_in(certificate=certificate) as provider:
        with pytest.raises(NotSent) as failed:
            post(provider.url, provider)
        assert failed.value.reason == "certificate_refused"
        assert provider.requests == []


def test_an_unknown_authority_is_refused_unless_the_environment_names_it(
    provider: StandIn, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    provider.on("/", Respond(200))
    with pytest.raises(NotSent, match="certificate_refused"):
        perform(Call("GET", provider.url))
    monkeypatch.setenv("SSL_CERT_FILE", str(write_authority(tmp_path / "authority.pem")))
    assert perform(Call("GET", provider.url)).status == 200


def test_a_closed_port_is_not_sent(provider: StandIn) -> None:
    provider.close()
    with pytest.raises(NotSent) as failed:
        post(f"https://127.0.0.1:{free_port()}/", provider)
    assert failed.value.reason == "connect_failed"


def test_a_connection_that_nobody_takes_ends_at_the_deadline(provider: StandIn) -> None:
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        waiting = [socket.socket() for _ in range(3)]
        for each in waiting:
            each.setblocking(False)
            each.connect_ex(full.getsockname())
        with within(SHORT + 1), pytest.raises(NotSent) as failed:
            post(f"https://127.0.0.1:{full.getsockname()[1]}/", provider, deadline_seconds=SHORT)
        for each in waiting:
            each.close()
    assert failed.value.reason in {"connect_timeout", "tls_timeout"}


def test_a_silent_handshake_ends_at_the_deadline(provider: StandIn) -> None:
    provider.next(Fault.SILENT_HANDSHAKE)
    with within(SHORT + 1), pytest.raises(NotSent) as failed:
        post(provider.url, provider, deadline_seconds=SHORT)
    assert failed.value.reason == "tls_timeout"


def test_a_server_that_does_not_speak_tls_is_not_sent_anything() -> None:
    with stand_in(tls=False) as provider:
        provider.on(None, Fault.RUBBISH)
        with pytest.raises(NotSent) as failed:
            post(provider.url.replace("http:", "https:"), provider, deadline_seconds=SHORT)
        assert failed.value.reason in {"tls_failed", "tls_timeout"}
        assert provider.requests == []


def test_a_name_that_does_not_resolve_is_not_sent(provider: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", fail)
    with pytest.raises(NotSent) as failed:
        post(provider.url_for("git.example.net"), provider)
    assert failed.value.reason == "dns_failed"


def test_a_resolver_that_hangs_ends_at_the_deadline(provider: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    over = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: over.wait(10) and [])
    with within(SHORT + 1), pytest.raises(NotSent) as failed:
        post(provider.url_for("git.example.net"), provider, deadline_seconds=SHORT)
    over.set()
    assert failed.value.reason == "dns_timeout"


@pytest.mark.parametrize(
    ("method", "headers"),
    [
        ("GET /x HTTP/1.1\r\nX: y\r\n", {}),
        ("get", {}),
        ("GET", {"Authorization": f"Bearer {SECRET}\nX-Injected: 1"}),
        ("GET", {"Authorization": f"Bearer {SECRET}é"}),
        ("GET", {"X: y\r\nZ": "1"}),
        ("GET", {"Authorization": ""}),
        ("GET", {"Host": "other.example.net"}),
        ("GET", {"Content-Length": "5"}),
        ("GET", {"transfer-encoding": "chunked"}),
    ],
)
def test_a_request_that_could_be_read_as_two_is_refused(
    provider: StandIn, method: str, headers: dict[str, str]
) -> None:
    with pytest.raises(Refused) as refused:
        perform(Call(method, provider.url, headers), trust=provider.trust)
    assert refused.value.reason == "invalid_request"
    assert provider.connections == 0
    assert SECRET not in "".join(map(str, (refused.value, refused.value.__cause__, refused.value.__context__)))


# What may have been sent


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (Fault.HANG, "answer_timeout"),
        (Fault.DRIP_HEADERS, "answer_timeout"),
        (Fault.DRIP_BODY, "answer_timeout"),
        (Fault.CLOSE, "connection_lost"),
        (Fault.RESET, "connection_lost"),
        (Fault.SHORT_BODY, "connection_lost"),
        (Fault.HALF_HEADER, "malformed_answer"),
        (Fault.RUBBISH, "malformed_answer"),
        (Raw(b"HTTP/1.1 200 OK\r\nno colon here\r\nContent-Length: 2\r\n\r\nok"), "malformed_answer"),
        (Raw(b"HTTP/1.1 103 Early Hints\r\n\r\n"), "malformed_answer"),
        (Raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nok"), "malformed_answer"),
        (Raw(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\nX-Cut: 1"), "malformed_answer"),
        (Raw(b"HTTP/1.1 200 OK\r\n" + b"X-Many: 1\r\n" * 200 + b"\r\n"), "malformed_answer"),
    ],
)
def test_a_request_without_a_whole_answer_may_have_been_sent(
    provider: StandIn, fault: Fault | Raw, reason: str
) -> None:
    provider.next(fault)
    with within(SHORT + 1), pytest.raises(MaybeSent) as failed:
        post(provider.url, provider, deadline_seconds=SHORT)
    assert failed.value.reason == reason
    assert len(provider.requests) == provider.connections == 1


def test_a_request_that_nobody_reads_may_have_been_sent(provider: StandIn) -> None:
    provider.next(Fault.HANG_UNREAD)
    with within(SHORT + 1), pytest.raises(MaybeSent) as failed:
        post(provider.url, provider, deadline_seconds=SHORT)
    assert failed.value.reason == "answer_timeout"


def test_writing_ends_at_the_deadline_too(provider: StandIn) -> None:
    provider.next(Fault.HANG_UNREAD)
    call = Call("POST", provider.url, body=b"a" * 40_000_000)
    with within(SHORT + 2), pytest.raises(MaybeSent, match="answer_timeout"):
        perform(call, trust=provider.trust, deadline_seconds=SHORT)


def test_fifty_megabytes_are_not_read(provider: StandIn) -> None:
    provider.next(Fault.HUGE)
    with within(5):
        answer = post(provider.url, provider, max_body_bytes=1000)
    assert (len(answer.body), answer.truncated) == (1000, True)
    assert provider.bytes_sent < 20_000_000


def test_a_chunk_of_negative_size_is_not_read_to_its_end(provider: StandIn) -> None:
    provider.next(Raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n" + b"a" * 50_000_000))
    with within(5), pytest.raises(MaybeSent, match="malformed_answer"):
        post(provider.url, provider)
    assert provider.bytes_sent == 0  # counted when all of it is sent


@pytest.mark.parametrize(("length", "truncated"), [(1000, False), (1001, True)])
def test_a_body_is_cut_at_the_byte_that_was_asked_for(provider: StandIn, length: int, *, truncated: bool) -> None:
    provider.next(Respond(200, body=b"a" * length))
    answer = post(provider.url, provider, max_body_bytes=1000)
    assert (answer.body, answer.truncated) == (b"a" * 1000, truncated)


# What nobody may see


def test_neither_call_nor_answer_nor_log_shows_a_secret(provider: StandIn, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    provider.next(Respond(200, {"X-Secret": SECRET}, SECRET.encode()), Raw(f"{SECRET}\r\n\r\n".encode()))
    call = Call("POST", provider.url, {"Authorization": SECRET}, SECRET.encode())
    answer = perform(call, trust=provider.trust)
    with pytest.raises(OutboundError) as failed:
        perform(call, trust=provider.trust)
    causes = (failed.value, failed.value.__cause__, failed.value.__context__)
    assert SECRET not in f"{call!r} {answer!r} {caplog.text} {causes!r}"
    assert "Authorization" in repr(call)


# Which address is dialled


@pytest.mark.parametrize(
    "addresses",
    [
        ["8.8.8.8", "10.0.0.5"],
        ["8.8.8.8", "127.0.0.1"],
        ["127.0.0.1"],
        ["::1"],
        ["2606:4700::1", "fd00::1"],
        ["fe80::1%1"],
        ["::ffff:127.0.0.1"],
    ],
)
def test_one_private_address_among_several_forbids_them_all(
    provider: StandIn, settings: Settings, resolves: Callable[..., list[str]], addresses: list[str]
) -> None:
    settings.SWITCHBOARD_PRIVATE_HOSTS = ("other.example.net", "10.1.0.0/16")
    resolves(addresses)
    with pytest.raises(Refused) as refused:
        post(provider.url_for("git.example.net"), provider)
    assert refused.value.reason == "private_address"
    assert provider.connections == 0


def test_private_gitea_not_allowlisted(
    provider: StandIn, settings: Settings, resolves: Callable[..., list[str]]
) -> None:
    settings.SWITCHBOARD_PRIVATE_HOSTS = ("gitea.example.net", "example.net")
    resolves(["127.0.0.1"])
    with pytest.raises(Refused, match="private_address"):
        post(provider.url_for("git.example.net"), provider)
    assert provider.connections == 0


def test_a_network_in_the_allowlist_opens_its_addresses_to_every_name(
    provider: StandIn, settings: Settings, resolves: Callable[..., list[str]]
) -> None:
    settings.SWITCHBOARD_PRIVATE_HOSTS = ("127.0.0.0/24",)
    resolves(["127.0.0.1"])
    provider.on("/", Respond(200))
    assert post(provider.url_for("git.example.net"), provider).status == 200


def test_the_address_that_was_checked_is_the_one_that_is_dialled(
    provider: StandIn, resolves: Callable[..., list[str]], settings: Settings
) -> None:
    settings.SWITCHBOARD_PRIVATE_HOSTS = ("127.0.0.1/32",)
    asked = resolves(["127.0.0.1"], ["169.254.169.254"])
    provider.on("/", Respond(200))
    assert post(provider.url_for("git.example.net"), provider).status == 200
    assert asked == ["git.example.net"]
    with pytest.raises(Refused, match="private_address"):
        post(provider.url_for("git.example.net"), provider)
    assert provider.connections == 1


@pytest.mark.parametrize(
    "host",
    [
        "2130706433",
        "0x7f.1",
        "0x7f000001",
        "017700000001",
        "0177.0.0.1",
        "127.1",
        "127.0.0.1.",
        "127。0。0。1",
        "\uff11\uff12\uff17.0.0.1",
        "\uff18.8.8.8",
        "①②⑦.0.0.1",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::7f00:1]",
        "[64:ff9b::7f00:1]",
        "[64:ff9b:1::7f00:1]",
        "[2002:7f00:1::]",
        "[2001:0:4136:e378:8000:63bf:80ff:fffe]",
        "[fe80::1]",
        "[fec0::1]",
        "[ff02::1]",
        "[100::1]",
        "[::]",
        "100.64.0.1",
        "169.254.169.254",
        "0.0.0.0",
        "localhost",
    ],
)
def test_a_way_to_write_a_private_address_is_refused(
    provider: StandIn, settings: Settings, resolves: Callable[..., list[str]], host: str
) -> None:
    settings.SWITCHBOARD_PRIVATE_HOSTS = ()
    resolves(["127.0.0.1"])
    with pytest.raises(Refused):
        post(f"https://{host}:{provider.port}/", provider)
    assert provider.connections == 0


@pytest.mark.parametrize(
    "url",
    [
        "",
        "git.example.net/x",
        "//git.example.net/x",
        "ftp://git.example.net/",
        "file:///etc/passwd",
        "https:///x",
        "https://user@git.example.net/",
        "https://github.com@evil.example/",
        "https://evil.example\\@github.com/",
        "https://git.example.net/#fragment",
        "https://git.example.net/a b",
        "https://git.example.net/a\tb",
        "https://git.example.net/a\r\nX: y",
        "https://git.example.net/\x7f",
        "https://git.example.net/é",
        "https://git.example.net\n/",
        " https://git.example.net/",
        "https://git.example.net:0/",
        "https://git.example.net:65536/",
        "https://git.example.net:٤٤٣/",
        "https://git.example.net:443x/",
        "https://git.example.net:/",
        "https://git%2eexample.net/",
        "https://[fe80::1%25eth0]/",
        "https://[::1/",
        "https://[1.2.3.4]/",
        "https://git..example.net/",
        "https://-git.example.net/",
        "https://git_hub.example.net/",
        f"https://{'a' * 64}.example.net/",
        f"https://{'a.' * 127}net/",
        "https://\u200d.example.net/",
        "http\u017f://git.example.net/",
    ],
)
def test_a_url_that_two_readers_could_understand_differently_is_refused(
    resolves: Callable[..., list[str]], url: str
) -> None:
    asked = resolves(["8.8.8.8"])
    with pytest.raises(Refused) as refused:
        perform(Call("GET", url))
    assert refused.value.reason in {"invalid_url", "invalid_host"}
    assert asked == []


def free_port() -> int:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        return int(unused.getsockname()[1])


def test_an_address_of_a_family_that_this_host_lacks_is_passed_over(
    provider: StandIn, resolves: Callable[..., list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = socket.socket

    def without_ipv6(family: int = -1, *given: Any, **named: Any) -> socket.socket:
        if family == socket.AF_INET6:
            raise OSError(errno.EAFNOSUPPORT, "Address family not supported by protocol")
        return real(family, *given, **named)

    resolves(["::1", "127.0.0.1"])
    monkeypatch.setattr("switchboard.outbound.transport.socket.socket", without_ipv6)
    assert post(provider.url_for("localhost"), provider).status == 404


def test_without_a_free_socket_nothing_was_sent(provider: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_socket(*_: Any, **__: Any) -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr("switchboard.outbound.transport.socket.socket", no_socket)
    with pytest.raises(NotSent) as caught:
        post(provider.url, provider)
    assert caught.value.reason == "connect_failed"
    assert provider.connections == 0


def test_without_a_free_thread_no_name_is_resolved(provider: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_thread(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    for _ in range(40):
        with monkeypatch.context() as patched:
            patched.setattr(threading.Thread, "start", no_thread)
            with pytest.raises(NotSent) as caught:
                post(provider.url_for("localhost"), provider, deadline_seconds=SHORT)
        assert caught.value.reason == "dns_failed"
