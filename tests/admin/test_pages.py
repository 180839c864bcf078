"""Every page of every model answers, whatever its records hold, and shows it as text."""

import pytest
from django.contrib import admin
from django.test import Client

from switchboard.accounts.models import Human
from switchboard.admin_site import ReachAdmin
from tests.admin.conftest import HOSTILE, World, make_staff, signed_in
from tests.admin.paths import all_paths, list_path, page_path

OURS = {"accounts", "todos", "routing"}
pytestmark = pytest.mark.django_db


def statuses(client: Client, world: World) -> dict[str, int]:
    return {path: client.get(path).status_code for record in world.records for path in all_paths(record)}


def test_every_model_of_ours_is_registered_with_reach() -> None:
    registered = {model: page for model, page in admin.site._registry.items() if model._meta.app_label in OURS}

    assert {model.__name__ for model in registered} >= {
        *("Human", "Team", "Membership", "Endpoint", "ApiToken", "Webhook", "WebhookRoute", "Event"),
        *("OnceClaim", "Refusal", "Todo"),
    }
    assert all(isinstance(page, ReachAdmin) for page in registered.values())


def test_every_page_answers_a_superuser(root: Human, world: World) -> None:
    assert set(statuses(signed_in(root), world).values()) <= {200, 302, 403}


def test_every_list_and_record_opens_for_a_superuser(root: Human, world: World) -> None:
    client = signed_in(root)
    paths = [path for r in world.records for path in (list_path(type(r)), page_path(r, "change"))]

    assert {path: client.get(path).status_code for path in paths} == dict.fromkeys(paths, 200)


def test_every_page_answers_the_staff_owner(world: World) -> None:
    assert set(statuses(signed_in(world.owner), world).values()) <= {200, 302, 403}


def test_every_list_and_record_opens_for_the_staff_owner(world: World) -> None:
    client = signed_in(world.owner)
    paths = [path for r in world.records for path in (list_path(type(r)), page_path(r, "change"))]

    assert {path: client.get(path).status_code for path in paths} == dict.fromkeys(paths, 200)


def test_every_page_answers_a_staff_stranger(stranger: Human, world: World) -> None:
    assert set(statuses(signed_in(stranger), world).values()) <= {200, 302, 403}


def test_staff_without_a_permission_are_refused(world: World) -> None:
    bare = Client()
    world.owner.user_permissions.clear()
    bare.force_login(world.owner)

    assert bare.get(page_path(world.webhook, "change")).status_code == 403


def test_a_human_who_is_not_staff_is_sent_to_sign_in(world: World) -> None:
    world.owner.is_staff = False
    world.owner.save()

    assert signed_in(world.owner).get(list_path(type(world.event))).status_code == 302


def test_markup_from_producers_is_shown_as_text_on_every_page(root: Human, world: World) -> None:
    client = signed_in(root)
    pages = [client.get(path).content.decode() for record in world.records for path in all_paths(record)]

    assert not any("<img src=x" in page or "<script>alert" in page for page in pages)
    assert any("&lt;img src=x onerror=alert(1)&gt;" in page for page in pages)


def test_the_event_page_shows_the_payload_with_exact_digits(root: Human, world: World) -> None:
    page = signed_in(root).get(page_path(world.event, "change")).content.decode()

    assert "9007199254740993" in page


def test_control_characters_of_a_body_are_shown_as_escapes(root: Human, world: World) -> None:
    page = signed_in(root).get(page_path(world.event, "change")).content.decode()

    assert r"a\u0000b" in page
    assert r"\u202e" in page
    assert not {"\0", "\x7f", "\u202e"} & set(page)


@pytest.mark.parametrize(
    "body", [b"not json \x00 \xff\xfe", b"", b'"\\ud800"', b"[" * 500 + b"]" * 500, b"[" * 100_000, b"9" * 5000]
)
def test_a_body_of_any_kind_opens(root: Human, world: World, body: bytes) -> None:
    type(world.event).objects.filter(pk=world.event.pk).update(body=body)

    assert signed_in(root).get(page_path(world.event, "change")).status_code == 200


def test_a_dense_deep_body_makes_a_page_of_bounded_size(root: Human, world: World) -> None:
    body = b"[" * 500 + b",".join([b"1"] * 200_000) + b"]" * 500
    type(world.event).objects.filter(pk=world.event.pk).update(body=body)
    page = signed_in(root).get(page_path(world.event, "change"))

    assert len(page.content) < 400_000
    assert "cut here" in page.content.decode()


def test_todo_trace_work_order_and_result_are_shown(world: World) -> None:
    page = signed_in(world.owner).get(page_path(world.todo, "change")).content.decode()

    assert page.count("&lt;img src=x") >= 4
    assert HOSTILE not in page


@pytest.mark.parametrize("query", ["q=a%00b", "source__exact=%00", "p=99999999999999", "received_at__gte=garbage"])
def test_a_malformed_list_query_is_no_error(root: Human, world: World, query: str) -> None:
    assert signed_in(root).get(f"{list_path(type(world.event))}?{query}").status_code in {200, 302}


def test_no_page_needs_inline_script_or_style(root: Human, world: World) -> None:
    client = signed_in(root)
    for record in world.records:
        answer = client.get(page_path(record, "change"))
        page = answer.content.decode()
        assert "unsafe-inline" not in answer["Content-Security-Policy"]
        assert "<style" not in page
        assert "onclick=" not in page


def test_history_cannot_be_written_by_hand(root: Human, world: World) -> None:
    client = signed_in(root)
    for record in (world.event, world.todo, world.claim, world.refusal):
        assert client.post(page_path(record, "change"), {"title": "x"}).status_code == 403
        assert client.post(page_path(record, "delete"), {"post": "yes"}).status_code == 403


@pytest.mark.parametrize("kind", ["endpoint", "event", "todo", "webhook", "token", "route"])
def test_save_as_new_is_refused_everywhere(root: Human, world: World, kind: str) -> None:
    record = getattr(world, kind)
    before = type(record).objects.count()

    assert signed_in(root).post(page_path(record, "change"), {"_saveasnew": "1"}).status_code == 403
    assert type(record).objects.count() == before


def test_a_superuser_edits_a_human_and_sets_a_password(root: Human, world: World) -> None:
    client = signed_in(root)
    added = client.post(
        "/admin/accounts/human/add/",
        {
            "username": "newcomer",
            "usable_password": "true",
            "password1": "correct horse staple",
            "password2": "correct horse staple",
        },
    )
    newcomer = Human.objects.get(username="newcomer")

    assert added.status_code == 302
    assert client.get(page_path(newcomer, "change")).status_code == 200
    assert client.post(page_path(newcomer, "change"), {"username": "renamed", "is_active": "on"}).status_code == 302
    assert client.get(f"/admin/accounts/human/{newcomer.pk}/password/").status_code == 200
    newcomer.refresh_from_db()
    assert newcomer.username == "renamed"
    assert newcomer.check_password("correct horse staple")


def test_staff_cannot_raise_themselves(world: World) -> None:
    client = signed_in(make_staff("climber"))
    climber = Human.objects.get(username="climber")
    answer = client.post(page_path(climber, "change"), {"username": "climber", "is_superuser": "on"})
    climber.refresh_from_db()

    assert answer.status_code == 403
    assert not climber.is_superuser


@pytest.mark.parametrize("query", ["received_at__year=99999", "received_at__year=0"])
def test_a_time_that_no_calendar_has_is_no_failure(world: World, query: str) -> None:
    answer = signed_in(world.owner).get(f"/admin/routing/event/?{query}")
    assert answer.status_code in {200, 302, 400}


def test_there_is_no_page_on_the_site_for_a_record(world: World) -> None:
    assert signed_in(world.owner).get("/admin/r/1/1/").status_code == 404
