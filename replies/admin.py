"""Replies, in the admin: what was posted where, by whom, and how it ended; never changed by hand."""

from django.contrib import admin
from django.utils.safestring import SafeString

from replies.models import Reply
from switchboard.admin_site import ViewOnlyAdmin, as_pre


@admin.register(Reply)
class ReplyAdmin(ViewOnlyAdmin):
    """The history of replies."""

    id_fields = ("pk", "todo_id", "endpoint_id", "connection_id")
    list_display = (
        "created_at",
        "display",
        "state",
        "error_class",
        "error_code",
        "endpoint",
        "connection_name",
        "owner_name",
        "finished_at",
    )
    list_display_links = ("created_at", "display")
    list_filter = ("state", "provider", "error_class", "created_at")
    list_select_related = ("endpoint", "owner_human", "owner_team")
    search_fields = ("display", "=object_id", "=connection_name", "endpoint__slug")
    ordering = ("-id",)
    fields = (
        "id",
        "todo",
        "endpoint",
        "owner_human",
        "owner_team",
        "display",
        "state",
        "error_class",
        "error_code",
        "provider",
        "account",
        "address_kind",
        "object_id",
        "permalink",
        "connection",
        "connection_name",
        "connection_fingerprint",
        "idempotency_key",
        "text_sha256",
        "shown_text",
        "signature_line",
        "created_at",
        "taken_at",
        "finished_at",
    )

    @admin.display(description="text")
    def shown_text(self, reply: Reply) -> SafeString:
        """Return the text as it was given."""
        return as_pre(reply.text)
