"""What the operator API takes and answers about todos: read strictly, shown in the OpenAPI document."""

from typing import Any

from rest_framework import serializers

from switchboard.api.parsing import Anything
from switchboard.todos.models import TodoState


class FinishRequest(serializers.Serializer[Any]):
    """How a todo ended."""

    result = Anything(required=False, help_text="Any JSON value of at most 64 KiB.")


class RepliesSummary(serializers.Serializer[Any]):
    """The replies that the todo's agent has sent."""

    count = serializers.IntegerField()
    last_state = serializers.CharField(allow_null=True)
    last_permalink = serializers.CharField(allow_null=True)


class TodoRow(serializers.Serializer[Any]):
    """A todo as lists show it."""

    id = serializers.CharField()
    endpoint_id = serializers.CharField()
    queue = serializers.CharField()
    source = serializers.CharField()  # type: ignore[assignment]
    kind = serializers.CharField(allow_null=True)
    label = serializers.CharField()  # type: ignore[assignment]
    title = serializers.CharField()
    state = serializers.CharField(help_text=f"One of {', '.join(TodoState.values)}.")
    attempt = serializers.IntegerField()
    max_attempts = serializers.IntegerField()
    lease_expires_at = serializers.DateTimeField(allow_null=True)
    next_retry_at = serializers.DateTimeField(allow_null=True)
    dead_letter = serializers.BooleanField()
    created_at = serializers.DateTimeField()
    payload_size = serializers.IntegerField(help_text="Bytes.")
    rings = serializers.IntegerField(help_text="How often an agent's doorbell rang since it became pending.")
    reply_to = serializers.DictField(required=False)
    replies = RepliesSummary()


class TodoAnswer(TodoRow):
    """A todo in full."""

    event_id = serializers.CharField()
    payload = serializers.JSONField(allow_null=True)
    routing = serializers.DictField()
    work_order = serializers.DictField(required=False)
    result = serializers.JSONField(required=False)
