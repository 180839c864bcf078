"""The admin's paths of a model and of a record."""

from typing import Any

from django.db.models import Model
from django.urls import reverse

PAGES = ("change", "history", "delete")


def list_path(model: type[Model]) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")


def add_path(model: type[Model]) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_add")


def page_path(record: Model, page: str, *, pk: Any = None) -> str:
    meta = record._meta
    return reverse(f"admin:{meta.app_label}_{meta.model_name}_{page}", args=[pk or record.pk])


def all_paths(record: Model) -> list[str]:
    """Every page of the record and of its model, with searches of both kinds."""
    model = type(record)
    searches = [f"{list_path(model)}?q={term}" for term in (record.pk, "owner", "%3Cimg", "%00", "")]
    return [*searches, add_path(model), *(page_path(record, page) for page in PAGES)]
