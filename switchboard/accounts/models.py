"""The records of who: Human, Team, Membership, Endpoint and ApiToken."""

from datetime import datetime
from typing import Self

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.utils import timezone

from switchboard.accounts.reach import Principal, owned_within
from switchboard.ids import new_id

DEFAULT_LEASE_SECONDS = 300
MAX_LEASE_SECONDS = 86_400


class Human(AbstractUser):
    """A person who signs in; the user model."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)

    class Meta(AbstractUser.Meta):
        verbose_name = "human"
        verbose_name_plural = "humans"


class Team(models.Model):
    """A group of humans that can own things."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    slug = models.SlugField(max_length=64, unique=True)
    name = models.CharField(max_length=120)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    members = models.ManyToManyField(Human, through="Membership", related_name="teams")

    def __str__(self) -> str:
        return self.slug


class Membership(models.Model):
    """One human's role in one team."""

    class Role(models.TextChoices):
        OWNER = "owner"
        ADMIN = "admin"
        MEMBER = "member"

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="memberships")
    human = models.ForeignKey(Human, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=8, choices=Role, default=Role.MEMBER)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "human"], name="one_membership_a_human")]

    def __str__(self) -> str:
        return f"{self.human} in {self.team} ({self.role})"


class OwnedModel(models.Model):
    """What is directly owned by exactly one human or one team; the database refuses neither and both.

    The indexes on the owner serve listings too: newest first within an owner.
    """

    owner_human = models.ForeignKey(
        Human, null=True, blank=True, on_delete=models.PROTECT, related_name="owned_%(class)ss", db_index=False
    )
    owner_team = models.ForeignKey(
        Team, null=True, blank=True, on_delete=models.PROTECT, related_name="owned_%(class)ss", db_index=False
    )

    class Meta:
        abstract = True
        constraints = [
            models.CheckConstraint(
                condition=(
                    models.Q(owner_human__isnull=False, owner_team__isnull=True)
                    | models.Q(owner_human__isnull=True, owner_team__isnull=False)
                ),
                name="%(class)s_has_one_owner",
            )
        ]
        indexes = [
            models.Index(
                fields=[owner, "-id"],
                condition=models.Q(**{f"{owner}__isnull": False}),
                name=f"%(class)s_{owner}",
            )
            for owner in ("owner_human", "owner_team")
        ]

    @property
    def owner_name(self) -> str:
        """The owning human's user name or the owning team's slug."""
        return str(self.owner_human or self.owner_team)


class EndpointQuerySet(models.QuerySet["Endpoint"]):
    def within_reach(self, principal: Principal) -> Self:
        """Return the endpoints that the principal's owner scope owns."""
        return self.filter(owned_within(principal))

    def live(self, now: datetime) -> Self:
        """Return the endpoints that are neither revoked nor expired at `now`."""
        return self.filter(live_endpoint(now))


def live_endpoint(now: datetime, *, path: str = "") -> models.Q:
    """Return the condition that the endpoint at `path` is neither revoked nor expired at `now`."""
    expires = models.Q(**{f"{path}expires_at__isnull": True}) | models.Q(**{f"{path}expires_at__gt": now})
    return models.Q(**{f"{path}revoked_at__isnull": True}) & expires


class Endpoint(OwnedModel):
    """An agent's credential with what it may do. Its scope never changes: a new scope is a new endpoint."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    name = models.CharField(max_length=120)
    slug = models.SlugField(max_length=80, unique=True)
    credential_hash = models.CharField(max_length=64, unique=True, editable=False)
    scope_queues = models.JSONField(default=list)
    scope_verbs = models.JSONField(default=list)
    webhook_max = models.PositiveIntegerField(default=10)
    webhook_source_types = models.JSONField(default=list)
    webhook_queues = models.JSONField(default=list)
    default_lease_seconds = models.PositiveIntegerField(default=DEFAULT_LEASE_SECONDS)
    created_by = models.ForeignKey(Human, null=True, on_delete=models.SET_NULL, related_name="vended_endpoints")
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_seen_at = models.DateTimeField(null=True, blank=True)

    objects = EndpointQuerySet.as_manager()

    class Meta(OwnedModel.Meta):
        ordering = ["-id"]

    def __str__(self) -> str:
        return self.slug

    def is_live(self, now: datetime) -> bool:
        """Return whether the endpoint is neither revoked nor expired at `now`."""
        return self.revoked_at is None and (self.expires_at is None or self.expires_at > now)


class ApiTokenQuerySet(models.QuerySet["ApiToken"]):
    def within_reach(self, principal: Principal) -> Self:
        """Return the principal's own tokens."""
        return self if principal.unrestricted else self.filter(human=principal.human_id)


class ApiToken(models.Model):
    """A human's bearer token for the operator API; only its SHA-256 is kept."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    human = models.ForeignKey(Human, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=120, blank=True)
    token_hash = models.CharField(max_length=64, unique=True, editable=False)
    scopes = models.JSONField(default=list)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)

    objects = ApiTokenQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.name or 'token'} of {self.human}"
