"""The record of work: Todo."""

from typing import Self

from django.db import models
from django.utils import timezone

from switchboard.accounts.models import Endpoint
from switchboard.accounts.reach import Principal, owned_within
from switchboard.ids import new_id

DEFAULT_MAX_ATTEMPTS = 5
DEFAULT_REPLY_CAP = 20
HIGHEST_REPLY_CAP = 100


class TodoState(models.TextChoices):
    PENDING = "pending"
    CLAIMED = "claimed"
    DONE = "done"
    FAILED = "failed"


LIVE = models.Q(state__in=[TodoState.PENDING, TodoState.CLAIMED]) | models.Q(state=TodoState.FAILED, dead_letter=False)


class TodoQuerySet(models.QuerySet["Todo"]):
    def within_reach(self, principal: Principal) -> Self:
        """Return an agent's own todos in the queues of its scope, or all todos of a human's endpoints."""
        if principal.endpoint_id is None:
            return self.filter(owned_within(principal, path="endpoint__"))
        endpoint = Endpoint.objects.filter(pk=principal.endpoint_id).first()
        return self.none() if endpoint is None else self.drained_by(endpoint)

    def drained_by(self, endpoint: Endpoint) -> Self:
        """Return the todos of `endpoint` in the queues of its scope."""
        return self.filter(endpoint=endpoint, queue__in=endpoint.scope_queues)


class Todo(models.Model):
    """One piece of work for one endpoint, in one queue, with the trace that says why it is there.

    `attempt` counts claims; `lease_expires_at` is set while claimed; `next_retry_at` while failed and due again;
    `dead_letter` when no attempt is left. Only `lifecycle.py` changes the state. `reply_to` is the reply address,
    which the database lets nobody change; `reply_tags` are the tags of a Cairn artifact, for allowlists only.
    `reply_cap` is how often the todo may be answered in all; the three columns below it are what `replies` tells of
    its rows, in the transaction that changes one. `rung_at` is when the bell of a pending todo was rung last, heard
    or not; `ring_count` counts the rings since it became pending that an open stream heard.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    endpoint = models.ForeignKey(Endpoint, on_delete=models.PROTECT, related_name="todos", db_index=False)
    event = models.ForeignKey("routing.Event", on_delete=models.PROTECT, related_name="todos")
    queue = models.CharField(max_length=64)
    source = models.CharField(max_length=16)
    kind = models.CharField(max_length=255, null=True, blank=True)  # noqa: DJ001 - null is a value of the envelope
    label = models.CharField(max_length=255)
    title = models.CharField(max_length=255)
    payload_size = models.PositiveIntegerField()
    state = models.CharField(max_length=8, choices=TodoState, default=TodoState.PENDING)
    attempt = models.PositiveIntegerField(default=0)
    max_attempts = models.PositiveIntegerField(default=DEFAULT_MAX_ATTEMPTS)
    claimed_at = models.DateTimeField(null=True, blank=True)
    lease_expires_at = models.DateTimeField(null=True, blank=True)
    lease_token_hash = models.CharField(max_length=64, blank=True, editable=False)
    next_retry_at = models.DateTimeField(null=True, blank=True)
    dead_letter = models.BooleanField(default=False)
    idempotency_key = models.CharField(max_length=400, editable=False)
    routing_trace = models.JSONField()
    work_order = models.JSONField(null=True, blank=True)
    reply_to = models.JSONField(null=True, blank=True, editable=False)
    reply_tags = models.JSONField(default=list, blank=True, editable=False)
    reply_cap = models.PositiveSmallIntegerField(default=DEFAULT_REPLY_CAP)
    reply_count = models.PositiveSmallIntegerField(default=0, editable=False)
    last_reply_state = models.CharField(max_length=8, blank=True, editable=False)
    last_reply_permalink = models.TextField(blank=True, editable=False)
    ring_count = models.PositiveSmallIntegerField(default=0, editable=False)
    rung_at = models.DateTimeField(default=timezone.now, editable=False)
    result = models.JSONField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    finished_by = models.ForeignKey(
        Endpoint, null=True, blank=True, on_delete=models.SET_NULL, related_name="finished_todos", db_index=False
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = TodoQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["endpoint", "idempotency_key"], condition=LIVE, name="one_live_todo_a_delivery"
            ),
            models.CheckConstraint(
                condition=models.Q(reply_cap__gte=DEFAULT_REPLY_CAP, reply_cap__lte=HIGHEST_REPLY_CAP),
                name="todo_reply_cap_in_range",
            ),
        ]
        indexes = [
            models.Index(
                fields=["endpoint", "queue", "id"],
                condition=models.Q(state=TodoState.PENDING),
                name="todo_pending",
            ),
            models.Index(fields=["lease_expires_at"], condition=models.Q(state=TodoState.CLAIMED), name="todo_leased"),
            models.Index(
                fields=["next_retry_at"],
                condition=models.Q(state=TodoState.FAILED, dead_letter=False),
                name="todo_retrying",
            ),
            models.Index(fields=["rung_at"], condition=models.Q(state=TodoState.PENDING), name="todo_rung"),
            models.Index(fields=["endpoint", "-id"], name="todo_listing"),
        ]

    def __str__(self) -> str:
        return self.title
