"""What the operator API answers about replies, for its OpenAPI document."""

from typing import Any

from rest_framework import serializers

from replies.models import ReplyState
from replies.providers.call import ErrorClass
from switchboard.reply_address import AddressKind

_CLASSES = [error_class.value for error_class in ErrorClass]


class ReplyRow(serializers.Serializer[Any]):
    """A reply that was not refused, and what became of it."""

    reply_id = serializers.CharField()
    todo_id = serializers.CharField()
    endpoint_id = serializers.CharField()
    connection_id = serializers.CharField(allow_null=True, help_text="Null once the connection was deleted.")
    connection_name = serializers.CharField(help_text="As of the reply.")
    connection_fingerprint = serializers.CharField(help_text="As of the reply.")
    address_kind = serializers.CharField(help_text=f"One of {', '.join(kind.value for kind in AddressKind)}.")
    display = serializers.CharField(help_text="Where it went, in one line.")
    idempotency_key = serializers.CharField()
    text = serializers.CharField()
    text_sha256 = serializers.CharField()
    state = serializers.CharField(help_text=f"One of {', '.join(ReplyState.values)}.")
    code = serializers.CharField(allow_null=True, help_text="The provider's word for the error, or our own.")
    object_id = serializers.CharField(allow_null=True, help_text="The provider's id of the post.")
    permalink = serializers.CharField(allow_null=True)
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Return the fields with the one that no attribute can be named for."""
        return {**super().get_fields(), "class": serializers.ChoiceField(_CLASSES, allow_null=True)}
