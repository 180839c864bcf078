"""Receiving, in the admin: webhooks with their rules, routes, events, once claims and refusals."""
# ruff: noqa: ARG002 - the admin's hooks have the arguments that they have

import json
from collections.abc import Mapping
from typing import Any, ClassVar

from django import forms
from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from routing.configure import set_rules
from routing.health import health_of
from routing.models import Event, OnceClaim, Refusal, Webhook, WebhookRoute
from routing.packs import install_pack, list_packs
from routing.routes import add_route, approve_route, delete_route
from routing.sources import trust_mode_of
from routing.webhooks import CreatedWebhook, create_webhook, delete_webhook, rotate_webhook
from switchboard.accounts.models import Endpoint
from switchboard.accounts.reach import Principal, owned_within
from switchboard.admin_site import (
    Created,
    CreatingAdmin,
    ReachableField,
    ViewOnlyAdmin,
    acting_human,
    add_refusal,
    as_pre,
    staff_principal,
)
from switchboard.errors import InvalidParams, SwitchboardError
from switchboard.source_types import Source

DAY_SECONDS = 86_400


class JsonTextField(forms.CharField):
    """One JSON value in a text area; empty is None."""

    widget = forms.Textarea(attrs={"rows": 16, "cols": 100, "spellcheck": "false"})

    def clean(self, value: Any) -> Any:
        """Return the value that the text spells; integers are exact. Raises ValidationError."""
        text = super().clean(value)
        try:
            return json.loads(text) if text else None
        except (ValueError, RecursionError) as error:
            raise forms.ValidationError(f"This is not JSON: {error}") from None


class WebhookForm(forms.Form):
    """The arguments of `create_webhook`."""

    endpoint = ReachableField(Endpoint)
    source_type = forms.ChoiceField(choices=[(source.value, source.value) for source in Source])
    target_queue = forms.CharField(max_length=64)
    signing_secret = forms.CharField(
        required=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}),
        help_text="Slack and Stripe issue theirs; empty for the others, to have one minted.",
    )


class RulesForm(forms.ModelForm):  # type: ignore[type-arg]
    """A webhook's routing configuration as JSON; being valid means being saved, since the save decides."""

    principal: ClassVar[Principal]

    rules = JsonTextField(required=False)
    default_action = JsonTextField(required=False, help_text="Empty: the target queue on every target.")
    params = JsonTextField(required=False)
    version = forms.IntegerField(widget=forms.HiddenInput)
    pack = forms.ChoiceField(
        required=False,
        label="Install a rule pack",
        help_text="Its rules and default replace what stands above; the params are the ones above.",
    )

    class Meta:
        model = Webhook
        fields = ()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        packs = [(pack.name, f"{pack.name}: {pack.title}") for pack in list_packs()]
        self.fields["pack"].choices = [("", "none"), *packs]  # type: ignore[attr-defined]
        self.initial.update(
            rules=_indented(self.instance.routing_rules),
            default_action=_indented(self.instance.default_action),
            params=_indented(self.instance.routing_params),
            version=self.instance.rules_version,
        )

    def clean(self) -> dict[str, Any]:
        """Save through `set_rules`; its refusal is the form's error, and names the rule."""
        super().clean()
        if not self.errors:
            try:
                self._save()
            except SwitchboardError as error:
                self._refuse(error)
        return self.cleaned_data

    def _post_clean(self) -> None:
        """Copy nothing onto the instance: the use case has written the row."""

    def _save(self) -> None:
        values = self.cleaned_data
        common = {
            "principal": self.principal,
            "webhook_id": str(self.instance.pk),
            "params": values["params"],
            "version": values["version"],
        }
        if values["pack"]:
            install_pack(name=values["pack"], **common)
            return
        set_rules(
            rules=[] if values["rules"] is None else values["rules"],
            default_action=values["default_action"],
            **common,
        )

    def _refuse(self, error: SwitchboardError) -> None:
        if "rule" in error.extra:
            self.add_error("rules", error.message)
        elif isinstance(error, InvalidParams):
            self.add_error("params", error.message)
        else:
            add_refusal(self, error)


@admin.register(Webhook)
class WebhookAdmin(CreatingAdmin):
    """Webhooks: address and secret are shown once; of the page only the routing configuration changes."""

    creation_form = WebhookForm
    form = RulesForm
    actions = ("rotate_now", "rotate_with_overlap", "rotate_address")
    id_fields = ("pk", "endpoint_id")
    list_display = ("__str__", "endpoint", "trust_mode", "has_secret", "rule_count", "created_at")
    list_filter = ("source_type", "created_at")
    list_select_related = ("endpoint",)
    search_fields = ("target_queue", "endpoint__slug")
    ordering = ("-id",)
    facts = (
        "id",
        "endpoint",
        "source_type",
        "trust_mode",
        "target_queue",
        "has_secret",
        "previous_ends_at",
        "rules_version",
        "created_at",
    )
    readonly_fields = (*facts, "shown_rules", "shown_default_action", "shown_params", "rule_health")

    def create(self, request: HttpRequest, values: dict[str, Any]) -> Created:
        """Create the webhook and show its address and minted secret."""
        created = create_webhook(**values | {"signing_secret": values["signing_secret"] or None})
        return Created(created.webhook, _shown(created))

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Return whether the human may set rules: Django's change permission."""
        return self.has_operate_permission(request)

    def get_fieldsets(self, request: HttpRequest, obj: Webhook | None = None) -> Any:
        """Return the facts, and the routing configuration: to edit, or only to read."""
        editable = ("rules", "default_action", "params", "version", "pack")
        shown = ("shown_rules", "shown_default_action", "shown_params")
        routing = editable if self.has_change_permission(request, obj) else shown
        return ((None, {"fields": self.facts}), ("Routing", {"fields": (*routing, "rule_health")}))

    def get_form(self, request: HttpRequest, obj: Webhook | None = None, change: bool = False, **kwargs: Any) -> Any:
        """Return the rules form that acts for the signed-in human."""
        form: Any = super().get_form(request, obj, change, **kwargs)
        form.principal = staff_principal(request)
        return form

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """Save rules outside the stock view's transaction: they compile in the sandbox first, which is slow."""
        if object_id is None or request.method != "POST" or "_saveasnew" in request.POST:
            return super().changeform_view(request, object_id, form_url, extra_context)
        answer: HttpResponse = self._changeform_view(request, object_id, form_url, extra_context)  # type: ignore[attr-defined]
        return answer

    def save_model(self, request: HttpRequest, obj: Webhook, form: Any, change: Any) -> None:
        """Write nothing: the form has saved through the use case."""

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """Name the webhooks alone: their routes and counts go with them, their events and todos stay."""
        return [str(webhook) for webhook in objs], {"webhooks": len(objs)}, set(), []

    def delete_model(self, request: HttpRequest, obj: Webhook) -> None:
        """Delete through the use case."""
        delete_webhook(principal=staff_principal(request), webhook_id=str(obj.pk))

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Webhook]) -> None:
        """Delete each through the use case."""
        for webhook in queryset:
            self.delete_model(request, webhook)

    @admin.display(description="trust mode")
    def trust_mode(self, webhook: Webhook) -> str:
        """Return `signed` or `token`."""
        return trust_mode_of(Source(webhook.source_type))

    @admin.display(boolean=True)
    def has_secret(self, webhook: Webhook) -> bool:
        """Return whether a signing secret is stored."""
        return bool(webhook.signing_secret_sealed)

    @admin.display(description="rules")
    def rule_count(self, webhook: Webhook) -> int:
        """Return how many rules the webhook has."""
        return len(webhook.routing_rules)

    @admin.display(description="rule health")
    def rule_health(self, webhook: Webhook) -> SafeString:
        """Return how often each rule matched and faulted since it was saved, and when last."""
        return as_pre(health_of(webhook))

    @admin.display(description="rules")
    def shown_rules(self, webhook: Webhook) -> SafeString:
        """Return the rules to read."""
        return as_pre(webhook.routing_rules)

    @admin.display(description="default action")
    def shown_default_action(self, webhook: Webhook) -> SafeString:
        """Return the default action to read."""
        return as_pre(webhook.default_action)

    @admin.display(description="params")
    def shown_params(self, webhook: Webhook) -> SafeString:
        """Return the params to read."""
        return as_pre(webhook.routing_params)

    @admin.action(description="Rotate: the former secret ends at once", permissions=["operate"])
    def rotate_now(self, request: HttpRequest, webhooks: QuerySet[Webhook]) -> HttpResponse | None:
        """Mint new secrets (new addresses for generic webhooks)."""
        return self._rotate(request, webhooks)

    @admin.action(description="Rotate: the former secret works for another day", permissions=["operate"])
    def rotate_with_overlap(self, request: HttpRequest, webhooks: QuerySet[Webhook]) -> HttpResponse | None:
        """Mint new secrets and let the former ones verify for a day."""
        return self._rotate(request, webhooks, keep_previous_for_seconds=DAY_SECONDS)

    @admin.action(description="Rotate address and secret at once", permissions=["operate"])
    def rotate_address(self, request: HttpRequest, webhooks: QuerySet[Webhook]) -> HttpResponse | None:
        """Mint new addresses and secrets."""
        return self._rotate(request, webhooks, rotate_url=True)

    def _rotate(self, request: HttpRequest, webhooks: QuerySet[Webhook], **options: Any) -> HttpResponse | None:
        shown: list[tuple[str, Mapping[str, str]]] = []
        principal = staff_principal(request)

        def rotate(webhook: Webhook) -> None:
            rotated = rotate_webhook(principal=principal, webhook_id=str(webhook.pk), **options)
            shown.append((str(webhook), _shown(rotated)))

        self.perform(request, webhooks, rotate, done="rotated")
        return self.show_once(request, shown) if shown else None


class RouteForm(forms.Form):
    """The arguments of `add_route`."""

    webhook = ReachableField(Webhook)
    endpoint = ReachableField(Endpoint)


@admin.register(WebhookRoute)
class WebhookRouteAdmin(CreatingAdmin):
    """Routes: requested, approved by the target's owner, removed by either side."""

    creation_form = RouteForm
    actions = ("approve",)
    id_fields = ("pk", "webhook_id", "endpoint_id")
    list_display = ("__str__", "webhook", "endpoint", "requested_by", "requested_at", "granted_at", "approved_by")
    list_filter = (("granted_at", admin.EmptyFieldListFilter), "requested_at")
    list_select_related = ("webhook", "endpoint", "requested_by", "approved_by")
    search_fields = ("endpoint__slug", "webhook__target_queue")
    ordering = ("-id",)
    fields = ("id", "webhook", "endpoint", "requested_by", "requested_at", "granted_at", "approved_by")

    def create(self, request: HttpRequest, values: dict[str, Any]) -> Created:
        """Add the route; to another owner's endpoint it waits for approval."""
        route = add_route(
            principal=staff_principal(request),
            webhook_id=str(values["webhook"].pk),
            endpoint_id=str(values["endpoint"].pk),
            acting_human=acting_human(request),
        )
        return Created(route, {})

    def delete_model(self, request: HttpRequest, obj: WebhookRoute) -> None:
        """Remove through the use case."""
        delete_route(principal=staff_principal(request), route_id=str(obj.pk))

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[WebhookRoute]) -> None:
        """Remove each through the use case."""
        for route in queryset:
            self.delete_model(request, route)

    @admin.action(description="Approve the selected routes", permissions=["operate"])
    def approve(self, request: HttpRequest, routes: QuerySet[WebhookRoute]) -> None:
        """Approve each route as the owner of its endpoint."""
        human, principal = acting_human(request), staff_principal(request)
        self.perform(
            request,
            routes,
            lambda route: approve_route(principal=principal, route_id=str(route.pk), acting_human=human),
            done="approved",
        )


@admin.register(Event)
class EventAdmin(ViewOnlyAdmin):
    """Event history: how each delivery was verified and routed, and what it said."""

    id_fields = ("pk", "webhook_id")
    list_display = (
        "received_at",
        "title",
        "source",
        "label",
        "disposition",
        "verified",
        "rule_id",
        "owner_name",
        "size",
    )
    list_display_links = ("received_at", "title")
    list_filter = ("disposition", "source", "trust_mode", "verified", "received_at")
    list_select_related = ("owner_human", "owner_team")
    search_fields = ("title", "=external_id", "=kind", "=label", "=rule_id")
    ordering = ("-id",)
    fields = (
        "id",
        "title",
        "source",
        "kind",
        "label",
        "disposition",
        "trust_mode",
        "verified",
        "verify_detail",
        "received_at",
        "webhook",
        "owner_human",
        "owner_team",
        "external_id",
        "content_type",
        "size",
        "todos",
        "trace",
        "shown_headers",
        "shown_payload",
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Event]:
        """Return the reachable events; bodies are read by the page that shows one."""
        return super().get_queryset(request).defer("body")

    def todos(self, event: Event) -> SafeString:
        """Return the link to the todos that the delivery made, within the reader's reach."""
        return format_html('<a href="{}?q={}">Find them</a>', reverse("admin:todos_todo_changelist"), event.pk)

    @admin.display(description="routing")
    def trace(self, event: Event) -> SafeString:
        """Return why the delivery went where it went."""
        return as_pre(event.routing_trace)

    @admin.display(description="headers")
    def shown_headers(self, event: Event) -> SafeString:
        """Return the sanitised headers."""
        return as_pre(event.headers)

    @admin.display(description="payload")
    def shown_payload(self, event: Event) -> SafeString:
        """Return the body: as JSON with exact integers, else as text."""
        return as_pre(event.payload)


class OfWebhookAdmin(ViewOnlyAdmin):
    """Records that belong to a webhook and share its reach."""

    list_select_related = ("webhook",)
    ordering = ("-id",)

    def within_reach(self, records: QuerySet[Any], principal: Principal) -> QuerySet[Any]:
        """Return the records of the principal's webhooks."""
        return records.filter(owned_within(principal, path="webhook__endpoint__"))


@admin.register(OnceClaim)
class OnceClaimAdmin(OfWebhookAdmin):
    """Claimed work-order keys: what keeps a work order from being given twice."""

    id_fields = ("webhook_id", "event_id")
    list_display = ("once_key", "webhook", "event_id", "claimed_at")
    list_filter = ("claimed_at",)
    search_fields = ("once_key",)


@admin.register(Refusal)
class RefusalAdmin(OfWebhookAdmin):
    """How often deliveries were refused, by reason."""

    id_fields = ("webhook_id",)
    list_display = ("reason", "webhook", "count", "last_at")
    list_filter = ("last_at",)
    search_fields = ("=reason", "webhook__target_queue")


def _indented(value: object) -> str:
    return "" if value is None else json.dumps(value, indent=2, ensure_ascii=False)


def _shown(created: CreatedWebhook) -> dict[str, str]:
    secret = {"Signing secret": created.signing_secret} if created.signing_secret else {}
    return {"Address": created.ingest_url, **secret}
