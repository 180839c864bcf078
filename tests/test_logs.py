"""One structured line a request, bound to its id, and no token in any line whoever writes it."""

import asyncio
import json
import logging
import secrets
import sys
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
import structlog
from django.http import HttpRequest, HttpResponse
from django.test import AsyncClient, Client
from django.urls import path
from hypothesis import given
from hypothesis import strategies as st
from pytest_django import Settings

from switchboard import logs
from switchboard.logs import TokenFreeFormatter, redact_tokens
from switchboard.web import fallback

TOKEN = secrets.token_urlsafe(32)
MINTED = [f"sbk_{TOKEN}", f"sb_{TOKEN}", f"whsec_{TOKEN}"]
BASE64_SECRET = "whsec_MfKQ9r8+GKYqrTwj/UPD8ILPZIo2LaLaSw=="
SPELLINGS = {
    "as it is": lambda text: text,
    "percent-encoded": lambda text: quote(text, safe=""),
    "percent-encoded twice": lambda text: quote(quote(text, safe=""), safe=""),
    "as JSON": json.dumps,
    "as JSON in JSON": lambda text: json.dumps(json.dumps(text)),
    "as JSON with escaped slashes": lambda text: json.dumps(text).replace("/", "\\/"),
    "as Python": repr,
    "as bytes": lambda text: repr(text.encode("utf-8", "replace")),
}
spelled = pytest.mark.parametrize("spell", SPELLINGS.values(), ids=SPELLINGS.keys())


class Lines(logging.Handler):
    """Keeps what the configured formatter makes of every record."""

    def __init__(self, formatter: logging.Formatter) -> None:
        super().__init__()
        self.setFormatter(formatter)
        self.written: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.written.append(self.format(record))

    @property
    def parsed(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.written]

    def named(self, event: str) -> list[dict[str, Any]]:
        return [line for line in self.parsed if line["event"] == event]


@pytest.fixture
def lines(settings: Settings) -> Iterator[Lines]:
    configured = settings.LOGGING["formatters"]["line"]
    assert configured["()"] is TokenFreeFormatter
    options = {name: value for name, value in configured.items() if name != "()"}
    handler = Lines(TokenFreeFormatter(**options))
    logging.getLogger().addHandler(handler)
    yield handler
    logging.getLogger().removeHandler(handler)


@pytest.fixture
def _odd_views(settings: Settings) -> None:
    settings.ROOT_URLCONF = __name__


def say(request: HttpRequest) -> HttpResponse:
    structlog.get_logger("tests").info("structured")
    logging.getLogger("some.library").warning("plain")
    return HttpResponse()


async def say_later(request: HttpRequest) -> HttpResponse:
    await asyncio.sleep(0)
    return say(request)


def fail(request: HttpRequest, token: str) -> HttpResponse:
    raise RuntimeError(f"cannot post to {request.build_absolute_uri()}\n{' '.join(MINTED)}")


urlpatterns = [
    path("say", say, name="say"),
    path("say-later", say_later, name="say-later"),
    path("odd/webhooks/w/<str:token>", fail, name="fail"),
]
handler404, handler500 = fallback.not_found, fallback.server_error


@spelled
@pytest.mark.parametrize("token", [*MINTED, BASE64_SECRET])
def test_a_token_is_redacted_however_it_is_spelt(spell: Any, token: str) -> None:
    redacted = redact_tokens(spell(f"before\n{token}\nafter =\u00e9{token}"))
    prefix, _, hidden = token.partition("_")
    assert hidden[:16] not in redacted
    assert hidden[-10:-2] not in redacted
    assert f"{prefix}_«redacted»" in redacted
    assert "before" in redacted


@spelled
@pytest.mark.parametrize("tail", ["", "/", "?a=b", "#at", " HTTP/1.1", '"', "'"])
def test_an_ingest_address_is_redacted_however_it_is_spelt(spell: Any, tail: str) -> None:
    redacted = redact_tokens(spell(f"https://sb.example/webhooks/w/{TOKEN}{tail}"))
    assert TOKEN not in redacted
    assert "«redacted»" in redacted
    assert "sb.example" in redacted


@spelled
@given(before=st.text(st.characters()), after=st.text(st.characters()))
def test_no_text_around_a_token_protects_it(spell: Any, before: str, after: str) -> None:
    safe_before, safe_after = (text.encode("utf-8", "replace").decode() for text in (before, after))
    for whole in (*MINTED, f"/webhooks/w/{TOKEN}"):
        assert TOKEN not in redact_tokens(spell(f"{safe_before}{whole}{safe_after}"))


@pytest.mark.parametrize(
    "text",
    ["", "a sub_total of usb_sticks", "/webhooks/ and /webhooks/0192f0c1/rules/", "sbk_ is a prefix", "sb_short"],
)
def test_other_text_stays_as_it_is(text: str) -> None:
    assert redact_tokens(text) == text


def test_a_request_leaves_one_line_that_names_its_view_and_not_its_path(lines: Lines) -> None:
    answer = Client().get("/healthz", {"token": "in-the-query"})
    (line,) = lines.named("request.finished")
    assert set(line) == {
        "event", "level", "logger", "timestamp", "request_id", "method", "view", "status", "milliseconds"
    }  # fmt: skip
    told = (line["method"], line["view"], line["status"], line["request_id"])
    assert told == ("GET", "healthz", 200, answer.headers["X-Request-Id"])
    assert line["milliseconds"] >= 0
    assert "in-the-query" not in str(lines.written)


@pytest.mark.usefixtures("_odd_views")
@pytest.mark.parametrize("route", ["say", "say-later"])
def test_every_line_of_a_request_carries_its_id(lines: Lines, route: str) -> None:
    answers = [Client().get(f"/{route}") for _ in range(2)]
    ids = [answer.headers["X-Request-Id"] for answer in answers]
    assert [(line["event"], line["request_id"]) for line in lines.parsed] == [
        (event, request_id) for request_id in ids for event in ("structured", "plain", "request.finished")
    ]
    assert len(set(ids)) == 2


@pytest.mark.usefixtures("_odd_views")
def test_concurrent_requests_keep_their_own_ids(lines: Lines) -> None:
    async def ask_all() -> list[str]:
        client = AsyncClient()
        answers = await asyncio.gather(*(client.get("/say-later") for _ in range(10)))
        return [answer.headers["X-Request-Id"] for answer in answers]

    ids = asyncio.run(ask_all())
    assert len(set(ids)) == 10
    for event in ("structured", "plain", "request.finished"):
        assert sorted(line["request_id"] for line in lines.named(event)) == sorted(ids)


def test_the_senders_own_request_id_is_not_believed(lines: Lines) -> None:
    answer = Client().get("/healthz", headers={"X-Request-Id": "chosen-by-the-sender"})
    assert len(answer.headers["X-Request-Id"]) == 16
    assert "chosen-by-the-sender" not in str(lines.written)


@pytest.mark.django_db
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_an_unknown_ingest_token_is_in_no_line(lines: Lines, method: str) -> None:
    answer = Client().generic(method, f"/webhooks/w/{TOKEN}", b"{}", headers={"Referer": f"/webhooks/w/{TOKEN}"})
    assert answer.status_code == {"GET": 405, "POST": 404}[method]
    assert lines.written
    assert TOKEN not in "".join(lines.written)


def test_an_ingest_token_on_a_path_that_no_route_has_is_in_no_line(lines: Lines) -> None:
    assert Client().post(f"/webhooks/w/{TOKEN}/more").status_code == 404
    assert any("Not Found" in line["event"] for line in lines.parsed)
    assert lines.named("request.finished")[0]["view"] is None
    assert TOKEN not in "".join(lines.written)


@pytest.mark.usefixtures("_odd_views")
def test_an_exception_in_a_view_leaves_its_traceback_and_no_token(lines: Lines) -> None:
    answer = Client(raise_request_exception=False).post(f"/odd/webhooks/w/{TOKEN}")
    assert (answer.status_code, answer.json()["code"]) == (500, "internal")
    written = "".join(lines.written)
    assert "RuntimeError: cannot post to http://testserver/odd/webhooks/w/«redacted»" in written
    assert "in fail\\n" in written
    assert TOKEN not in written
    assert lines.named("request.finished")[0]["status"] == 500


def test_an_exception_while_receiving_leaves_no_token(lines: Lines, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*, token: str, **_: object) -> None:
        raise RuntimeError(f"/webhooks/w/{token} {MINTED}")

    monkeypatch.setattr("routing.views.receive_delivery", broken)
    answer = Client().post(f"/webhooks/w/{TOKEN}", b"{}", content_type="application/json")
    assert answer.status_code == 500
    assert TOKEN not in answer.content.decode()
    assert lines.named("delivery.failed")
    assert TOKEN not in "".join(lines.written)


def test_a_librarys_arguments_and_an_exceptions_chain_leave_no_token(lines: Lines) -> None:
    try:
        try:
            raise ValueError(MINTED[0])
        except ValueError as error:
            raise RuntimeError(f"https://sb.example/webhooks/w/{TOKEN}") from error
    except RuntimeError:
        logging.getLogger("some.library").exception("%s of %r", MINTED[1], {"secret": MINTED[2]})
    assert "The above exception was the direct cause" in lines.written[0]
    assert TOKEN not in lines.written[0]


def test_people_who_debug_see_no_token_either() -> None:
    formatter = logs.logging_config(debug=True)["formatters"]["line"]
    handler = TokenFreeFormatter(**{name: value for name, value in formatter.items() if name != "()"})
    try:
        raise RuntimeError(MINTED[0])
    except RuntimeError:
        record = logging.LogRecord("x", logging.ERROR, __file__, 1, f"at /webhooks/w/{TOKEN}", None, sys.exc_info())
    written = handler.format(record)
    logs.logging_config(debug=False)
    assert "RuntimeError" in written
    assert TOKEN not in written
