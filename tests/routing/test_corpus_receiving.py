"""Every body of the payload corpus, posted byte for byte with its headers, good and with one bit flipped."""

from datetime import UTC, datetime

import pytest
import time_machine

from routing.dry_run import test_rules as dry_run
from routing.envelope import build_envelope
from routing.models import Event
from routing.router import Configuration
from routing.webhooks import set_signing_secret
from switchboard.todos.models import Todo
from tests import corpus
from tests.corpus import CorpusEntry, secret_of
from tests.deliveries import SignedDelivery, altered
from tests.routing.conftest import Line, OpenLine

pytestmark = [pytest.mark.django_db, pytest.mark.corpus]
NOW = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)
STORED = corpus.entries("github", "gitea", "slack", "stripe", "cairn", "generic")
SIGNED_SOURCES = ("github", "gitea", "slack", "stripe")


def _line(line: OpenLine, source: str) -> Line:
    webhook = line(source)
    if source != "generic":
        secret = secret_of(source)
        set_signing_secret(principal=webhook.principal, webhook_id=webhook.webhook_id, signing_secret=secret)
    return webhook


def _fresh(entry: CorpusEntry, source: str | None = None) -> tuple[SignedDelivery, datetime]:
    """Return the entry as its producer would send it now, and the time at which that is."""
    now = NOW
    if entry.source == "cairn":
        now = datetime.fromisoformat(_created_at(entry))
    sender = source or entry.source
    if sender in {"slack", "stripe"} or source:
        return corpus.resign(entry, now, source=sender), now
    return SignedDelivery(entry.body, entry.headers, now), now


def _created_at(entry: CorpusEntry) -> str:
    import json

    created_at: str = json.loads(entry.body)["created_at"]
    return created_at[:19] + "+00:00"


@corpus.parametrize(STORED)
def test_every_body_is_stored_as_sent_and_becomes_a_legible_todo(line: OpenLine, entry: CorpusEntry) -> None:
    webhook = _line(line, entry.source)
    delivery, now = _fresh(entry)
    with time_machine.travel(now, tick=False):
        response = webhook.post(delivery)
        if entry.expected["event"] == "url_verification":
            assert response.status_code == 200
            return
        assert response.status_code == 202, response.content
        assert webhook.post(delivery).json()["created"] == 0
    event, todo = webhook.events[0], webhook.todos[0]
    assert bytes(event.body) == entry.body
    assert event.kind == _kind(entry)
    assert todo.title.isprintable()
    assert len(todo.title) > 5


def _kind(entry: CorpusEntry) -> str | None:
    if entry.source in {"slack", "stripe"}:
        return None
    kind: str | None = entry.expected["event"] if entry.source != "generic" else None
    return kind


@corpus.parametrize([entry for entry in STORED if entry.source != "generic"])
def test_every_body_with_a_flipped_bit_is_refused_and_leaves_no_row(line: OpenLine, entry: CorpusEntry) -> None:
    webhook = _line(line, entry.source)
    delivery, now = _fresh(entry)
    middle = len(entry.body) // 2
    flipped = entry.body[:middle] + bytes([entry.body[middle] ^ 1]) + entry.body[middle + 1 :]
    with time_machine.travel(now, tick=False):
        assert webhook.post(altered(delivery, body=flipped)).status_code == 401
    assert not Event.objects.exists()
    assert not Todo.objects.exists()


@pytest.mark.parametrize("source", SIGNED_SOURCES)
@corpus.parametrize(corpus.entries("edge"))
def test_every_hostile_body_is_stored_as_sent(line: OpenLine, entry: CorpusEntry, source: str) -> None:
    webhook = _line(line, source)
    delivery, now = _fresh(entry, source)
    with time_machine.travel(now, tick=False):
        assert webhook.post(delivery).status_code == 202
    assert bytes(webhook.events[0].body) == entry.body
    assert webhook.todos[0].title.isprintable()


@pytest.mark.parametrize("source", [*SIGNED_SOURCES, "cairn"])
@corpus.parametrize(corpus.entries("edge"))
def test_every_hostile_body_with_a_flipped_bit_is_refused(line: OpenLine, entry: CorpusEntry, source: str) -> None:
    webhook = _line(line, source)
    delivery, now = _fresh(entry, source)
    flipped = entry.body[:-1] + bytes([entry.body[-1] ^ 1])
    with time_machine.travel(now, tick=False):
        assert webhook.post(altered(delivery, body=flipped)).status_code == 401
    assert not Event.objects.exists()


@corpus.parametrize(corpus.entries("edge"))
def test_a_hostile_body_without_cairns_signed_time_is_refused(line: OpenLine, entry: CorpusEntry) -> None:
    webhook = _line(line, "cairn")
    delivery, now = _fresh(entry, "cairn")
    with time_machine.travel(now, tick=False):
        assert webhook.post(delivery).status_code == 401
    assert not Event.objects.exists()


@corpus.parametrize(STORED)
def test_live_and_dry_run_agree_for_every_body(
    line: OpenLine, entry: CorpusEntry, monkeypatch: pytest.MonkeyPatch
) -> None:
    webhook = _line(line, entry.source)
    delivery, now = _fresh(entry)
    seen: list[str] = []
    _watch(monkeypatch, seen)
    with time_machine.travel(now, tick=False):
        webhook.post(delivery)
    if not webhook.events:
        return
    event = webhook.events[0]
    result = dry_run(principal=webhook.principal, webhook_id=webhook.webhook_id, arguments={"event_id": str(event.pk)})
    assert result["trace"] == event.routing_trace
    assert len(seen) == 2
    assert seen[0] == seen[1]


def _watch(monkeypatch: pytest.MonkeyPatch, seen: list[str]) -> None:
    """Note the envelope text of each evaluation, live and dry, without keeping it from the sandbox."""
    from routing import router

    genuine = router.evaluate_rules

    def watched(configuration: Configuration, delivery: object) -> object:
        seen.append(build_envelope(delivery).text)  # type: ignore[arg-type]
        return genuine(configuration, delivery)  # type: ignore[arg-type]

    monkeypatch.setattr("routing.receive.evaluate_rules", watched)
    monkeypatch.setattr("routing.dry_run.evaluate_rules", watched)
