"""The accounts app."""

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "switchboard.accounts"
    label = "accounts"
    verbose_name = "Accounts"
