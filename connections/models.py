"""The record of an outbound credential: Connection."""

from typing import Final, Self

from django.db import models
from django.utils import timezone

from switchboard.accounts.models import Endpoint, Human, OwnedModel
from switchboard.accounts.reach import Principal, owned_within
from switchboard.ids import new_id
from switchboard.reply_address import Provider
from switchboard.sealing import Secret, open_sealed

MAX_ACCOUNT_KEY_CHARACTERS: Final = 512


class ConnectionQuerySet(models.QuerySet["Connection"]):
    def within_reach(self, principal: Principal) -> Self:
        """Return the connections of the principal's owner scope."""
        return self.filter(owned_within(principal))


class Connection(OwnedModel):
    """A credential with which replies of one owner scope are posted to one account (SPEC-0028 REQ-3).

    `account_key` is canonical. `targets` and `endpoints` (ids) narrow its use; an empty list narrows nothing.
    `acting_human` and `acting_endpoint` made the last change, the endpoint only when an agent did. `last_test_*`,
    `login` and `bot_id` are what the provider last said; `throttled_until` is when it may be called again.
    """

    SEALED_FIELDS = ("secret_sealed",)

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    kind = models.CharField(max_length=16, choices=[(provider.value, provider.value) for provider in Provider])
    name = models.CharField(max_length=120)
    account_key = models.CharField(max_length=MAX_ACCOUNT_KEY_CHARACTERS)
    secret_sealed = models.TextField(editable=False)
    fingerprint = models.CharField(max_length=12, editable=False)
    targets = models.JSONField(default=list, blank=True)
    endpoints = models.JSONField(default=list, blank=True)
    signature_line = models.CharField(max_length=200, blank=True)
    created_by = models.ForeignKey(Human, null=True, on_delete=models.SET_NULL, related_name="+", editable=False)
    acting_human = models.ForeignKey(Human, null=True, on_delete=models.SET_NULL, related_name="+", editable=False)
    acting_endpoint = models.ForeignKey(
        Endpoint, null=True, on_delete=models.SET_NULL, related_name="+", editable=False
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    rotated_at = models.DateTimeField(null=True, editable=False)
    last_used_at = models.DateTimeField(null=True, editable=False)
    last_test_at = models.DateTimeField(null=True, editable=False)
    last_test_ok = models.BooleanField(null=True, editable=False)
    last_test_class = models.CharField(max_length=16, blank=True, editable=False)
    login = models.CharField(max_length=200, blank=True, editable=False)
    bot_id = models.CharField(max_length=64, blank=True, editable=False)
    throttled_until = models.DateTimeField(null=True, editable=False)

    objects = ConnectionQuerySet.as_manager()

    class Meta(OwnedModel.Meta):
        ordering = ["-id"]
        constraints = [
            *OwnedModel.Meta.constraints,
            *(
                models.UniqueConstraint(
                    fields=[owner, *fields],
                    condition=models.Q(**{f"{owner}__isnull": False}),
                    name=f"one_connection_{what}_{owner}",
                )
                for owner in ("owner_human", "owner_team")
                for what, fields in (("an_account", ("kind", "account_key")), ("a_name", ("name",)))
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def seal_identity(self, field: str) -> str:
        """Return the associated data that binds a sealed value to this row and column."""
        return f"connection:{self.pk}:{field}"

    def open_secret(self) -> Secret:
        """Return the credential; raise CannotOpen when no configured key opens it."""
        return open_sealed(self.secret_sealed, identity=self.seal_identity("secret_sealed"))
