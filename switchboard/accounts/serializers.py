"""What the operator API takes and answers about endpoints and tokens: read strictly, shown in the OpenAPI document."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from switchboard.accounts.credentials import TOKEN_SCOPES
from switchboard.accounts.verbs import AllVerbs
from switchboard.api.parsing import Moment, Number, Text, Texts
from switchboard.source_types import Source

_ONE_OF_VERBS = {"type": "array", "items": {"type": "string", "enum": list(AllVerbs())}}


@extend_schema_field({"oneOf": [_ONE_OF_VERBS, {"type": "string", "enum": ["basics", "all"]}]})
class Verbs(serializers.Field[Any, Any, Any, Any]):
    """A list of verbs, "basics" or "all"."""

    def to_internal_value(self, data: Any) -> list[str] | str:
        """Return the list or the word; the use case judges its content."""
        if isinstance(data, str):
            return data
        return list(Texts().run_validation(data))


class VendRequest(serializers.Serializer[Any]):
    """The endpoint to create."""

    name = Text()
    queues = Texts()
    verbs = Verbs(required=False)
    webhook_max = Number(required=False)
    webhook_source_types = Texts(required=False, allow_null=True)
    webhook_queues = Texts(required=False, allow_null=True)
    default_lease_seconds = Number(required=False, allow_null=True)
    expires_at = Moment(required=False, allow_null=True)
    team = Text(required=False, allow_null=True)


class Owner(serializers.Serializer[Any]):
    """The owning human's user name, or the owning team's slug."""

    human = serializers.CharField(required=False)
    team = serializers.CharField(required=False)


class EndpointAnswer(serializers.Serializer[Any]):
    """An endpoint."""

    id = serializers.CharField()
    endpoint_id = serializers.CharField()
    slug = serializers.CharField()
    name = serializers.CharField()
    owner = Owner()
    queues = serializers.ListField(child=serializers.CharField())
    verbs = serializers.ListField(child=serializers.CharField())
    webhook_max = serializers.IntegerField()
    webhook_source_types = serializers.ListField(child=serializers.ChoiceField([source.value for source in Source]))
    webhook_queues = serializers.ListField(child=serializers.CharField())
    default_lease_seconds = serializers.IntegerField()
    mcp_url = serializers.CharField()
    live = serializers.BooleanField()
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField(allow_null=True)
    revoked_at = serializers.DateTimeField(allow_null=True)
    last_seen_at = serializers.DateTimeField(allow_null=True)


class VendAnswer(serializers.Serializer[Any]):
    """The new endpoint; the credential is shown this once."""

    endpoint = EndpointAnswer()
    credential = serializers.CharField()
    mcp_url = serializers.CharField()
    mcp_json = serializers.DictField()


class TokenRequest(serializers.Serializer[Any]):
    """The API token to create."""

    name = Text(required=False)
    scopes = Texts(required=False, help_text=f"Of {', '.join(TOKEN_SCOPES)}; both by default.")
    expires_at = Moment(required=False, allow_null=True)


class TokenAnswer(serializers.Serializer[Any]):
    """An API token's record."""

    id = serializers.CharField()
    name = serializers.CharField(allow_blank=True)
    scopes = serializers.ListField(child=serializers.CharField())
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField(allow_null=True)
    revoked_at = serializers.DateTimeField(allow_null=True)
    last_used_at = serializers.DateTimeField(allow_null=True)


class CreatedTokenAnswer(TokenAnswer):
    """The new token; its text is shown this once."""

    token = serializers.CharField()
