"""Rows inserted the quick way are the rows that a save would write, and one round trip loses no error."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
import time_machine
from django.db import DatabaseError, IntegrityError, connection, transaction
from django.db.models import Model

from routing.models import Event
from routing.webhooks import create_webhook
from switchboard.accounts.models import Endpoint, Human
from switchboard.database import insert, one_round_trip
from switchboard.ids import new_id
from switchboard.todos.models import Todo
from tests.factories import make_endpoint, make_event, make_human

on_postgresql = pytest.mark.skipif(connection.vendor != "postgresql", reason="PostgreSQL's pipeline")
on_sqlite = pytest.mark.skipif(connection.vendor != "sqlite", reason="SQLite has no pipeline")

EVENT_ID, TODO_ID = new_id(), new_id()
MOMENT = datetime(2026, 2, 3, 4, 5, 6, 789_012, tzinfo=timezone(timedelta(hours=5, minutes=30)))
HARD_JSON: dict[str, Any] = {
    "text": "\u00e9\U0001f916 \u2028 \"quoted\" 'single' \\ %s %% {}",
    "numbers": [0, -1, 1.5, 0.1, 9007199254740993, 2**70],
    "nested": {"": [], "empty": {}, "null": None, "true": True},
}


def event_of(endpoint: Endpoint, **changed: Any) -> Event:
    columns: dict[str, Any] = {
        "id": EVENT_ID,
        "owner_human": endpoint.owner_human,
        "source": "github",
        "external_id": "webhook:delivery-1",
        "kind": "issues",
        "label": "issues.opened",
        "title": "50% of \u201cquotes\u201d \U0001f916",
        "received_at": MOMENT,
        "trust_mode": "signed",
        "verified": True,
        "verify_detail": "ok",
        "content_type": "application/json",
        "headers": HARD_JSON,
        "body": bytes(range(256)),
        "size": 256,
        "disposition": "routed",
        "rule_id": "rule-1",
        "routing_trace": HARD_JSON,
    }
    return Event(**{**columns, **changed})


def todo_of(endpoint: Endpoint, event: Event, **changed: Any) -> Todo:
    columns: dict[str, Any] = {
        "id": TODO_ID,
        "endpoint": endpoint,
        "event": event,
        "queue": "work",
        "source": "github",
        "kind": "issues",
        "label": "issues.opened",
        "title": "Title",
        "payload_size": 256,
        "idempotency_key": "github:webhook:delivery-1",
        "routing_trace": HARD_JSON,
    }
    return Todo(**{**columns, **changed})


EVENTS: dict[str, dict[str, Any]] = {
    "every column": {},
    "nulls and empties": {"kind": None, "content_type": None, "headers": {}, "body": b"", "size": 0, "rule_id": ""},
    "a memory view": {"body": memoryview(b"\x00\xffbytes")},
    "JSON that is no object": {"headers": [], "routing_trace": "text"},
    "a moment in UTC without microseconds": {"received_at": datetime(2026, 1, 1, tzinfo=UTC)},
    "unverified": {"verified": False, "trust_mode": "token", "disposition": "dropped"},
}
TODOS: dict[str, dict[str, Any]] = {
    "defaults": {},
    "every column": {
        "state": "claimed",
        "attempt": 3,
        "max_attempts": 7,
        "claimed_at": MOMENT,
        "lease_expires_at": MOMENT + timedelta(minutes=5),
        "lease_token_hash": "ab" * 32,
        "next_retry_at": MOMENT,
        "dead_letter": True,
        "work_order": HARD_JSON,
        "reply_to": {"kind": "forge_comment", "number": 7},
        "reply_tags": ["a", "\u00e9"],
        "reply_cap": 100,
        "reply_count": 2,
        "last_reply_state": "sent",
        "last_reply_permalink": "https://git.example/1",
        "result": ["kept", None],
        "finished_at": MOMENT,
    },
    "nulls": {"kind": None, "work_order": None, "reply_to": None, "result": None},
    "JSON that is no object": {"result": False, "work_order": 0, "reply_to": ""},
}


@pytest.fixture
def owner(db: None) -> Human:
    return make_human("owner")


@pytest.fixture
def endpoint(owner: Human) -> Endpoint:
    return make_endpoint(owner).endpoint


def stored(model: type[Model]) -> list[tuple[Any, ...]]:
    """Return the table's rows as the database holds them, on SQLite with each value's storage class."""
    columns = [connection.ops.quote_name(str(field.column)) for field in model._meta.concrete_fields]
    kinds = [f"typeof({column})" for column in columns] if connection.vendor == "sqlite" else []
    texts = columns if kinds else [f"{column}::text" for column in columns]
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {', '.join([*texts, *kinds])} FROM {connection.ops.quote_name(model._meta.db_table)}")
        return list(cursor.fetchall())


def save(row: Model) -> None:
    row.save(force_insert=True)


def written_by_each(make: Callable[[], Model]) -> list[list[tuple[Any, ...]]]:
    """Return what an insert and what a save write of the row that `make` makes, both at the same moment."""
    writers: list[Callable[[Model], None]] = [lambda row: insert([row]), save]
    written = []
    for write in writers:
        with time_machine.travel(MOMENT, tick=False):
            row = make()
            write(row)
        written.append(stored(type(row)))
        type(row)._default_manager.all().delete()
    return written


@pytest.mark.parametrize("changed", EVENTS.values(), ids=EVENTS.keys())
def test_an_inserted_event_is_what_a_save_writes(endpoint: Endpoint, changed: dict[str, Any]) -> None:
    webhook = create_webhook(endpoint=endpoint, source_type="github", target_queue="work").webhook
    inserted, saved = written_by_each(lambda: event_of(endpoint, webhook=webhook, **changed))
    assert inserted == saved
    assert len(saved) == 1


@pytest.mark.parametrize("changed", TODOS.values(), ids=TODOS.keys())
def test_an_inserted_todo_is_what_a_save_writes(endpoint: Endpoint, changed: dict[str, Any]) -> None:
    event = make_event(endpoint)
    inserted, saved = written_by_each(lambda: todo_of(endpoint, event, finished_by=endpoint, **changed))
    assert inserted == saved
    assert len(saved) == 1


def test_an_inserted_row_reads_back_and_can_be_changed(endpoint: Endpoint) -> None:
    event = event_of(endpoint)
    todo = todo_of(endpoint, event)
    insert([event, todo])
    read = Event.objects.get(pk=EVENT_ID)
    assert (read.headers, bytes(read.body), read.received_at) == (HARD_JSON, bytes(range(256)), MOMENT)
    todo.title = "Changed"
    todo.save()
    assert Todo.objects.get().title == "Changed"
    assert (event._state.adding, event._state.db) == (False, "default")


def test_rows_come_in_the_order_in_which_they_need_each_other(endpoint: Endpoint) -> None:
    event = event_of(endpoint)
    insert([event, *(todo_of(endpoint, event, id=new_id(), idempotency_key=f"key-{n}") for n in range(3))])
    assert event.todos.count() == 3


def test_a_null_where_none_may_be_is_refused(endpoint: Endpoint) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        insert([event_of(endpoint, title=None)])


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("rows_after", [0, 2])
def test_an_error_in_a_round_trip_undoes_all_of_it_and_spares_the_connection(rows_after: int) -> None:
    endpoint = make_endpoint(make_human("owner")).endpoint
    twice = [event_of(endpoint), event_of(endpoint, id=new_id())]
    others = [event_of(endpoint, id=new_id(), external_id=f"other-{n}") for n in range(rows_after)]
    with pytest.raises(IntegrityError), transaction.atomic(), one_round_trip():
        insert([*twice, *others])
    assert not connection.in_atomic_block
    assert Event.objects.count() == 0
    insert([event_of(endpoint)])
    assert Event.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_an_error_in_an_inner_transaction_leaves_the_outer_one_alive() -> None:
    endpoint = make_endpoint(make_human("owner")).endpoint
    with transaction.atomic():
        insert([event_of(endpoint)])
        with pytest.raises(IntegrityError), transaction.atomic(), one_round_trip():
            insert([event_of(endpoint, id=new_id(), external_id="other"), event_of(endpoint)])
        insert([event_of(endpoint, id=new_id(), external_id="third")])
    assert sorted(Event.objects.values_list("external_id", flat=True)) == ["third", "webhook:delivery-1"]


@pytest.mark.django_db(transaction=True)
def test_an_error_of_our_own_in_a_round_trip_undoes_all_of_it() -> None:
    endpoint = make_endpoint(make_human("owner")).endpoint

    def write_and_break_down() -> None:
        with transaction.atomic(), one_round_trip():
            insert([event_of(endpoint)])
            raise RuntimeError("ours")

    with pytest.raises(RuntimeError, match="ours"):
        write_and_break_down()
    assert Event.objects.count() == 0


@pytest.mark.django_db(transaction=True)
def test_a_query_inside_a_round_trip_is_answered() -> None:
    endpoint = make_endpoint(make_human("owner")).endpoint
    with transaction.atomic(), one_round_trip():
        insert([event_of(endpoint)])
        assert Event.objects.get().body is not None
        insert([event_of(endpoint, id=new_id(), external_id="second")])
        assert Event.objects.count() == 2
    assert Event.objects.count() == 2


@on_postgresql
@pytest.mark.django_db(transaction=True)
def test_on_postgresql_an_error_is_raised_at_the_next_statement_that_waits() -> None:
    endpoint = make_endpoint(make_human("owner")).endpoint
    reached = []

    def write_twice_and_ask() -> None:
        with transaction.atomic(), one_round_trip():
            insert([event_of(endpoint), event_of(endpoint)])
            reached.append("after the insert")
            Event.objects.count()
            reached.append("after the query")

    with pytest.raises(IntegrityError):
        write_twice_and_ask()
    assert reached == ["after the insert"]
    assert Event.objects.count() == 0


@on_postgresql
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("wrong", [{"label": "x" * 256}, {"title": "nul \0"}, {"headers": {"nul": "\0"}}, {"size": -1}])
def test_on_postgresql_what_a_column_does_not_take_undoes_all_of_it(wrong: dict[str, Any]) -> None:
    endpoint = make_endpoint(make_human("owner")).endpoint
    with pytest.raises((DatabaseError, ValueError)), transaction.atomic(), one_round_trip():
        insert([event_of(endpoint), event_of(endpoint, id=new_id(), external_id="other", **wrong)])
    assert Event.objects.count() == 0


@on_sqlite
@pytest.mark.django_db(transaction=True)
def test_on_sqlite_each_statement_is_sent_at_once() -> None:
    endpoint = make_endpoint(make_human("owner")).endpoint
    with transaction.atomic(), one_round_trip():
        insert([event_of(endpoint)])
        with pytest.raises(IntegrityError):
            insert([event_of(endpoint)])
    assert Event.objects.count() == 1
