"""What the operator API takes and answers about webhooks, rules, routes and events."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from routing.models import Disposition, TrustMode
from switchboard.api.parsing import Anything, Flag, Number, Text
from switchboard.source_types import Source

SOURCES = [source.value for source in Source]


@extend_schema_field({"type": "object", "additionalProperties": True})
class AnObject(Anything):
    """A JSON object, which the use case reads."""


@extend_schema_field({"type": "array", "items": {"type": "object", "additionalProperties": True}})
class Objects(Anything):
    """A JSON list of objects, which the use case reads."""


class CreateWebhookRequest(serializers.Serializer[Any]):
    """The webhook to create."""

    source_type = Text(help_text=f"One of {', '.join(SOURCES)}.")
    target_queue = Text()
    signing_secret = Text(required=False, allow_null=True)


class RotateRequest(serializers.Serializer[Any]):
    """What to rotate, and for how many seconds the former secret or address still works."""

    rotate_url = Flag(required=False)
    keep_previous_for_seconds = Number(required=False)


class SecretRequest(serializers.Serializer[Any]):
    """A signing secret that the vendor issued or you chose."""

    signing_secret = Text()


class WebhookAnswer(serializers.Serializer[Any]):
    """A webhook, without its address and secrets."""

    webhook_id = serializers.CharField()
    endpoint_id = serializers.CharField()
    source_type = serializers.CharField()
    target_queue = serializers.CharField()
    trust_mode = serializers.CharField(help_text=f"One of {', '.join(TrustMode.values)}.")
    has_secret = serializers.BooleanField()
    rules = serializers.IntegerField(help_text="How many rules it has.")
    created_at = serializers.DateTimeField()


class CreatedWebhookAnswer(serializers.Serializer[Any]):
    """A new or rotated webhook; a minted secret is shown this once."""

    webhook_id = serializers.CharField()
    ingest_url = serializers.CharField()
    source_type = serializers.CharField()
    target_queue = serializers.CharField()
    trust_mode = serializers.CharField()
    signing_secret = serializers.CharField(required=False)


class SetRulesRequest(serializers.Serializer[Any]):
    """The rules, default and params that replace the present ones; the answer of GET is such a body."""

    rules = Objects()
    default_action = AnObject(required=False)
    params = AnObject(required=False)
    version = Number(required=False, allow_null=True)
    webhook_id = serializers.CharField(read_only=True)
    source_type = serializers.CharField(read_only=True)
    target_queue = serializers.CharField(read_only=True)
    grant = serializers.DictField(read_only=True)
    warnings = serializers.ListField(read_only=True)


class InstallPackRequest(serializers.Serializer[Any]):
    """The rule pack whose rules and default replace the present ones, with the params for it."""

    pack = Text()
    params = AnObject(required=False, allow_null=True)
    version = Number(required=False, allow_null=True)


class PackParamAnswer(serializers.Serializer[Any]):
    """What one param of a pack means, with an example of the right shape."""

    description = serializers.CharField()
    example = serializers.JSONField()


class PackAnswer(serializers.Serializer[Any]):
    """A rule list that is shipped, ready to install."""

    name = serializers.CharField()
    title = serializers.CharField()
    description = serializers.CharField()
    params = serializers.DictField(child=PackParamAnswer())
    queues = serializers.ListField(child=serializers.CharField())
    rules = serializers.ListField(child=serializers.DictField())
    default_action = serializers.DictField(allow_null=True)


class PacksAnswer(serializers.Serializer[Any]):
    """The shipped rule packs."""

    packs = PackAnswer(many=True)


class AddRuleRequest(serializers.Serializer[Any]):
    """The rule to insert; last unless `position` says otherwise."""

    id = Text(required=False, allow_null=True)
    name = Text(required=False, allow_null=True)
    expr = Text()
    action = AnObject()
    position = Number(required=False, allow_null=True)
    version = Number(required=False, allow_null=True)


class UpdateRuleRequest(serializers.Serializer[Any]):
    """What to change of one rule."""

    name = Text(required=False, allow_null=True)
    expr = Text(required=False)
    action = AnObject(required=False)
    version = Number(required=False, allow_null=True)


class MoveRuleRequest(serializers.Serializer[Any]):
    """Where to move one rule: 0 is first."""

    position = Number()
    version = Number(required=False, allow_null=True)


class RemoveRuleRequest(serializers.Serializer[Any]):
    """The version of the rules that the caller has read."""

    version = Number(required=False, allow_null=True)


class TestRulesRequest(serializers.Serializer[Any]):
    """A sample (`payload`, `headers`) or a stored event to route, with the saved or with candidate rules."""

    payload = Anything(required=False)
    event_id = Text(required=False, allow_null=True)
    headers = AnObject(required=False)
    rules = Objects(required=False)
    default_action = AnObject(required=False)
    params = AnObject(required=False)
    omit_envelope = Flag(required=False)


class RuleHealth(serializers.Serializer[Any]):
    """How a rule has done since it was saved."""

    matches = serializers.IntegerField()
    last_match_at = serializers.DateTimeField(allow_null=True)
    faults = serializers.IntegerField()
    last_fault_at = serializers.DateTimeField(allow_null=True)
    last_fault_cause = serializers.CharField(allow_null=True)


class RuleAnswer(serializers.Serializer[Any]):
    """One rule."""

    id = serializers.CharField()
    name = serializers.CharField(allow_null=True)
    expr = serializers.CharField()
    action = serializers.DictField()
    health = RuleHealth(required=False)


class GrantedEndpoint(serializers.Serializer[Any]):
    """A live delivery target."""

    endpoint_id = serializers.CharField()
    slug = serializers.CharField()
    scope_queues = serializers.ListField(child=serializers.CharField())


class GrantAnswer(serializers.Serializer[Any]):
    """What the rules may reach now, in target order."""

    queues = serializers.ListField(child=serializers.CharField())
    endpoints = GrantedEndpoint(many=True)


class RulesAnswer(serializers.Serializer[Any]):
    """The rules result."""

    webhook_id = serializers.CharField()
    source_type = serializers.CharField()
    target_queue = serializers.CharField()
    version = serializers.IntegerField()
    rules = RuleAnswer(many=True)
    default_action = serializers.DictField(allow_null=True)
    params = serializers.DictField()
    grant = GrantAnswer()
    warnings = serializers.ListField(child=serializers.CharField(), required=False)


class Decision(serializers.Serializer[Any]):
    """Where the delivery would go."""

    drop = serializers.BooleanField()
    queue = serializers.CharField(required=False)
    endpoints = serializers.ListField(child=serializers.CharField(), required=False)


class TestRulesAnswer(serializers.Serializer[Any]):
    """What the delivery would get."""

    decision = Decision()
    trace = serializers.DictField()
    once_key = serializers.CharField(required=False)
    work_order = serializers.DictField(required=False)
    envelope = serializers.DictField(required=False)


class RouteAnswer(serializers.Serializer[Any]):
    """A further delivery target of a webhook."""

    route_id = serializers.CharField()
    webhook_id = serializers.CharField()
    endpoint_id = serializers.CharField()
    state = serializers.CharField(help_text="live, or waiting for the target owner's approval.")
    requested_at = serializers.DateTimeField()
    granted_at = serializers.DateTimeField(allow_null=True)


class EventRow(serializers.Serializer[Any]):
    """An event as history lists it."""

    event_id = serializers.CharField()
    webhook_id = serializers.CharField(allow_null=True)
    source = serializers.CharField()  # type: ignore[assignment]
    kind = serializers.CharField(allow_null=True)
    label = serializers.CharField()  # type: ignore[assignment]
    title = serializers.CharField()
    external_id = serializers.CharField()
    received_at = serializers.DateTimeField()
    trust_mode = serializers.CharField()
    verified = serializers.BooleanField()
    verify_detail = serializers.CharField()
    content_type = serializers.CharField(allow_null=True)
    size = serializers.IntegerField(help_text="Bytes.")
    disposition = serializers.CharField(help_text=f"One of {', '.join(Disposition.values)}.")
    routing = serializers.DictField()


class EventTodo(serializers.Serializer[Any]):
    """A todo that the event made."""

    id = serializers.CharField()
    endpoint_id = serializers.CharField()
    queue = serializers.CharField()
    state = serializers.CharField()


class EventAnswer(EventRow):
    """An event in full."""

    headers = serializers.DictField(child=serializers.CharField())
    payload = serializers.JSONField(allow_null=True)
    todos = EventTodo(many=True)
