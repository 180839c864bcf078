"""The api app."""

from django.apps import AppConfig


class ApiConfig(AppConfig):
    name = "switchboard.api"
    label = "api"
