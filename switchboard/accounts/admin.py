"""Who, in the admin: humans, teams, memberships, endpoints (vended and revoked) and API tokens."""
# ruff: noqa: ARG002 - the admin's hooks have the arguments that they have

import json
from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.admin.widgets import AdminSplitDateTime
from django.contrib.auth.admin import UserAdmin
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from switchboard.accounts.credentials import TOKEN_SCOPES, create_api_token
from switchboard.accounts.models import (
    DEFAULT_LEASE_SECONDS,
    MAX_LEASE_SECONDS,
    ApiToken,
    Endpoint,
    Human,
    Membership,
    Team,
)
from switchboard.accounts.reach import Principal
from switchboard.accounts.vend import MAX_WEBHOOKS, revoke_endpoint, vend_endpoint
from switchboard.accounts.verbs import AllVerbs, BasicVerbs
from switchboard.admin_site import Created, CreatingAdmin, ReachableField, SuperuserAdmin, staff_principal
from switchboard.source_types import Source


@admin.register(Human)
class HumanAdmin(SuperuserAdmin, UserAdmin):  # type: ignore[type-arg]
    """Humans; staff without superuser see themselves. The stored password is never shown, not even in part."""

    fieldsets = (
        (None, {"fields": ("username", "other_password")}),
        ("Personal", {"fields": ("first_name", "last_name", "email")}),
        (
            "Permissions",
            {"fields": ("is_active", "is_staff", "is_superuser", "groups", "user_permissions")},
        ),
        ("Dates", {"fields": ("last_login", "date_joined")}),
    )
    list_display = ("username", "email", "is_active", "is_staff", "is_superuser", "last_login")
    list_filter = ("is_active", "is_staff", "is_superuser")
    readonly_fields = ("other_password", "last_login", "date_joined")

    def within_reach(self, records: QuerySet[Any], principal: Principal) -> QuerySet[Any]:
        """Return everybody to a superuser, else the human alone."""
        return records if principal.unrestricted else records.filter(pk=principal.human_id)

    @admin.display(description="password")
    def other_password(self, human: Human) -> SafeString:
        """Return the link to the page that sets another password."""
        return format_html('<a href="{}">Set another password</a>', "../password/")


@admin.register(Team)
class TeamAdmin(SuperuserAdmin):
    """Teams; staff see those they belong to."""

    list_display = ("slug", "name", "created_at")
    search_fields = ("slug", "name")
    ordering = ("-id",)
    readonly_fields = ("id", "created_at")
    fields = ("id", "slug", "name", "created_at")

    def within_reach(self, records: QuerySet[Any], principal: Principal) -> QuerySet[Any]:
        """Return all teams to a superuser, else those of the human."""
        mine = Membership.objects.filter(human=principal.human_id).values("team")
        return records if principal.unrestricted else records.filter(pk__in=mine)


@admin.register(Membership)
class MembershipAdmin(SuperuserAdmin):
    """Memberships; staff see those of their teams."""

    id_fields = ("team_id", "human_id")
    list_display = ("team", "human", "role", "created_at")
    list_filter = ("role",)
    list_select_related = ("team", "human")
    search_fields = ("team__slug", "human__username")
    ordering = ("-id",)
    autocomplete_fields = ("team", "human")
    readonly_fields = ("created_at",)

    def within_reach(self, records: QuerySet[Any], principal: Principal) -> QuerySet[Any]:
        """Return all memberships to a superuser, else those of the human's teams."""
        mine = Membership.objects.filter(human=principal.human_id).values("team")
        return records if principal.unrestricted else records.filter(team__in=mine)


class VendForm(forms.Form):
    """The arguments of `vend_endpoint`."""

    human = ReachableField(Human, label="Owner")
    name = forms.CharField(max_length=120)
    queues = forms.CharField(help_text="Queues that the agent drains, separated by spaces.")
    verbs = forms.MultipleChoiceField(
        choices=[(verb, verb) for verb in AllVerbs()],
        initial=BasicVerbs(),
        widget=forms.CheckboxSelectMultiple,
    )
    webhook_max = forms.IntegerField(label="Most webhooks", initial=10, min_value=0, max_value=MAX_WEBHOOKS)
    webhook_source_types = forms.MultipleChoiceField(
        choices=[(source.value, source.value) for source in Source],
        initial=[source.value for source in Source],
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )
    webhook_queues = forms.CharField(
        required=False, help_text="Queues that its webhooks may use; empty means the queues above."
    )
    default_lease_seconds = forms.IntegerField(initial=DEFAULT_LEASE_SECONDS, min_value=1, max_value=MAX_LEASE_SECONDS)
    expires_at = forms.SplitDateTimeField(required=False, widget=AdminSplitDateTime())


@admin.register(Endpoint)
class EndpointAdmin(CreatingAdmin):
    """Endpoints: vended with a credential that is shown once, never rescoped, revoked but not deleted."""

    creation_form = VendForm
    actions = ("revoke",)
    list_display = (
        "slug",
        "name",
        "owner_name",
        "scope_queues",
        "live",
        "last_seen_at",
        "expires_at",
        "created_at",
    )
    list_filter = (("revoked_at", admin.EmptyFieldListFilter), "created_at", "expires_at")
    list_select_related = ("owner_human", "owner_team")
    search_fields = ("slug", "name", "owner_human__username", "owner_team__slug")
    ordering = ("-id",)
    fields = (
        "id",
        "slug",
        "name",
        "owner_human",
        "owner_team",
        "live",
        "scope_queues",
        "scope_verbs",
        "webhook_max",
        "webhook_source_types",
        "webhook_queues",
        "default_lease_seconds",
        "created_by",
        "created_at",
        "expires_at",
        "revoked_at",
        "last_seen_at",
    )

    def create(self, request: HttpRequest, values: dict[str, Any]) -> Created:
        """Vend the endpoint and show its credential."""
        queues = values["webhook_queues"].split() or None
        arguments = values | {"queues": values["queues"].split(), "webhook_queues": queues}
        vended = vend_endpoint(**arguments)
        shown = {
            "Credential": vended.credential,
            "MCP address": vended.mcp_url,
            ".mcp.json": json.dumps(vended.mcp_json, indent=2),
        }
        return Created(vended.endpoint, shown)

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Return False: an endpoint ends by being revoked, its history stays."""
        return False

    @admin.display(boolean=True)
    def live(self, endpoint: Endpoint) -> bool:
        """Return whether the endpoint is neither revoked nor expired."""
        return endpoint.is_live(timezone.now())

    @admin.action(description="Revoke the selected endpoints for good", permissions=["operate"])
    def revoke(self, request: HttpRequest, endpoints: QuerySet[Endpoint]) -> None:
        """Revoke each endpoint."""
        principal = staff_principal(request)
        self.perform(
            request,
            endpoints,
            lambda endpoint: revoke_endpoint(principal=principal, ref=str(endpoint.pk)),
            done="revoked",
        )


class TokenForm(forms.Form):
    """The arguments of `create_api_token`."""

    human = ReachableField(Human)
    name = forms.CharField(max_length=120, required=False)
    scopes = forms.MultipleChoiceField(
        choices=[(scope, scope) for scope in TOKEN_SCOPES],
        initial=TOKEN_SCOPES,
        widget=forms.CheckboxSelectMultiple,
    )
    expires_at = forms.SplitDateTimeField(required=False, widget=AdminSplitDateTime())


@admin.register(ApiToken)
class ApiTokenAdmin(CreatingAdmin):
    """API tokens: shown once when created, deleted to end them."""

    creation_form = TokenForm
    id_fields = ("pk", "human_id")
    list_display = ("name", "human", "scopes", "created_at", "expires_at", "revoked_at", "last_used_at")
    list_filter = ("created_at", "expires_at")
    list_select_related = ("human",)
    search_fields = ("name", "human__username")
    ordering = ("-id",)
    fields = ("id", "name", "human", "scopes", "created_at", "expires_at", "revoked_at", "last_used_at")

    def create(self, request: HttpRequest, values: dict[str, Any]) -> Created:
        """Create the token and show it."""
        created = create_api_token(**values)
        return Created(created.record, {"Token": created.token})
