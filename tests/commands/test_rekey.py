"""rekey re-seals every stored secret under the current key and says what it could not open."""

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import override_settings

from routing.models import Webhook
from routing.webhooks import create_webhook, ingest_url
from switchboard.accounts import rekey as rekeying
from switchboard.sealing import CannotOpen, open_sealed, reseal, seal
from tests.commands.calling import run, run_json
from tests.factories import make_endpoint, make_human

OLD, NEW, OTHER = bytes([1]) * 32, bytes([2]) * 32, bytes([3]) * 32


def make_webhooks(count: int) -> list[Webhook]:
    endpoint = make_endpoint(make_human()).endpoint
    return [create_webhook(endpoint=endpoint, source_type="github", target_queue="work").webhook for _ in range(count)]


def keys(current: bytes | None, *previous: bytes) -> Any:
    return override_settings(SWITCHBOARD_ENCRYPTION_KEY=current, SWITCHBOARD_PREVIOUS_ENCRYPTION_KEYS=previous)


def secret_of(webhook: Webhook, field: str = "signing_secret_sealed") -> str:
    webhook.refresh_from_db()
    return open_sealed(getattr(webhook, field), identity=webhook.seal_identity(field)).reveal()


def test_every_secret_opens_with_the_new_key_alone(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rekeying, "BATCH", 2)
    with keys(OLD):
        webhooks = make_webhooks(5)
        before = [(secret_of(webhook), ingest_url(webhook)) for webhook in webhooks]
    with keys(NEW, OLD):
        assert run_json("rekey") == {"resealed": 10, "unopened": 0, "busy": 0}
    with keys(NEW):
        assert [(secret_of(webhook), ingest_url(webhook)) for webhook in webhooks] == before
    with keys(OLD), pytest.raises(CannotOpen):
        secret_of(webhooks[0])


def test_what_no_key_opens_is_counted_and_left_as_it_is(db: None) -> None:
    with keys(OLD):
        (lost,) = make_webhooks(1)
    with keys(NEW):
        kept = create_webhook(endpoint=lost.endpoint, source_type="generic", target_queue="work").webhook
        printed = StringIO()
        with pytest.raises(CommandError, match="SWITCHBOARD_SECRET_ENCRYPTION_KEY_PREVIOUS"):
            call_command("rekey", "--json", stdout=printed)
        assert json.loads(printed.getvalue()) == {"resealed": 1, "unopened": 2, "busy": 0}
        assert ingest_url(kept)
    with keys(OLD):
        assert secret_of(lost)


def test_a_value_that_was_moved_to_another_row_is_not_opened(db: None) -> None:
    first, second = make_webhooks(2)
    Webhook.objects.filter(pk=second.pk).update(signing_secret_sealed=first.signing_secret_sealed)
    with pytest.raises(CommandError):
        run("rekey")


def test_a_secret_rotated_meanwhile_is_not_undone(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    (webhook,) = make_webhooks(1)
    rotated: list[str] = []

    def rotate_first(sealed: str, *, identity: str) -> str:
        if identity.endswith("signing_secret_sealed") and not rotated:
            rotated.append(seal("the new secret", identity=identity))
            Webhook.objects.filter(pk=webhook.pk).update(signing_secret_sealed=rotated[0])
        return reseal(sealed, identity=identity)

    monkeypatch.setattr(rekeying, "reseal", rotate_first)
    assert run_json("rekey") == {"resealed": 2, "unopened": 0, "busy": 0}
    assert secret_of(webhook) == "the new secret"


def test_a_secret_that_never_settles_is_reported(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    (webhook,) = make_webhooks(1)

    def change_always(sealed: str, *, identity: str) -> str:
        field = identity.rpartition(":")[2]
        Webhook.objects.filter(pk=webhook.pk).update(**{field: reseal(sealed, identity=identity)})
        return reseal(sealed, identity=identity)

    monkeypatch.setattr(rekeying, "reseal", change_always)
    with pytest.raises(CommandError, match="run rekey again"):
        run("rekey")


def test_a_webhook_deleted_meanwhile_is_no_failure(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    (webhook,) = make_webhooks(1)

    def delete_first(sealed: str, *, identity: str) -> str:
        Webhook.objects.filter(pk=webhook.pk).delete()
        return reseal(sealed, identity=identity)

    monkeypatch.setattr(rekeying, "reseal", delete_first)
    assert run_json("rekey") == {"resealed": 0, "unopened": 0, "busy": 0}


def test_no_secret_is_printed(db: None) -> None:
    (webhook,) = make_webhooks(1)
    assert secret_of(webhook) not in run("rekey")


def test_without_a_key_nothing_is_resealed(db: None) -> None:
    with keys(None, OTHER), pytest.raises(CommandError, match="SWITCHBOARD_SECRET_ENCRYPTION_KEY"):
        run("rekey")
