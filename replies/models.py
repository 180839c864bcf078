"""The record of an answer: Reply."""

from typing import Final, Self

from django.db import models
from django.utils import timezone

from connections.models import MAX_ACCOUNT_KEY_CHARACTERS, Connection
from switchboard.accounts.models import Endpoint, OwnedModel
from switchboard.accounts.reach import Principal, owned_within
from switchboard.ids import new_id
from switchboard.reply_address import AddressKind, Provider
from switchboard.todos.models import Todo

MAX_KEY_BYTES: Final = 128


class ReplyState(models.TextChoices):
    PENDING = "pending"
    SENT = "sent"
    FAILED = "failed"
    UNKNOWN = "unknown"


class ReplyQuerySet(models.QuerySet["Reply"]):
    def within_reach(self, principal: Principal) -> Self:
        """Return the replies of the principal's owner scope; of an agent, those of its own endpoint."""
        owned = self.filter(owned_within(principal))
        return owned if principal.endpoint_id is None else owned.filter(endpoint=principal.endpoint_id)


class Reply(OwnedModel):
    """One call of `reply` that was not refused: what was to be posted where, and what became of it (REQ-9).

    The owner is the todo's. `connection_name`, `connection_fingerprint` and `signature_line` are the connection's as
    of the reply. `provider` and `account` say where `object_id`, the provider's own id of the post, is unique.
    `taken_at` is when the dialler took the row, which happens once; `finished_at` when its state stopped being
    `pending`.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    todo = models.ForeignKey(Todo, on_delete=models.CASCADE, related_name="replies", db_index=False)
    endpoint = models.ForeignKey(Endpoint, on_delete=models.PROTECT, related_name="replies")
    connection = models.ForeignKey(Connection, null=True, on_delete=models.SET_NULL, related_name="replies")
    connection_name = models.CharField(max_length=120)
    connection_fingerprint = models.CharField(max_length=12)
    signature_line = models.CharField(max_length=200, blank=True)
    provider = models.CharField(max_length=16, choices=[(provider.value, provider.value) for provider in Provider])
    account = models.CharField(max_length=MAX_ACCOUNT_KEY_CHARACTERS)
    address_kind = models.CharField(max_length=16, choices=[(kind.value, kind.value) for kind in AddressKind])
    display = models.CharField(max_length=512)
    idempotency_key = models.CharField(max_length=MAX_KEY_BYTES)
    text_sha256 = models.CharField(max_length=64)
    text = models.TextField()
    state = models.CharField(max_length=8, choices=ReplyState, default=ReplyState.PENDING)
    error_class = models.CharField(max_length=16, blank=True)
    error_code = models.CharField(max_length=64, blank=True)
    object_id = models.CharField(max_length=160, blank=True)
    permalink = models.TextField(blank=True)
    taken_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    finished_at = models.DateTimeField(null=True, blank=True)

    objects = ReplyQuerySet.as_manager()

    class Meta(OwnedModel.Meta):
        ordering = ["-id"]
        verbose_name_plural = "replies"
        constraints = [
            *OwnedModel.Meta.constraints,
            models.UniqueConstraint(fields=["todo", "idempotency_key"], name="one_reply_a_key"),
        ]
        indexes = [
            *OwnedModel.Meta.indexes,
            models.Index(fields=["provider", "account", "object_id"], name="reply_echo"),
            models.Index(fields=["provider", "account", "display", "created_at"], name="reply_place"),
            models.Index(fields=["created_at"], condition=models.Q(state=ReplyState.PENDING), name="reply_under_way"),
        ]

    def __str__(self) -> str:
        return self.display
