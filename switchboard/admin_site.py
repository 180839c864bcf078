"""What every admin page shares: reach, use cases behind forms and actions, and secrets that are shown once.

A superuser reaches everything. Other staff need Django's model permissions *and* reach: `view_<model>` to read,
`add_<model>` to create, `delete_<model>` to remove, and `change_<model>` for rules and for every action of a list
(revoke, rotate, approve, retry and so on). Whatever is out of reach answers exactly like an unknown id. Humans,
teams and memberships are changed by superusers only. Give `change_group` and `add_group` to nobody else: a group
carries permissions.
"""
# ruff: noqa: ARG002 - the admin's hooks have the arguments that they have

import json
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, cast

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.helpers import AdminErrorList, AdminForm
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.views.main import ERROR_FLAG
from django.core.exceptions import PermissionDenied
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.decorators import method_decorator
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.views.decorators.debug import sensitive_post_parameters

from switchboard.accounts.models import Human
from switchboard.accounts.reach import Principal
from switchboard.errors import SwitchboardError
from switchboard.ids import parse_id

SHOWN_CHARACTERS = 200_000


@dataclass(frozen=True, repr=False)
class Created:
    """What a use case made, and by label the texts that are shown with it this once."""

    record: Model
    shown_once: Mapping[str, str]


class ReachableField(forms.ModelChoiceField):  # type: ignore[type-arg]
    """A choice among the rows of a model that the signed-in human reaches; empty until a page offers it."""

    def __init__(self, model: type[Model], **options: Any) -> None:
        super().__init__(model._default_manager.none(), **options)
        self.model = model


class ReachableChoices(forms.ModelMultipleChoiceField):  # type: ignore[type-arg]
    """Any number of choices among the rows of a model that the signed-in human reaches."""

    def __init__(self, model: type[Model], **options: Any) -> None:
        super().__init__(model._default_manager.none(), **options)
        self.model = model


def acting_human(request: HttpRequest) -> Human:
    """Return the signed-in human; raise PermissionDenied for anybody else."""
    if not isinstance(request.user, Human):
        raise PermissionDenied
    return request.user


def staff_principal(request: HttpRequest) -> Principal:
    """Return the principal of the signed-in human, where a superuser is unrestricted."""
    return Principal.of_staff(acting_human(request))


class ReachAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Lists, pages, choices and searches that never leave the reach of the signed-in human.

    `id_fields` are the columns that a search for an id looks into. Filters of the address line are limited to
    `list_filter`: any other column, such as a hash, could be guessed letter by letter.
    """

    id_fields: ClassVar[Sequence[str]] = ("pk",)
    show_full_result_count = False

    def within_reach(self, records: QuerySet[Any], principal: Principal) -> QuerySet[Any]:
        """Return the records that the principal reaches; by default the model's own word for it."""
        reachable: QuerySet[Any] = records.within_reach(principal)  # type: ignore[attr-defined]
        return reachable

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Return what the signed-in human reaches; every stock page starts from it."""
        return self.within_reach(super().get_queryset(request), staff_principal(request))

    def reachable_choices(self, request: HttpRequest, model: type[Model]) -> QuerySet[Any]:
        """Return the rows of a related model that may be chosen: those its own admin pages would show."""
        related = self.admin_site._registry.get(model)
        return related.get_queryset(request) if isinstance(related, ReachAdmin) else model._default_manager.all()

    def get_field_queryset(self, db: str | None, db_field: Any, request: HttpRequest) -> QuerySet[Any] | None:
        """Limit the choices of a relation to reach."""
        return self.reachable_choices(request, db_field.remote_field.model)

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        """Refuse NUL in filters and searches the way the admin refuses any malformed one: databases do too."""
        if any("\0" in value for _, values in request.GET.lists() for value in values):
            raise IncorrectLookupParameters
        return super().get_changelist_instance(request)

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Answer a filter that no calendar or number has as Django answers other bad filters."""
        try:
            answer: HttpResponse = super().changelist_view(request, extra_context)
        except (OverflowError, ValueError):
            return HttpResponseRedirect(f"{request.path}?{ERROR_FLAG}=1")
        return answer

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Look an id up in the id columns; search any other term as usual."""
        if "\0" in search_term:
            return queryset.none(), False
        identifier = parse_id(search_term.strip())
        if identifier is None:
            return super().get_search_results(request, queryset, search_term)
        wanted = Q()
        for field in self.id_fields:
            wanted |= Q(**{field: identifier})
        return queryset.filter(wanted), False

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """Allow the lookups of the list's own filters, nothing else."""
        named = any(lookup == name or lookup.startswith(f"{name}__") for name in self._filters(request))
        return named and super().lookup_allowed(lookup, value, request)

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """Refuse "save as new", which the stock view obeys although no page offers it."""
        if "_saveasnew" in request.POST:
            raise PermissionDenied
        return super().changeform_view(request, object_id, form_url, extra_context)

    def has_operate_permission(self, request: HttpRequest) -> bool:
        """Return whether the human may run this model's actions: Django's change permission."""
        return admin.ModelAdmin.has_change_permission(self, request)

    def perform(self, request: HttpRequest, records: QuerySet[Any], act: Callable[[Any], object], *, done: str) -> None:
        """Run a use case for each record; tell refusals as errors, and log and count the others as `done`."""
        count = 0
        for record in records:
            try:
                act(record)
            except SwitchboardError as error:
                self.message_user(request, f"{record}: {error.message}", messages.ERROR)
            else:
                self.log_change(request, record, done)
                count += 1
        if count:
            self.message_user(request, f"{count} {done}.", messages.SUCCESS)

    def show_once(self, request: HttpRequest, shown: Sequence[tuple[str, Mapping[str, str]]]) -> HttpResponse:
        """Answer with secrets by title and label; nothing of them is kept for a later page."""
        context = {
            **self.admin_site.each_context(request),
            "title": "Shown this once",
            "opts": self.opts,
            "shown": [(title, list(texts.items())) for title, texts in shown],
        }
        return TemplateResponse(request, "admin/shown_once.html", context)

    def list_url(self) -> str:
        """Return the path of the model's list."""
        return reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_changelist")

    def _filters(self, request: HttpRequest) -> Iterator[str]:
        for item in self.get_list_filter(request):
            if isinstance(item, (tuple, list)):
                yield str(item[0])
            else:
                yield getattr(item, "parameter_name", None) or str(item)


class ViewOnlyAdmin(ReachAdmin):
    """Records whose pages only show them: actions and use cases change them, or nothing does."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Return False: nobody writes such a record by hand."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Return False: nobody rewrites such a record by hand."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Return False: history stays."""
        return False


class SuperuserAdmin(ReachAdmin):
    """Records that say who may do what: staff may see theirs, only superusers change them."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Return whether a superuser asks."""
        return acting_human(request).is_superuser

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Return whether a superuser asks."""
        return acting_human(request).is_superuser

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Return whether a superuser asks."""
        return acting_human(request).is_superuser


class CreatingAdmin(ReachAdmin):
    """Records that a use case creates from a plain form, after which they are shown and not edited."""

    creation_form: ClassVar[type[forms.Form]]

    @abstractmethod
    def create(self, request: HttpRequest, values: dict[str, Any]) -> Created:
        """Call the use case with the form's values; may raise SwitchboardError."""

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Return False: actions change such a record."""
        return False

    @method_decorator(sensitive_post_parameters())
    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """Create through the use case when there is no object yet, else show the stock page."""
        if object_id is not None:
            return super().changeform_view(request, object_id, form_url, extra_context)
        if not self.has_add_permission(request):
            raise PermissionDenied
        return self._creation_view(request)

    def _creation_view(self, request: HttpRequest) -> HttpResponse:
        form = self.creation_form(request.POST if request.method == "POST" else None)
        for field in form.fields.values():
            if isinstance(field, (ReachableField, ReachableChoices)):
                field.queryset = self.reachable_choices(request, field.model)
        created = self._created(request, form) if form.is_valid() else None
        return self._creation_page(request, form) if created is None else self._answer(request, created)

    def _created(self, request: HttpRequest, form: forms.Form) -> Created | None:
        try:
            created = self.create(request, form.cleaned_data)
        except SwitchboardError as error:
            add_refusal(form, error)
            return None
        self.log_addition(request, created.record, [{"added": {}}])
        return created

    def _answer(self, request: HttpRequest, created: Created) -> HttpResponse:
        if created.shown_once:
            return self.show_once(request, [(str(created.record), created.shown_once)])
        self.message_user(request, f"{created.record} was added.", messages.SUCCESS)
        return HttpResponseRedirect(self.list_url())

    def _creation_page(self, request: HttpRequest, form: forms.Form) -> HttpResponse:
        fieldsets: Any = [(None, {"fields": list(form.fields)})]
        plain = cast("Any", form)  # the stock template needs no model form
        context = {
            **self.admin_site.each_context(request),
            "title": f"Add {self.opts.verbose_name}",
            "adminform": AdminForm(plain, fieldsets, {}, model_admin=self),
            "errors": AdminErrorList(plain, []),
            "media": self.media + form.media,
            "inline_admin_formsets": [],
            "show_save_and_continue": False,
            "show_save_and_add_another": False,
        }
        return self.render_change_form(request, context, add=True)


def add_refusal(form: forms.BaseForm, error: SwitchboardError) -> None:
    """Put a use case's refusal on the field that it names, else on the whole form."""
    field = error.extra.get("field")
    form.add_error(field if field in form.fields else None, error.message)


def as_pre(value: object) -> SafeString:
    """Return a JSON value as preformatted, escaped text with exact integers; a text stands as it is."""
    return format_html("<pre>{}</pre>", readable(value))


def readable(value: object, *, limit: int = SHOWN_CHARACTERS) -> str:
    """Return a JSON value, indented, or a text, in at most about `limit` characters.

    Control and format characters, NUL and lone surrogates stand as JSON escapes, so that nothing in it can
    reorder the page or fail to encode.
    """
    chunks = iter([value]) if isinstance(value, str) else _json_chunks(value)
    shown, size = [], 0
    for chunk in chunks:
        shown.append(_escape_unprintable(chunk[: limit - size]))
        size += len(chunk)
        if size > limit:
            return "".join(shown) + "\n… (cut here)"
    return "".join(shown)


def _json_chunks(value: object) -> Iterator[str]:
    # Indented as a whole, a deeply nested body would grow to hundreds of times its size.
    return json.JSONEncoder(indent=2, ensure_ascii=False).iterencode(value)


def _escape_unprintable(text: str) -> str:
    return "".join(char if char.isprintable() or char in "\n\t" else json.dumps(char)[1:-1] for char in text)
