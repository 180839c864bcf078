"""The only door to cryptography: seal and open stored secrets, hash credentials, fingerprint, compare.

A sealed value is `enc:v1:` followed by base64(nonce ‖ ciphertext), AES-256-GCM, with the row's identity as
associated data, so that a ciphertext moved to another row or column does not open.
"""

import base64
import hashlib
import secrets
from dataclasses import dataclass

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from django.conf import settings

from switchboard.errors import EncryptionRequired

PREFIX = "enc:v1:"
NONCE_BYTES = 12


class CannotOpen(Exception):
    """The sealed value is malformed, belongs elsewhere, or was sealed under a key that is gone."""


@dataclass(frozen=True, repr=False)
class Secret:
    """A secret value that no log line or traceback shows by accident."""

    value: str

    def reveal(self) -> str:
        """Return the plain text; call it only where the secret is used."""
        return self.value

    def __repr__(self) -> str:
        return "Secret(«redacted»)"

    __str__ = __repr__


def can_seal() -> bool:
    """Return whether an encryption key is configured."""
    return settings.SWITCHBOARD_ENCRYPTION_KEY is not None


def seal(plain: str, *, identity: str) -> str:
    """Return `plain` sealed for the row and column that `identity` names; raise EncryptionRequired without a key."""
    if settings.SWITCHBOARD_ENCRYPTION_KEY is None:
        raise EncryptionRequired
    nonce = secrets.token_bytes(NONCE_BYTES)
    cipher = AESGCM(settings.SWITCHBOARD_ENCRYPTION_KEY)
    ciphertext = cipher.encrypt(nonce, plain.encode(), identity.encode())
    return PREFIX + base64.b64encode(nonce + ciphertext).decode()


def open_sealed(sealed: str, *, identity: str) -> Secret:
    """Return the secret inside `sealed`, trying the current key, then the previous ones; raise CannotOpen."""
    nonce, ciphertext = _split(sealed)
    for key in _keys():
        try:
            return Secret(AESGCM(key).decrypt(nonce, ciphertext, identity.encode()).decode())
        except InvalidTag:
            continue
    raise CannotOpen("no configured key opens this value")


def reseal(sealed: str, *, identity: str) -> str:
    """Return the same secret sealed under the current key."""
    return seal(open_sealed(sealed, identity=identity).reveal(), identity=identity)


def _keys() -> tuple[bytes, ...]:
    current = settings.SWITCHBOARD_ENCRYPTION_KEY
    previous = settings.SWITCHBOARD_PREVIOUS_ENCRYPTION_KEYS
    return previous if current is None else (current, *previous)


def _split(sealed: str) -> tuple[bytes, bytes]:
    try:
        raw = base64.b64decode(sealed.removeprefix(PREFIX), validate=True)
    except ValueError:
        raw = b""
    if not sealed.startswith(PREFIX) or len(raw) <= NONCE_BYTES:
        raise CannotOpen("not a sealed value")
    return raw[:NONCE_BYTES], raw[NONCE_BYTES:]


def hash_token(token: str) -> str:
    """Return the 64 hex digits of the SHA-256 of a random token: all that is stored of it."""
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()


def fingerprint(secret: str) -> str:
    """Return the first 12 hex digits of the secret's SHA-256, which surfaces may show (SPEC-0028 REQ-3)."""
    return hash_token(secret)[:12]


def mint_token(prefix: str) -> str:
    """Return `prefix` followed by 32 random bytes in URL-safe base64 (43 characters)."""
    return prefix + secrets.token_urlsafe(32)
