"""What the operator API takes and answers about connections: read strictly, shown in the OpenAPI document."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from replies.providers.call import ErrorClass
from switchboard.accounts.serializers import Owner
from switchboard.api.parsing import Anything, SecretText, Text, Texts
from switchboard.reply_address import Provider

_TARGETS = "owner/* or owner/name for a forge, channel ids for Slack, tags or * for Cairn; empty admits all."
_ENDPOINTS = "Ids of the owner's endpoints that may use it; empty admits all."
_SIGNATURE = "One line that is appended to every reply."
_CLASSES = [error_class.value for error_class in ErrorClass]


@extend_schema_field({"type": "string", "format": "password", "writeOnly": True})
class Credential(SecretText):
    """The provider's token; never shown again."""


@extend_schema_field({"type": "object", "properties": {"human": {"type": "string"}, "team": {"type": "string"}}})
class OwnerRequest(Anything):
    """Whose the connection is: `{"human": "me"}` or `{"team": slug}`."""


class CreateConnectionRequest(serializers.Serializer[Any]):
    """The connection to create."""

    owner = OwnerRequest(required=False, help_text='{"human": "me"} (the default) or {"team": slug}.')
    kind = Text(help_text=f"One of {', '.join(provider.value for provider in Provider)}.")
    name = Text()
    account_key = Text(required=False, help_text="GitHub: a host; Gitea and Cairn: the base URL; Slack: the team id.")
    secret = Credential()
    targets = Texts(required=False, help_text=_TARGETS)
    endpoints = Texts(required=False, help_text=_ENDPOINTS)
    signature_line = Text(required=False, help_text=_SIGNATURE)


class EditConnectionRequest(serializers.Serializer[Any]):
    """What to change of a connection."""

    name = Text(required=False)
    targets = Texts(required=False, help_text=_TARGETS)
    endpoints = Texts(required=False, help_text=_ENDPOINTS)
    signature_line = Text(required=False, help_text=_SIGNATURE)


class ConnectionSecretRequest(serializers.Serializer[Any]):
    """The secret that replaces the present one."""

    secret = Credential()


class LastTest(serializers.Serializer[Any]):
    """What the last test found."""

    at = serializers.DateTimeField()
    ok = serializers.BooleanField()

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Return the fields with the one that no attribute can be named for."""
        return {**super().get_fields(), "class": serializers.ChoiceField(_CLASSES, allow_null=True)}


class ConnectionAnswer(serializers.Serializer[Any]):
    """A connection, without its secret."""

    id = serializers.CharField()
    owner = Owner()
    kind = serializers.CharField()
    name = serializers.CharField()
    account_key = serializers.CharField()
    fingerprint = serializers.CharField(help_text="The first 12 hex digits of the secret's SHA-256.")
    targets = serializers.ListField(child=serializers.CharField())
    endpoints = serializers.ListField(child=serializers.CharField())
    signature_line = serializers.CharField(allow_blank=True)
    created_by = serializers.CharField(allow_null=True)
    created_at = serializers.DateTimeField()
    rotated_at = serializers.DateTimeField(allow_null=True)
    last_used_at = serializers.DateTimeField(allow_null=True)
    last_test = LastTest(allow_null=True)


class TestedConnectionAnswer(LastTest):
    """What a test found, and what to do."""

    code = serializers.CharField(allow_null=True, help_text="The provider's own code, or where the call failed.")
    login = serializers.CharField(allow_null=True)
    message = serializers.CharField()
