"""The routing app."""

from django.apps import AppConfig


class RoutingConfig(AppConfig):
    name = "routing"
    verbose_name = "Routing"

    def ready(self) -> None:
        """Let the readiness page ask the sandbox too."""
        from routing.evaluate import check_sandbox  # noqa: PLC0415 - models are not loaded before
        from switchboard.health import CHECKS  # noqa: PLC0415

        CHECKS["sandbox"] = check_sandbox
