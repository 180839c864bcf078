"""A webhook's page edits its routing configuration through `set_rules`; the rest of the page is read-only."""

import json
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client

from routing.models import RuleTally, Webhook
from switchboard.accounts.models import Human
from tests.admin.conftest import HOSTILE, World, signed_in
from tests.admin.paths import page_path

pytestmark = pytest.mark.django_db
RULE = {"id": "bots", "name": HOSTILE, "expr": '.payload.sender.type == "Bot"', "action": {"drop": True}}


def save(client: Client, webhook: Webhook, **fields: str) -> Any:
    values = {"rules": "[]", "default_action": "", "params": "{}", "version": str(webhook.rules_version)}
    return client.post(page_path(webhook, "change"), values | fields)


def errors(answer: Any) -> Any:
    return answer.context["adminform"].form.errors


def test_rules_default_and_params_are_saved_together(world: World) -> None:
    answer = save(
        signed_in(world.owner),
        world.webhook,
        rules=json.dumps([RULE]),
        default_action='{"queue": "work"}',
        params='{"big": 9007199254740993}',
    )
    world.webhook.refresh_from_db()

    assert answer.status_code == 302
    assert world.webhook.routing_rules == [RULE]
    assert world.webhook.default_action == {"queue": "work"}
    assert world.webhook.routing_params == {"big": 9007199254740993}
    assert world.webhook.rules_version == 1
    assert LogEntry.objects.get().user == world.owner


def test_what_the_page_shows_can_be_saved_again_unchanged(world: World) -> None:
    client = signed_in(world.owner)
    save(client, world.webhook, rules=json.dumps([RULE]))
    form = client.get(page_path(world.webhook, "change")).context["adminform"].form
    again = client.post(page_path(world.webhook, "change"), dict(form.initial))
    world.webhook.refresh_from_db()

    assert again.status_code == 302
    assert world.webhook.rules_version == 1


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ({**RULE, "expr": ".a ||"}, "bots"),
        ({**RULE, "expr": "now > 1"}, "bots"),
        ({**RULE, "expr": '"x" * 1000000000'}, "bots"),
        ({**RULE, "action": {"queue": "elsewhere"}}, "bots"),
        ({**RULE, "action": {}}, "bots"),
    ],
)
def test_a_refused_rule_is_named_on_the_form_and_nothing_is_saved(
    world: World, rule: dict[str, Any], said: str
) -> None:
    answer = save(signed_in(world.owner), world.webhook, rules=json.dumps([rule]))
    world.webhook.refresh_from_db()

    assert answer.status_code == 200
    assert said in errors(answer)["rules"][0]
    assert world.webhook.routing_rules == []
    assert "<img src=x" not in answer.content.decode()


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("rules", "[1,"),
        ("rules", "[" * 100_000),
        ("rules", "9" * 5000),
        ("rules", '{"id": "x"}'),
        ("rules", '[{"id": "a\\u0000", "name": "\\ud800", "expr": "\\ud800", "action": {"drop": true}}]'),
        ("default_action", '{"drop": false}'),
        ("default_action", '{"queue": "elsewhere"}'),
        ("params", "[]"),
        ("params", '{"a": NaN}'),
        ("params", json.dumps({"a": "x" * 17_000})),
        ("version", "zero"),
    ],
)
def test_malformed_input_is_refused_as_a_form_error(world: World, field: str, text: str) -> None:
    answer = save(signed_in(world.owner), world.webhook, **{field: text})
    world.webhook.refresh_from_db()

    assert answer.status_code == 200
    assert errors(answer)
    assert world.webhook.rules_version == 0


def test_a_stale_version_is_refused(world: World) -> None:
    client = signed_in(world.owner)
    save(client, world.webhook, rules=json.dumps([RULE]))
    answer = save(client, world.webhook, rules="[]")
    world.webhook.refresh_from_db()

    assert "have changed" in errors(answer)["__all__"][0]
    assert world.webhook.routing_rules == [RULE]


def test_other_columns_of_a_webhook_do_not_change(root: Human, world: World) -> None:
    before = Webhook.objects.filter(pk=world.webhook.pk).values().get()
    save(
        signed_in(root),
        world.webhook,
        target_queue="other",
        source_type="generic",
        signing_secret_sealed="x",
        ingest_token_hash="y",
    )

    assert Webhook.objects.filter(pk=world.webhook.pk).values().get() == before


def test_a_viewer_reads_the_rules_and_cannot_save(world: World) -> None:
    save(signed_in(world.owner), world.webhook, rules=json.dumps([RULE]))
    world.owner.user_permissions.set(world.owner.user_permissions.filter(codename__startswith="view_"))
    viewer = signed_in(Human.objects.get(pk=world.owner.pk))
    page = viewer.get(page_path(world.webhook, "change")).content.decode()

    assert ".payload.sender.type" in page
    assert "<textarea" not in page
    assert save(viewer, world.webhook).status_code == 403


def test_a_rule_pack_is_installed_with_the_params_on_the_page(world: World) -> None:
    answer = save(signed_in(world.owner), world.webhook, pack="pool-review", params='{"identity": "octavia"}')
    world.webhook.refresh_from_db()

    assert answer.status_code == 302
    assert "review-request-not-for-me" in [rule["id"] for rule in world.webhook.routing_rules]
    assert world.webhook.routing_params == {"identity": "octavia"}


def test_the_page_shows_each_rules_health(world: World) -> None:
    RuleTally.objects.create(webhook=world.webhook, rule_id="bots", shard=0, matches=41)
    page = signed_in(world.owner).get(page_path(world.webhook, "change")).content.decode()
    assert "&quot;matches&quot;: 41" in page
