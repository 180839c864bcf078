"""The sealed values of a webhook: its ingest token and its signing secrets."""

from datetime import datetime

import structlog

from routing.models import Webhook
from switchboard.errors import InvalidArgument
from switchboard.sealing import CannotOpen, open_sealed, seal

log = structlog.get_logger(__name__)
MAX_SECRET_BYTES = 512


def live_secrets(webhook: Webhook, *, now: datetime) -> list[str]:
    """Return the signing secrets that may verify a delivery at `now`: the current one, then the previous."""
    secrets = [open_field(webhook, "signing_secret_sealed")]
    if webhook.previous_ends_at is not None and webhook.previous_ends_at > now:
        secrets.append(open_field(webhook, "previous_secret_sealed"))
    return [secret for secret in secrets if secret]


def open_field(webhook: Webhook, field: str) -> str | None:
    """Return the plain text of a sealed column, None when it is empty or no configured key opens it."""
    sealed: str = getattr(webhook, field)
    if not sealed:
        return None
    try:
        return open_sealed(sealed, identity=webhook.seal_identity(field)).reveal()
    except CannotOpen:
        log.error("webhook.secret_unreadable", webhook_id=str(webhook.pk), field=field)
        return None


def seal_field(webhook: Webhook, field: str, plain: str) -> None:
    """Set a sealed column of the (unsaved) row; raise EncryptionRequired without a key."""
    setattr(webhook, field, seal(plain, identity=webhook.seal_identity(field)))


def read_signing_secret(secret: object) -> str:
    """Return a supplied signing secret without the white space that pasting adds; raise InvalidArgument."""
    text = secret.strip() if isinstance(secret, str) else ""
    if not text or not text.isprintable() or len(text.encode("utf-8", "replace")) > MAX_SECRET_BYTES:
        raise InvalidArgument(
            f"signing_secret must be 1 to {MAX_SECRET_BYTES} bytes of printable text.", field="signing_secret"
        )
    return text
