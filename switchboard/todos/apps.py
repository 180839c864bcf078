"""The todos app."""

from django.apps import AppConfig


class TodosConfig(AppConfig):
    name = "switchboard.todos"
    label = "todos"
    verbose_name = "Todos"
