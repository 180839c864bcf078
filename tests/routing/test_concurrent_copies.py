"""Several copies of one delivery at once: the database's constraint decides, and every sender gets a 2xx."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from routing.configure import set_rules
from routing.models import Event, OnceClaim
from routing.routes import add_route
from switchboard.todos.models import Todo
from tests.deliveries import SignedDelivery, github_issue
from tests.factories import make_endpoint
from tests.routing.conftest import Line, OpenLine

pytestmark = pytest.mark.django_db(transaction=True)


def post_at_once(line: Line, copies: list[SignedDelivery]) -> list[Any]:
    def post(delivery: SignedDelivery) -> Any:
        try:
            return delivery.post(Client(), line.path)
        finally:
            connection.close()

    with ThreadPoolExecutor(max_workers=len(copies)) as pool:
        return list(pool.map(post, copies))


def test_twenty_parallel_copies_are_one_event_and_one_todo_a_target(line: OpenLine) -> None:
    webhook = line("github")
    other = make_endpoint(webhook.human, queues=["inbox"]).endpoint
    add_route(
        principal=webhook.principal,
        webhook_id=webhook.webhook_id,
        endpoint_id=str(other.pk),
        acting_human=webhook.human,
    )
    answers = post_at_once(webhook, [github_issue(delivery_id="the-one")] * 20)
    assert {answer.status_code for answer in answers} == {202}
    assert sorted(answer.json()["created"] for answer in answers) == [0] * 19 + [2]
    assert len({answer.json()["id"] for answer in answers}) == 1
    assert Event.objects.count() == 1
    assert {todo.endpoint_id for todo in Todo.objects.all()} == {webhook.endpoint.pk, other.pk}
    assert Todo.objects.count() == 2


def test_ten_parallel_deliveries_of_one_subject_claim_its_key_once(line: OpenLine) -> None:
    webhook = line("github")
    rule = {"id": "lane", "expr": "true", "action": {"queue": "inbox", "once": True}}
    set_rules(principal=webhook.principal, webhook_id=webhook.webhook_id, rules=[rule])
    answers = post_at_once(webhook, [github_issue(delivery_id=f"d{number}") for number in range(10)])
    assert {answer.status_code for answer in answers} == {202}
    assert sum(answer.json()["created"] for answer in answers) == 1
    assert sum(answer.json().get("repeat", False) for answer in answers) == 9
    assert (Event.objects.count(), OnceClaim.objects.count(), Todo.objects.count()) == (10, 1, 1)
