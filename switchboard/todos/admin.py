"""Todos, in the admin: shown as they are, moved by an operator's actions only."""
# ruff: noqa: ARG002 - the admin's hooks have the arguments that they have

from collections.abc import Callable
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString

from switchboard.admin_site import ViewOnlyAdmin, as_pre, staff_principal
from switchboard.source_types import Source
from switchboard.todos.lifecycle import complete_todo, fail_todo, release_todo, retry_todo
from switchboard.todos.models import HIGHEST_REPLY_CAP, Todo
from switchboard.todos.reply_cap import set_reply_cap


class SourceFilter(admin.SimpleListFilter):
    """Filters by source from the table of sources, without asking every row."""

    title = "source"
    parameter_name = "source"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Return every source."""
        return [(source.value, source.value) for source in Source]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Return the todos of the chosen source."""
        return queryset.filter(source=self.value()) if self.value() else queryset


@admin.register(Todo)
class TodoAdmin(ViewOnlyAdmin):
    """Todos with the trace, work order and result that explain them."""

    actions = ("retry", "release", "complete", "fail", "raise_reply_cap")
    id_fields = ("pk", "event_id", "endpoint_id")
    list_display = (
        "title",
        "state",
        "queue",
        "endpoint",
        "source",
        "label",
        "attempt",
        "lease_expires_at",
        "next_retry_at",
        "created_at",
    )
    list_filter = ("state", "dead_letter", SourceFilter, "created_at")
    list_select_related = ("endpoint",)
    search_fields = ("title", "=queue", "=kind", "=label", "endpoint__slug")
    ordering = ("-id",)
    fields = (
        "id",
        "title",
        "state",
        "queue",
        "endpoint",
        "event",
        "source",
        "kind",
        "label",
        "payload_size",
        "ring_count",
        "rung_at",
        "attempt",
        "max_attempts",
        "claimed_at",
        "lease_expires_at",
        "next_retry_at",
        "dead_letter",
        "finished_at",
        "finished_by",
        "created_at",
        "reply_count",
        "reply_cap",
        "last_reply_state",
        "last_reply_permalink",
        "trace",
        "shown_work_order",
        "shown_result",
    )

    @admin.display(description="routing")
    def trace(self, todo: Todo) -> SafeString:
        """Return why the todo is in its queue."""
        return as_pre(todo.routing_trace)

    @admin.display(description="work order")
    def shown_work_order(self, todo: Todo) -> SafeString:
        """Return the work order, or null."""
        return as_pre(todo.work_order)

    @admin.display(description="result")
    def shown_result(self, todo: Todo) -> SafeString:
        """Return what the agent or operator left, or null."""
        return as_pre(todo.result)

    @admin.action(description="Retry the selected failed todos", permissions=["operate"])
    def retry(self, request: HttpRequest, todos: QuerySet[Todo]) -> None:
        """Make failed todos pending again."""
        self._move(request, todos, retry_todo, done="retried")

    @admin.action(description="Release the selected claimed todos", permissions=["operate"])
    def release(self, request: HttpRequest, todos: QuerySet[Todo]) -> None:
        """Take claimed todos back from their agents."""
        self._move(request, todos, release_todo, done="released")

    @admin.action(description="Close the selected todos as done", permissions=["operate"])
    def complete(self, request: HttpRequest, todos: QuerySet[Todo]) -> None:
        """Close todos as done."""
        self._move(request, todos, complete_todo, done="completed")

    @admin.action(description="Close the selected todos as failed", permissions=["operate"])
    def fail(self, request: HttpRequest, todos: QuerySet[Todo]) -> None:
        """Close todos as failed."""
        self._move(request, todos, fail_todo, done="failed")

    @admin.action(description=f"Let the selected todos be answered {HIGHEST_REPLY_CAP} times", permissions=["operate"])
    def raise_reply_cap(self, request: HttpRequest, todos: QuerySet[Todo]) -> None:
        """Raise the cap on replies to the highest."""
        principal = staff_principal(request)
        self.perform(
            request,
            todos,
            lambda todo: set_reply_cap(principal=principal, todo_id=str(todo.pk), reply_cap=HIGHEST_REPLY_CAP),
            done="given a higher cap",
        )

    def _move(self, request: HttpRequest, todos: QuerySet[Todo], move: Callable[..., Todo], *, done: str) -> None:
        principal = staff_principal(request)
        self.perform(request, todos, lambda todo: move(principal=principal, todo_id=str(todo.pk)), done=done)
