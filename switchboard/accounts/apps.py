"""The accounts app."""

import structlog
from django.apps import AppConfig
from django.core.checks import register


class AccountsConfig(AppConfig):
    name = "switchboard.accounts"
    label = "accounts"
    verbose_name = "Accounts"

    def ready(self) -> None:
        """Warn at start-up while no secret can be stored."""
        from switchboard.accounts.checks import check_encryption_key  # noqa: PLC0415 - settings are read there
        from switchboard.sealing import can_seal  # noqa: PLC0415

        register(check_encryption_key)
        if not can_seal():
            structlog.get_logger(__name__).warning("encryption.no_key", variable="SWITCHBOARD_SECRET_ENCRYPTION_KEY")
