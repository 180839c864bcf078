"""The receiver behind real servers, threads and ASGI: broken, endless and oversized bodies over a raw socket."""

import json
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.live import LiveServer, running_server

MEBIBYTE = 1024 * 1024
MAKE_WEBHOOK = """
from routing.webhooks import create_webhook
from switchboard.accounts.models import Endpoint
endpoint = Endpoint.objects.get(pk=endpoint_id)
answer = create_webhook(endpoint=endpoint, source_type="generic", target_queue="work").ingest_url.rsplit("/", 1)[1]
"""
COUNT = "from routing.models import Event; answer = Event.objects.filter(external_id__endswith=':' + delivery).count()"
KINDS = {"asgi": "switchboard.asgi:application", "gthread": "switchboard.wsgi:application"}


@dataclass(frozen=True)
class Site:
    """A running server with one generic webhook."""

    server: LiveServer
    token: str

    def stored(self, delivery: str) -> int:
        return int(self.server.django(COUNT, delivery=delivery))

    def send(self, *parts: bytes, delivery: str, headers: str, close: bool = False) -> tuple[int, dict[str, Any]]:
        """Send the request's head and parts as they are, and return status and JSON of the answer, 0 for none."""
        address = urlsplit(self.server.base_url)
        with socket.create_connection((address.hostname or "", address.port or 0), timeout=20) as connection:
            head = f"POST /webhooks/w/{self.token} HTTP/1.1\r\nHost: {address.netloc}\r\nConnection: close\r\n"
            head += f"X-Delivery-Id: {delivery}\r\nContent-Type: application/json\r\n{headers}\r\n\r\n"
            connection.sendall(head.encode())
            try:
                for part in parts:
                    connection.sendall(part)
                if close:
                    connection.shutdown(socket.SHUT_WR)
                answer = b"".join(iter(lambda: connection.recv(65536), b""))
            except (ConnectionResetError, BrokenPipeError):
                return 0, {}
        return _read(answer)


def _read(answer: bytes) -> tuple[int, dict[str, Any]]:
    head, _, body = answer.partition(b"\r\n\r\n")
    status = int(head.split()[1]) if head else 0
    found = body[body.find(b"{") : body.rfind(b"}") + 1]
    return status, json.loads(found) if found else {}


@pytest.fixture(scope="module", params=KINDS)
def site(request: pytest.FixtureRequest) -> Iterator[Site]:
    kind = request.param
    with running_server(application=KINDS[kind], worker_class=kind) as server:
        yield Site(server, server.django(MAKE_WEBHOOK, endpoint_id=server.vend()["endpoint_id"]))


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def test_a_body_that_is_cut_short_is_not_taken_and_its_retry_is(site: Site) -> None:
    whole = b'{"order": 17, "total": "42.00 EUR"}'
    status, _ = site.send(whole[:12], delivery="cut", headers=f"Content-Length: {len(whole)}", close=True)
    assert status in {0, 400}
    assert site.stored("cut") == 0
    assert site.send(whole, delivery="cut", headers=f"Content-Length: {len(whole)}")[1]["created"] == 1


def test_a_chunked_body_is_read_whole(site: Site) -> None:
    parts = [chunk(b'{"a":'), chunk(b"1}"), b"0\r\n\r\n"]
    status, answer = site.send(*parts, delivery="chunked", headers="Transfer-Encoding: chunked")
    assert (status, answer["created"]) == (202, 1)


@pytest.mark.parametrize("parts", [b"zz\r\n{}\r\n0\r\n\r\n", b"-1\r\n{}\r\n0\r\n\r\n", b"2\r\n{}XX0\r\n\r\n"])
def test_a_malformed_chunked_body_is_refused_and_no_failure_of_ours(site: Site, parts: bytes) -> None:
    status, _ = site.send(parts, delivery="malformed", headers="Transfer-Encoding: chunked", close=True)
    assert status in {0, 400}
    assert site.stored("malformed") == 0


def test_a_body_that_says_it_is_too_large_is_refused_before_it_is_sent(site: Site) -> None:
    status, answer = site.send(delivery="stated", headers=f"Content-Length: {6 * MEBIBYTE}")
    assert (status, answer["code"]) == (413, "too_large")


def test_an_endless_body_is_cut_off(site: Site) -> None:
    parts = [chunk(b"x" * MEBIBYTE) for _ in range(40)]
    status, answer = site.send(*parts, delivery="endless", headers="Transfer-Encoding: chunked")
    assert status in {0, 413}
    assert answer.get("code", "too_large") == "too_large"
    assert site.stored("endless") == 0
