"""SPEC-0020, Rule Management Tools."""

from collections.abc import Callable
from typing import Any

import pytest

from routing import configure, dry_run
from switchboard.accounts.models import Human
from switchboard.accounts.reach import Principal
from switchboard.errors import NotFound
from tests.factories import make_endpoint
from tests.routing.scenarios.stage import open_door, rule, save, saved

TRUE = {"expr": "true", "action": {"drop": True}}
VERBS: list[tuple[Callable[..., Any], dict[str, Any]]] = [
    (configure.list_rules, {}),
    (configure.set_rules, {"rules": []}),
    (configure.add_rule, TRUE),
    (configure.update_rule, {"rule_id": "mine", "changes": {"expr": "false"}}),
    (configure.move_rule, {"rule_id": "mine", "position": 0}),
    (configure.remove_rule, {"rule_id": "mine"}),
    (dry_run.test_rules, {"arguments": {"payload": {}}}),
]


def test_another_humans_webhook_is_opaque(owner: Human, stranger: Human) -> None:
    door = open_door(owner)
    before = save(door, rule("mine", "true", queue="inbox"))
    agent = Principal.of_endpoint(make_endpoint(stranger).endpoint)
    for verb, arguments in VERBS:
        answers = set()
        for webhook_id in (door.webhook_id, "00000000-0000-7000-8000-000000000000", "no id at all"):
            with pytest.raises(NotFound) as refused:
                verb(principal=agent, webhook_id=webhook_id, **arguments)
            answers.add((refused.value.code, refused.value.message, str(refused.value.extra)))
        assert len(answers) == 1
    assert saved(door) == before
