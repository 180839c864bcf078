"""The actions of the lists call the use cases; a refusal is an error message, never a server error."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.messages import get_messages
from django.db.models import Model
from django.test import Client
from django.utils import timezone

from routing.models import Event, Webhook, WebhookRoute
from routing.routes import add_route
from routing.webhooks import create_webhook
from switchboard.accounts.models import Human
from switchboard.accounts.reach import Principal
from switchboard.todos.lifecycle import claim
from switchboard.todos.models import Todo
from tests.admin.conftest import World, make_staff, signed_in
from tests.admin.paths import list_path, page_path
from tests.factories import make_endpoint

pytestmark = pytest.mark.django_db


def act(client: Client, record: Model, action: str) -> Any:
    return client.post(list_path(type(record)), {"action": action, "_selected_action": str(record.pk)})


def told(answer: Any) -> list[tuple[str, str]]:
    return [(message.level_tag, message.message) for message in get_messages(answer.wsgi_request)]


def test_endpoints_are_revoked(world: World) -> None:
    answer = act(signed_in(world.owner), world.endpoint, "revoke")
    world.endpoint.refresh_from_db()

    assert told(answer) == [("success", "1 revoked.")]
    assert world.endpoint.revoked_at is not None
    assert LogEntry.objects.get().change_message == "revoked"


@pytest.mark.parametrize(("action", "new_address"), [("rotate_now", False), ("rotate_address", True)])
def test_a_rotation_shows_what_is_new_once(world: World, action: str, new_address: bool) -> None:
    client = signed_in(world.owner)
    answer = act(client, world.webhook, action)
    page = answer.content.decode()
    secret = re.search(r"whsec_[\w-]{43}", page)
    address = re.search(r"(?<=/webhooks/w/)[\w-]{43}", page)

    assert secret
    assert address
    assert (address[0] != world.secrets["ingest token"]) is new_address
    after = client.get(list_path(Webhook)).content.decode() + client.get("/admin/").content.decode()
    assert secret[0] not in after
    assert address[0] not in after


def test_a_rotation_with_overlap_keeps_the_former_secret_for_a_day(world: World) -> None:
    act(signed_in(world.owner), world.webhook, "rotate_with_overlap")
    world.webhook.refresh_from_db()
    left = world.webhook.previous_ends_at - timezone.now() if world.webhook.previous_ends_at else timedelta(0)

    assert timedelta(hours=23) < left <= timedelta(hours=24)
    assert world.webhook.previous_secret_sealed


def test_a_refused_rotation_is_an_error_message(world: World) -> None:
    slack = create_webhook(
        endpoint=world.endpoint, source_type="slack", target_queue="work", signing_secret="issued"
    ).webhook
    answer = act(signed_in(world.owner), slack, "rotate_now")

    assert answer.status_code == 302
    assert told(answer)[0][0] == "error"
    assert "issues its signing secret itself" in told(answer)[0][1]


def test_a_deleted_webhook_leaves_its_events_and_todos(world: World) -> None:
    answer = signed_in(world.owner).post(page_path(world.webhook, "delete"), {"post": "yes"})

    assert answer.status_code == 302
    assert not Webhook.objects.exists()
    assert Event.objects.get().webhook is None
    assert Todo.objects.exists()


def test_selected_webhooks_are_deleted_after_a_confirmation(world: World) -> None:
    client = signed_in(world.owner)
    asked = act(client, world.webhook, "delete_selected")
    assert Webhook.objects.exists()
    chosen = {"action": "delete_selected", "_selected_action": str(world.webhook.pk), "post": "yes"}
    client.post(list_path(Webhook), chosen)

    assert "Are you sure" in asked.content.decode()
    assert not Webhook.objects.exists()


def test_a_route_is_approved_by_the_targets_owner_only(world: World) -> None:
    approver = make_staff("approver")
    theirs = make_endpoint(approver).endpoint
    route = add_route(
        principal=Principal.of_human(world.owner),
        webhook_id=str(world.webhook.pk),
        endpoint_id=str(theirs.pk),
        acting_human=world.owner,
    )
    refused = act(signed_in(world.owner), route, "approve")
    route.refresh_from_db()
    assert (told(refused)[0][0], route.granted_at) == ("error", None)

    act(signed_in(approver), route, "approve")
    route.refresh_from_db()
    assert route.granted_at is not None
    assert route.approved_by == approver


def test_a_route_is_removed(world: World) -> None:
    signed_in(world.owner).post(page_path(world.route, "delete"), {"post": "yes"})

    assert not WebhookRoute.objects.exists()


def test_a_claimed_todo_is_released(world: World) -> None:
    claim(endpoint=world.endpoint, todo_id=str(world.todo.pk))
    act(signed_in(world.owner), world.todo, "release")
    world.todo.refresh_from_db()

    assert world.todo.state == "pending"


def test_a_todo_is_closed_as_done(world: World) -> None:
    act(signed_in(world.owner), world.todo, "complete")
    world.todo.refresh_from_db()

    assert world.todo.state == "done"


def test_a_todo_is_closed_as_failed_and_retried(world: World) -> None:
    client = signed_in(world.owner)
    act(client, world.todo, "fail")
    world.todo.refresh_from_db()
    assert world.todo.state == "failed"
    act(client, world.todo, "retry")
    world.todo.refresh_from_db()

    assert world.todo.state == "pending"


def test_a_move_that_is_not_allowed_is_an_error_message_with_the_title_as_text(world: World) -> None:
    client = signed_in(world.owner)
    answer = act(client, world.todo, "retry")
    page = client.get(list_path(Todo)).content.decode()

    assert answer.status_code == 302
    assert "Only a todo that has failed can be retried." in page
    assert "<img src=x" not in page


def test_actions_need_the_change_permission(world: World) -> None:
    viewer = Human.objects.get(pk=world.owner.pk)
    viewer.user_permissions.set(viewer.user_permissions.filter(codename__startswith="view_"))
    act(signed_in(viewer), world.todo, "complete")
    world.todo.refresh_from_db()

    assert world.todo.state == "pending"
