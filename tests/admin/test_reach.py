"""A staff stranger sees nothing of the owner: what is out of reach answers exactly like an unknown id."""

from uuid import uuid4

import pytest
from django.test import Client

from routing.models import Event, Webhook
from switchboard.accounts.models import ApiToken, Endpoint, Human
from switchboard.todos.models import Todo
from tests.admin.conftest import HOSTILE, World, signed_in
from tests.admin.paths import PAGES, add_path, list_path, page_path

pytestmark = pytest.mark.django_db
AUTOCOMPLETE = "/admin/autocomplete/"


@pytest.fixture
def outside(stranger: Human, world: World) -> Client:
    return signed_in(stranger)


def test_every_list_is_empty_for_a_stranger(outside: Client, world: World, stranger: Human) -> None:
    listed = {
        type(r).__name__: [row.pk for row in outside.get(list_path(type(r))).context["cl"].result_list]
        for r in world.records
    }

    assert listed == {name: [stranger.pk] if name == "Human" else [] for name in listed}


def test_the_owner_sees_each_record_once(world: World) -> None:
    client = signed_in(world.owner)
    for record in world.records:
        rows = [row.pk for row in client.get(list_path(type(record))).context["cl"].result_list]
        assert rows.count(record.pk) == 1


def test_a_search_for_the_owners_records_finds_nothing(outside: Client, world: World) -> None:
    for record in world.records:
        for term in (str(record.pk), "owner", HOSTILE):
            answer = outside.get(list_path(type(record)), {"q": term})
            assert answer.status_code == 200
            assert answer.context["cl"].result_count == 0


@pytest.mark.parametrize("page", PAGES)
def test_a_foreign_record_answers_like_an_unknown_id(outside: Client, world: World, page: str) -> None:
    for record in world.records:
        unknown = uuid4() if record._meta.pk.get_internal_type() == "UUIDField" else 987_654
        foreign, absent = (outside.get(page_path(record, page, pk=pk)) for pk in (record.pk, unknown))
        assert (foreign.status_code, foreign.get("Location")) == (absent.status_code, absent.get("Location"))
        assert foreign.status_code in {302, 403}
        told = outside.get("/admin/").content.decode()
        assert not any(word in told for word in ("owners", "olga", "&lt;img"))


def test_a_foreign_record_cannot_be_posted_to(outside: Client, world: World) -> None:
    rules = {"rules": "[]", "default_action": '{"drop": true}', "params": "", "version": "0"}
    outside.post(page_path(world.webhook, "change"), rules)
    outside.post(page_path(world.webhook, "delete"), {"post": "yes"})
    outside.post(page_path(world.token, "delete"), {"post": "yes"})
    world.webhook.refresh_from_db()

    assert world.webhook.default_action is None
    assert ApiToken.objects.filter(pk=world.token.pk).exists()


@pytest.mark.parametrize(
    ("kind", "action"),
    [
        ("endpoint", "revoke"),
        ("webhook", "rotate_now"),
        ("webhook", "delete_selected"),
        ("route", "approve"),
        ("route", "delete_selected"),
        ("todo", "complete"),
        ("todo", "fail"),
    ],
)
def test_an_action_on_a_foreign_record_does_nothing(outside: Client, world: World, kind: str, action: str) -> None:
    record = getattr(world, kind)
    before = type(record).objects.filter(pk=record.pk).values().get()
    outside.post(list_path(type(record)), {"action": action, "_selected_action": str(record.pk), "post": "yes"})

    assert type(record).objects.filter(pk=record.pk).values().get() == before


def test_autocomplete_offers_a_stranger_nothing_of_the_owner(outside: Client, world: World) -> None:
    for app, model, field in [
        ("accounts", "membership", "team"),
        ("accounts", "membership", "human"),
        ("routing", "webhook", "endpoint"),
        ("routing", "webhookroute", "webhook"),
        ("routing", "event", "webhook"),
        ("todos", "todo", "endpoint"),
        ("todos", "todo", "event"),
    ]:
        query = {"app_label": app, "model_name": model, "field_name": field, "term": ""}
        texts = [row["text"] for row in outside.get(AUTOCOMPLETE, query).json()["results"]]
        assert texts in ([], ["stranger"])


def test_autocomplete_offers_the_owner_their_own(world: World) -> None:
    query = {"app_label": "todos", "model_name": "todo", "field_name": "endpoint", "term": "second"}
    offered = signed_in(world.owner).get(AUTOCOMPLETE, query).json()["results"]

    assert [row["id"] for row in offered] == [str(world.target.pk)]


@pytest.mark.parametrize("model", [Endpoint, ApiToken, Webhook])
def test_the_choices_of_an_add_form_stay_within_reach(outside: Client, world: World, model: type) -> None:
    page = outside.get(add_path(model)).content.decode()

    assert "olga" not in page
    assert "owners" not in page


def test_a_foreign_choice_is_refused_like_an_unknown_one(outside: Client, world: World) -> None:
    answers = [
        outside.post(add_path(Webhook), {"endpoint": str(pk), "source_type": "github", "target_queue": "work"})
        for pk in (world.endpoint.pk, uuid4())
    ]
    errors = [answer.context["adminform"].form.errors for answer in answers]

    assert errors[0] == errors[1]
    assert "endpoint" in errors[0]
    assert Webhook.objects.count() == 1


def test_a_stranger_cannot_vend_for_another_human(outside: Client, world: World) -> None:
    before = Endpoint.objects.count()
    answer = outside.post(
        add_path(Endpoint), {"human": str(world.owner.pk), "name": "x", "queues": "q", "verbs": "claim"}
    )

    assert "human" in answer.context["adminform"].form.errors
    assert Endpoint.objects.count() == before


def test_the_lists_ask_few_questions_of_the_database(
    root: Human, world: World, django_assert_max_num_queries: pytest.FixtureRequest
) -> None:
    client = signed_in(root)
    for model in (Event, Todo):
        client.get(list_path(model))
        with django_assert_max_num_queries(7):  # type: ignore[operator]
            client.get(list_path(model))
