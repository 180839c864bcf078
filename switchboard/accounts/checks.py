"""What an instance says about itself when it starts."""

from collections.abc import Sequence
from typing import Any

from django.core.checks import CheckMessage, Warning  # noqa: A004 - Django's own name

from switchboard.sealing import can_seal

NO_KEY = "switchboard.W001"


def check_encryption_key(app_configs: Any, **_: Any) -> Sequence[CheckMessage]:  # noqa: ARG001 - the hook's signature
    """Warn while no secret can be stored."""
    if can_seal():
        return []
    hint = "Set it to 32 random bytes in hex: python -c 'import secrets; print(secrets.token_hex(32))'"
    sentence = "SWITCHBOARD_SECRET_ENCRYPTION_KEY is not set: webhooks and connections cannot be created or rotated."
    return [Warning(sentence, hint=hint, id=NO_KEY)]
