"""The web app."""

from django.apps import AppConfig


class WebConfig(AppConfig):
    name = "switchboard.web"
    label = "web"
