"""Outbound credentials, in the admin: stored, narrowed, tested, replaced and deleted, and never shown."""
# ruff: noqa: ARG002 - the admin's hooks have the arguments that they have

from typing import Any, ClassVar

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils.decorators import method_decorator
from django.utils.safestring import SafeString
from django.views.decorators.debug import sensitive_post_parameters

from connections.arguments import MAX_NAME_CHARACTERS, MAX_SIGNATURE_CHARACTERS
from connections.manage import create_connection, delete_connection, edit_connection, rotate_connection
from connections.models import Connection
from connections.probe import test_connection
from switchboard.accounts.models import Endpoint, Human
from switchboard.accounts.reach import Principal
from switchboard.admin_site import (
    Created,
    CreatingAdmin,
    ReachableChoices,
    ReachableField,
    acting_human,
    add_refusal,
    as_pre,
    staff_principal,
)
from switchboard.errors import SwitchboardError
from switchboard.reply_address import Provider
from switchboard.sealing import Secret

TESTED_AT_ONCE = 5


class SecretField(forms.CharField):
    """A credential to type in: never shown back, and wrapped as soon as it is read."""

    def __init__(self, **options: Any) -> None:
        widget = forms.PasswordInput(attrs={"autocomplete": "off"})
        super().__init__(**{"strip": False, "widget": widget, **options})

    def clean(self, value: Any) -> Secret:
        """Return the secret; the use case judges its content."""
        return Secret(super().clean(value))


class LinesField(forms.CharField):
    """A list of texts, one on each line."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"required": False, "widget": forms.Textarea(attrs={"rows": 4}), **options})

    def clean(self, value: Any) -> list[str]:
        """Return the lines that are not empty."""
        return [line.strip() for line in super().clean(value).splitlines() if line.strip()]


def _targets_field() -> LinesField:
    return LinesField(
        help_text="One a line: owner/* or owner/name, Slack channel ids, Cairn tags or *. Empty: every target."
    )


def _endpoints_field() -> ReachableChoices:
    return ReachableChoices(Endpoint, required=False, help_text="None chosen: every endpoint of the owner.")


def _signature_field() -> forms.CharField:
    return forms.CharField(
        required=False, max_length=MAX_SIGNATURE_CHARACTERS, help_text="One line, appended to every reply."
    )


class ConnectionForm(forms.Form):
    """The arguments of `create_connection`."""

    owner = ReachableField(Human)
    kind = forms.ChoiceField(choices=[(provider.value, provider.value) for provider in Provider])
    name = forms.CharField(max_length=MAX_NAME_CHARACTERS)
    account_key = forms.CharField(
        required=False,
        help_text="GitHub: a host (empty: github.com); Gitea and Cairn: the https base URL; Slack: the team id.",
    )
    secret = SecretField()
    targets = _targets_field()
    endpoints = _endpoints_field()
    signature_line = _signature_field()


class EditForm(forms.ModelForm):  # type: ignore[type-arg]
    """The arguments of `edit_connection`; being valid means being saved, since the use case decides."""

    principal: ClassVar[Principal]
    acting: ClassVar[Human]

    name = forms.CharField(max_length=MAX_NAME_CHARACTERS)
    targets = _targets_field()
    endpoints = _endpoints_field()
    signature_line = _signature_field()

    class Meta:
        model = Connection
        fields = ()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        row = self.instance
        self.initial.update(
            name=row.name,
            targets="\n".join(row.targets),
            endpoints=row.endpoints,
            signature_line=row.signature_line,
        )
        owner = Principal(human_id=row.owner_human_id, team_id=row.owner_team_id)
        self.fields["endpoints"].queryset = Endpoint.objects.within_reach(owner)  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        """Save through the use case; its refusal is the form's error."""
        super().clean()
        if not self.errors:
            try:
                self._save()
            except SwitchboardError as error:
                add_refusal(self, error)
        return self.cleaned_data

    def _post_clean(self) -> None:
        """Copy nothing onto the instance: the use case has written the row."""

    def _save(self) -> None:
        edit_connection(
            principal=self.principal,
            acting=self.acting,
            connection_id=str(self.instance.pk),
            **self.cleaned_data | {"endpoints": _ids(self.cleaned_data["endpoints"])},
        )


class RotateForm(forms.Form):
    """The argument of `rotate_connection`."""

    secret = SecretField(label="New secret")


@admin.register(Connection)
class ConnectionAdmin(CreatingAdmin):
    """Connections: the secret goes in and stays in; of the page only name, allowlists and signature change."""

    creation_form = ConnectionForm
    form = EditForm
    actions = ("test",)
    list_display = ("name", "kind", "account_key", "fingerprint", "owner_name", "last_test_ok", "last_used_at")
    list_filter = ("kind", "last_test_ok", "created_at")
    list_select_related = ("owner_human", "owner_team")
    search_fields = ("name", "account_key", "=fingerprint", "owner_human__username", "owner_team__slug")
    ordering = ("-id",)
    facts = (
        "id",
        "kind",
        "account_key",
        "fingerprint",
        "owner_human",
        "owner_team",
        "created_by",
        "acting_human",
        "acting_endpoint",
        "created_at",
        "rotated_at",
        "last_used_at",
        "last_test_at",
        "last_test_ok",
        "last_test_class",
        "login",
        "bot_id",
        "throttled_until",
    )
    shown = ("shown_name", "shown_targets", "shown_endpoints", "shown_signature_line")
    readonly_fields = (*facts, *shown)

    def create(self, request: HttpRequest, values: dict[str, Any]) -> Created:
        """Store the credential for the chosen owner."""
        connection = create_connection(
            principal=Principal.of_human(values["owner"]),
            acting=acting_human(request),
            kind=values["kind"],
            name=values["name"],
            account_key=values["account_key"],
            secret=values["secret"],
            targets=values["targets"],
            endpoints=_ids(values["endpoints"]),
            signature_line=values["signature_line"],
        )
        return Created(connection, {})

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Return whether the human may edit connections: Django's change permission."""
        return self.has_operate_permission(request)

    def get_fieldsets(self, request: HttpRequest, obj: Connection | None = None) -> Any:
        """Return the facts, and what can be changed: to edit, or only to read."""
        editable = ("name", "targets", "endpoints", "signature_line")
        use = editable if self.has_change_permission(request, obj) else self.shown
        return ((None, {"fields": self.facts}), ("Use", {"fields": use}))

    def get_form(self, request: HttpRequest, obj: Connection | None = None, change: bool = False, **kwargs: Any) -> Any:
        """Return the form that acts for the signed-in human."""
        form: Any = super().get_form(request, obj, change, **kwargs)
        form.principal, form.acting = staff_principal(request), acting_human(request)
        return form

    def save_model(self, request: HttpRequest, obj: Connection, form: Any, change: Any) -> None:
        """Write nothing: the form has saved through the use case."""

    def get_urls(self) -> list[Any]:
        """Return the stock pages and the one that replaces a secret."""
        rotate = self.admin_site.admin_view(self.rotate_view)
        return [path("<path:object_id>/rotate/", rotate, name="connections_connection_rotate"), *super().get_urls()]

    @method_decorator(sensitive_post_parameters())
    def rotate_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Ask for a new secret and replace the present one."""
        connection = self.get_object(request, object_id)
        if connection is None:
            return self._get_obj_does_not_exist_redirect(request, self.opts, object_id)  # type: ignore[attr-defined,no-any-return]
        if not self.has_operate_permission(request):
            raise PermissionDenied
        form = RotateForm(request.POST if request.method == "POST" else None)
        if form.is_valid() and self._rotated(request, connection, form):
            return HttpResponseRedirect(reverse("admin:connections_connection_change", args=[connection.pk]))
        context = {
            **self.admin_site.each_context(request),
            "title": f"Replace the secret of {connection}",
            "opts": self.opts,
            "original": connection,
            "form": form,
        }
        return TemplateResponse(request, "admin/connections/connection/rotate.html", context)

    def delete_model(self, request: HttpRequest, obj: Connection) -> None:
        """Delete through the use case."""
        delete_connection(principal=staff_principal(request), acting=acting_human(request), connection_id=str(obj.pk))

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Connection]) -> None:
        """Delete each through the use case."""
        for connection in queryset:
            self.delete_model(request, connection)

    @admin.action(description="Test the selected connections", permissions=["operate"])
    def test(self, request: HttpRequest, connections: QuerySet[Connection]) -> None:
        """Ask each provider who the credential is, and tell what it said."""
        if connections.count() > TESTED_AT_ONCE:
            self.message_user(request, f"Choose at most {TESTED_AT_ONCE} connections.", messages.ERROR)
            return
        for connection in connections:
            self._test(request, connection)

    @admin.display(description="name")
    def shown_name(self, connection: Connection) -> str:
        """Return the name to read."""
        return connection.name

    @admin.display(description="targets")
    def shown_targets(self, connection: Connection) -> SafeString:
        """Return the targets allowlist to read."""
        return as_pre(connection.targets)

    @admin.display(description="endpoints")
    def shown_endpoints(self, connection: Connection) -> SafeString:
        """Return the endpoints allowlist to read."""
        return as_pre(connection.endpoints)

    @admin.display(description="signature line")
    def shown_signature_line(self, connection: Connection) -> str:
        """Return the signature line to read."""
        return connection.signature_line

    def _rotated(self, request: HttpRequest, connection: Connection, form: RotateForm) -> bool:
        try:
            rotate_connection(
                principal=staff_principal(request),
                acting=acting_human(request),
                connection_id=str(connection.pk),
                secret=form.cleaned_data["secret"],
            )
        except SwitchboardError as error:
            add_refusal(form, error)
            return False
        self.log_change(request, connection, "Replaced the secret.")
        self.message_user(request, f"The secret of {connection} was replaced.", messages.SUCCESS)
        return True

    def _test(self, request: HttpRequest, connection: Connection) -> None:
        try:
            tested = test_connection(principal=staff_principal(request), connection_id=str(connection.pk))
        except SwitchboardError as error:
            self.message_user(request, f"{connection}: {error.message}", messages.ERROR)
            return
        level = messages.SUCCESS if tested.ok else messages.ERROR
        self.message_user(request, f"{connection}: {tested.message}", level)


def _ids(endpoints: QuerySet[Endpoint]) -> list[str]:
    return [str(endpoint.pk) for endpoint in endpoints]
