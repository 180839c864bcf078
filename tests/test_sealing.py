"""A secret is sealed for one place under the current key, opens nowhere else, and shows itself nowhere by accident."""

import base64
import hashlib
import json
import traceback

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest_django import Settings

from routing.models import Webhook
from routing.secrets import open_field, seal_field
from routing.webhooks import create_webhook
from switchboard import sealing
from switchboard.errors import EncryptionRequired
from switchboard.sealing import CannotOpen, Secret, fingerprint, hash_token, open_sealed, reseal, seal
from tests.factories import make_endpoint, make_human

OLD, NEW, OTHER = bytes([1]) * 32, bytes([2]) * 32, bytes([3]) * 32
HERE = "webhook:1:signing_secret_sealed"


@pytest.fixture(autouse=True)
def keys(settings: Settings) -> Settings:
    settings.SWITCHBOARD_ENCRYPTION_KEY = OLD
    settings.SWITCHBOARD_PREVIOUS_ENCRYPTION_KEYS = ()
    return settings


@given(plain=st.text(st.characters(exclude_categories=["Cs"])))
def test_what_was_sealed_opens_unchanged(plain: str) -> None:
    assert open_sealed(seal(plain, identity=HERE), identity=HERE).reveal() == plain


def test_a_sealed_value_has_the_documented_format() -> None:
    sealed = seal("s3cret", identity=HERE)
    prefix, raw = sealed[:7], base64.b64decode(sealed[7:], validate=True)
    assert prefix == "enc:v1:"
    assert len(raw) == 12 + len("s3cret") + 16  # nonce, text, tag
    assert "s3cret" not in sealed


def test_the_same_secret_never_looks_the_same_twice() -> None:
    assert len({seal("s3cret", identity=HERE) for _ in range(20)}) == 20


def test_a_ciphertext_opens_only_in_its_own_place() -> None:
    sealed = seal("s3cret", identity=HERE)
    for elsewhere in ("webhook:2:signing_secret_sealed", "webhook:1:previous_secret_sealed", "", HERE + " "):
        with pytest.raises(CannotOpen):
            open_sealed(sealed, identity=elsewhere)


@pytest.mark.django_db
def test_a_ciphertext_copied_to_another_row_or_column_does_not_open() -> None:
    endpoint = make_endpoint(make_human()).endpoint
    first, second = (
        create_webhook(endpoint=endpoint, source_type="github", target_queue="work").webhook for _ in range(2)
    )
    second.signing_secret_sealed = second.previous_secret_sealed = first.signing_secret_sealed
    second.save()
    first.previous_secret_sealed = first.signing_secret_sealed
    first.save()
    copies = [
        (second, "signing_secret_sealed"),
        (second, "previous_secret_sealed"),
        (first, "previous_secret_sealed"),
    ]
    assert [open_field(Webhook.objects.get(pk=row.pk), field) for row, field in copies] == [None] * 3
    assert open_field(Webhook.objects.get(pk=first.pk), "signing_secret_sealed")


def test_a_previous_key_still_opens(keys: Settings) -> None:
    sealed = seal("s3cret", identity=HERE)
    keys.SWITCHBOARD_ENCRYPTION_KEY = NEW
    keys.SWITCHBOARD_PREVIOUS_ENCRYPTION_KEYS = (OTHER, OLD)
    assert open_sealed(sealed, identity=HERE).reveal() == "s3cret"


def test_what_is_resealed_needs_the_current_key_alone(keys: Settings) -> None:
    sealed = seal("s3cret", identity=HERE)
    keys.SWITCHBOARD_ENCRYPTION_KEY = NEW
    keys.SWITCHBOARD_PREVIOUS_ENCRYPTION_KEYS = (OLD,)
    renewed = reseal(sealed, identity=HERE)
    keys.SWITCHBOARD_PREVIOUS_ENCRYPTION_KEYS = ()
    assert open_sealed(renewed, identity=HERE).reveal() == "s3cret"
    with pytest.raises(CannotOpen):
        open_sealed(sealed, identity=HERE)


def test_a_key_that_is_gone_opens_nothing(keys: Settings) -> None:
    sealed = seal("s3cret", identity=HERE)
    keys.SWITCHBOARD_ENCRYPTION_KEY = NEW
    with pytest.raises(CannotOpen):
        open_sealed(sealed, identity=HERE)


def test_without_a_key_nothing_is_sealed(keys: Settings) -> None:
    keys.SWITCHBOARD_ENCRYPTION_KEY = None
    assert not sealing.can_seal()
    with pytest.raises(EncryptionRequired, match="SWITCHBOARD_SECRET_ENCRYPTION_KEY"):
        seal("s3cret", identity=HERE)


def test_without_a_current_key_a_previous_one_still_opens(keys: Settings) -> None:
    sealed = seal("s3cret", identity=HERE)
    keys.SWITCHBOARD_ENCRYPTION_KEY = None
    with pytest.raises(CannotOpen):
        open_sealed(sealed, identity=HERE)
    keys.SWITCHBOARD_PREVIOUS_ENCRYPTION_KEYS = (OLD,)
    assert open_sealed(sealed, identity=HERE).reveal() == "s3cret"


@pytest.mark.parametrize(
    "malformed",
    [
        "", "enc:v1:", "enc:v1:!!!!", "enc:v1:AAAA", "enc:v1:" + "A" * 16, "enc:v1:" + "A" * 24, "enc:v1:" + "A" * 41,
        "enc:v2:" + "A" * 64, "A" * 64, "a plain secret", "enc:v1:\u00e9\u00e9\u00e9\u00e9", "ENC:V1:" + "A" * 64,
    ],
)  # fmt: skip
def test_a_malformed_value_cannot_be_opened(malformed: str) -> None:
    with pytest.raises(CannotOpen):
        open_sealed(malformed, identity=HERE)


def test_an_altered_byte_anywhere_is_noticed() -> None:
    raw = base64.b64decode(seal("s3cret", identity=HERE)[7:])
    for index in range(len(raw)):
        altered = bytearray(raw)
        altered[index] ^= 1
        with pytest.raises(CannotOpen):
            open_sealed("enc:v1:" + base64.b64encode(altered).decode(), identity=HERE)


def test_a_refusal_tells_neither_the_secret_nor_the_ciphertext() -> None:
    sealed = seal("s3cret", identity=HERE)
    with pytest.raises(CannotOpen) as refused:
        open_sealed(sealed, identity="elsewhere")
    told = "".join(traceback.format_exception(refused.value))
    assert "s3cret" not in told
    assert sealed[7:] not in told


def test_a_secret_shows_itself_only_when_asked() -> None:
    secret = Secret("s3cret")
    shown = [repr(secret), str(secret), f"{secret}", f"{[secret]}", json.dumps(secret, default=str)]
    assert not any("s3cret" in text for text in shown)
    assert secret.reveal() == "s3cret"
    assert secret == Secret("s3cret")


def test_a_fingerprint_is_the_start_of_the_sha_256() -> None:
    digest = hashlib.sha256(b"ghp_example").hexdigest()
    assert (fingerprint("ghp_example"), len(fingerprint("ghp_example"))) == (digest[:12], 12)
    assert hash_token("ghp_example") == digest


def test_any_bytes_of_a_header_can_be_hashed() -> None:
    latin = b"sbk_\xe9\xff".decode("utf-8", "surrogateescape")
    assert hash_token(latin) == hashlib.sha256(b"sbk_\xe9\xff").hexdigest()


def test_a_minted_token_has_32_random_bytes_behind_its_prefix() -> None:
    tokens = {sealing.mint_token("sbk_") for _ in range(50)}
    assert len(tokens) == 50
    assert {(token[:4], len(token)) for token in tokens} == {("sbk_", 47)}


@pytest.mark.django_db
def test_a_field_is_sealed_for_the_row_that_holds_it() -> None:
    webhook = create_webhook(
        endpoint=make_endpoint(make_human()).endpoint, source_type="github", target_queue="work"
    ).webhook
    seal_field(webhook, "signing_secret_sealed", "mine")
    identity = f"webhook:{webhook.pk}:signing_secret_sealed"
    assert open_sealed(webhook.signing_secret_sealed, identity=identity).reveal() == "mine"
