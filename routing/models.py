"""The records of receiving: Webhook, WebhookRoute, Event, OnceClaim and Refusal."""

from datetime import datetime
from typing import Self

from django.db import models
from django.utils import timezone

from routing.document import parse_document
from routing.fields import Json
from switchboard.accounts.models import Endpoint, Human, OwnedModel, live_endpoint
from switchboard.accounts.reach import Principal, owned_within
from switchboard.ids import new_id
from switchboard.source_types import Source

SOURCE_CHOICES = [(source.value, source.value) for source in Source]


class TrustMode(models.TextChoices):
    SIGNED = "signed"
    TOKEN = "token"  # noqa: S105 - the contract's word for URL-as-secret


class Disposition(models.TextChoices):
    ROUTED = "routed"
    DROPPED = "dropped"
    REPEAT = "repeat"
    SELF_REPLY = "self_reply"


class WebhookQuerySet(models.QuerySet["Webhook"]):
    def within_reach(self, principal: Principal) -> Self:
        """Return the webhooks on endpoints of the principal's owner scope."""
        return self.filter(owned_within(principal, path="endpoint__"))


class Webhook(models.Model):
    """An ingest URL of one endpoint, with its signing secret and its routing configuration.

    The ingest token is looked up by hash and sealed for display. The previous secret verifies until
    `previous_ends_at`, the previous address works until `previous_token_ends_at`. `rules_version` counts changes
    of the rules, default and params.
    """

    SEALED_FIELDS = ("ingest_token_sealed", "signing_secret_sealed", "previous_secret_sealed")

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    endpoint = models.ForeignKey(Endpoint, on_delete=models.PROTECT, related_name="webhooks")
    source_type = models.CharField(max_length=16, choices=SOURCE_CHOICES)
    target_queue = models.CharField(max_length=64)
    ingest_token_hash = models.CharField(max_length=64, unique=True, editable=False)
    ingest_token_sealed = models.TextField(blank=True, editable=False)
    previous_ingest_token_hash = models.CharField(max_length=64, blank=True, db_index=True, editable=False)
    signing_secret_sealed = models.TextField(blank=True, editable=False)
    previous_secret_sealed = models.TextField(blank=True, editable=False)
    previous_ends_at = models.DateTimeField(null=True, blank=True, editable=False)
    previous_token_ends_at = models.DateTimeField(null=True, blank=True, editable=False)
    routing_rules = models.JSONField(default=list, blank=True)
    default_action = models.JSONField(null=True, blank=True)
    routing_params = models.JSONField(default=dict, blank=True)
    rules_version = models.PositiveIntegerField(default=0, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = WebhookQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.source_type} → {self.target_queue}"

    @property
    def tenant(self) -> str:
        """The owner scope's id as text; a query may have brought it along as `tenant_key`."""
        known = vars(self).get("tenant_key") or self.endpoint.owner_human_id or self.endpoint.owner_team_id
        return str(known).replace("-", "")

    def seal_identity(self, field: str) -> str:
        """Return the associated data that binds a sealed value to this row and column."""
        return f"webhook:{self.pk}:{field}"


class WebhookRouteQuerySet(models.QuerySet["WebhookRoute"]):
    def within_reach(self, principal: Principal) -> Self:
        """Return the routes of the principal's webhooks and the routes to its endpoints."""
        ours = owned_within(principal, path="webhook__endpoint__")
        theirs = owned_within(principal, path="endpoint__")
        return self.filter(ours | theirs)

    def live(self, now: datetime) -> Self:
        """Return the approved routes whose endpoint is live at `now`."""
        return self.filter(live_endpoint(now, path="endpoint__"), granted_at__isnull=False)


class WebhookRoute(models.Model):
    """A further delivery target of a webhook; live once approved (`granted_at`) while its endpoint is live."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="routes")
    endpoint = models.ForeignKey(Endpoint, on_delete=models.CASCADE, related_name="incoming_routes")
    requested_by = models.ForeignKey(Human, null=True, on_delete=models.SET_NULL, related_name="+")
    approved_by = models.ForeignKey(Human, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    requested_at = models.DateTimeField(default=timezone.now, editable=False)
    granted_at = models.DateTimeField(null=True, blank=True)

    objects = WebhookRouteQuerySet.as_manager()

    class Meta:
        ordering = ["granted_at", "endpoint_id"]
        constraints = [
            models.UniqueConstraint(fields=["webhook", "endpoint"], name="one_route_an_endpoint"),
        ]

    def __str__(self) -> str:
        return f"{self.webhook_id} → {self.endpoint_id}"


class EventQuerySet(models.QuerySet["Event"]):
    def within_reach(self, principal: Principal) -> Self:
        """Return the events of the principal's owner scope."""
        return self.filter(owned_within(principal))


class Event(OwnedModel):
    """One accepted delivery: its bytes as received, and how it was verified and routed.

    `external_id` is `<webhook id>:<delivery id>`; unique with the source, it decides which of several copies of
    a delivery was first. `size` is the body's length in bytes.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    webhook = models.ForeignKey(Webhook, null=True, on_delete=models.SET_NULL, related_name="events", db_index=False)
    source = models.CharField(max_length=16, choices=SOURCE_CHOICES)
    external_id = models.CharField(max_length=320)
    kind = models.CharField(max_length=255, null=True, blank=True)  # noqa: DJ001 - null is a value of the envelope
    label = models.CharField(max_length=255)
    title = models.CharField(max_length=255)
    received_at = models.DateTimeField(default=timezone.now)
    trust_mode = models.CharField(max_length=8, choices=TrustMode)
    verified = models.BooleanField()
    verify_detail = models.CharField(max_length=64)
    content_type = models.TextField(null=True, blank=True)  # noqa: DJ001 - null is a value of the envelope
    headers = models.JSONField()
    body = models.BinaryField()
    size = models.PositiveIntegerField()
    disposition = models.CharField(max_length=12, choices=Disposition)
    rule_id = models.CharField(max_length=64, blank=True)
    routing_trace = models.JSONField()

    objects = EventQuerySet.as_manager()

    class Meta(OwnedModel.Meta):
        ordering = ["-id"]
        constraints = [
            *OwnedModel.Meta.constraints,
            models.UniqueConstraint(fields=["source", "external_id"], name="one_event_a_delivery"),
        ]
        indexes = [
            *OwnedModel.Meta.indexes,
            models.Index(fields=["webhook", "-id"], name="event_webhook"),
        ]

    def __str__(self) -> str:
        return self.title

    @property
    def payload(self) -> Json:
        """The body as a JSON value with exact integers, or as text when it is not JSON."""
        body = bytes(self.body)
        document = parse_document(body, content_type=self.content_type)
        return document.value if document.parsed else body.decode("utf-8", "replace")


class OnceClaim(models.Model):
    """A work-order key that a delivery has claimed; it outlives the event that made it (SPEC-0020)."""

    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="once_claims")
    once_key = models.CharField(max_length=80)
    event_id = models.UUIDField()
    claimed_at = models.DateTimeField(default=timezone.now)

    class Meta:
        db_table = "routing_once"
        constraints = [models.UniqueConstraint(fields=["webhook", "once_key"], name="one_claim_a_key")]

    def __str__(self) -> str:
        return self.once_key


class Refusal(models.Model):
    """How often a webhook refused deliveries for one reason; nothing else is kept of them."""

    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="refusals")
    reason = models.CharField(max_length=40)
    count = models.PositiveIntegerField(default=0)
    last_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["webhook", "reason"], name="one_refusal_count_a_reason")]

    def __str__(self) -> str:
        return f"{self.reason} × {self.count}"


class RuleTally(models.Model):
    """A part of how often a rule matched and faulted since it was saved; a rule's parts are summed when read."""

    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="rule_tallies", db_index=False)
    rule_id = models.CharField(max_length=64)
    shard = models.PositiveSmallIntegerField()
    matches = models.PositiveBigIntegerField(default=0)
    faults = models.PositiveBigIntegerField(default=0)
    last_match_at = models.DateTimeField(null=True)
    last_fault_at = models.DateTimeField(null=True)
    last_fault_cause = models.CharField(max_length=32, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["webhook", "rule_id", "shard"], name="one_tally_a_shard"),
        ]

    def __str__(self) -> str:
        return f"{self.rule_id}: {self.matches} matches, {self.faults} faults"
