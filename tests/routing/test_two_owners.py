"""Two owners, fuzzed: nothing that one of them sends reveals or moves anything of the other."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from routing import configure
from routing.dry_run import test_rules as dry_run
from routing.models import Event, Webhook
from routing.routes import remove_route
from switchboard.errors import SwitchboardError
from switchboard.todos.models import Todo
from tests.deliveries import gitea_issue, github_issue
from tests.routing.conftest import Line, OpenLine

pytestmark = pytest.mark.django_db
SECRET_TITLE = "the-strangers-secret-title"
EXPRESSIONS = st.sampled_from(["true", "false", ".payload", "$params.x", ".issue.title", "error(1)", "empty"])


def rule_lists(foreign: list[str]) -> st.SearchStrategy[Any]:
    """Lists of rules, well formed and not, that name ids of the other owner wherever an id may stand."""
    endpoints = st.lists(st.sampled_from(foreign), max_size=2)
    queues = st.sampled_from(["inbox", "elsewhere", "", "a b"])
    actions = st.one_of(
        st.fixed_dictionaries({"queue": queues, "endpoints": endpoints}),
        st.fixed_dictionaries({"queue": queues, "exclusive": st.booleans(), "once": st.booleans()}),
        st.just({"drop": True}),
        st.dictionaries(st.sampled_from(["queue", "drop", "endpoints"]), st.sampled_from(foreign)),
    )
    rules = st.fixed_dictionaries({"expr": EXPRESSIONS, "action": actions}, optional={"id": st.sampled_from(foreign)})
    return st.lists(rules, max_size=4)


@pytest.fixture
def pair(line: OpenLine) -> tuple[Line, Line]:
    mine, theirs = line("github"), line("gitea")
    theirs.post(gitea_issue(title=SECRET_TITLE))
    return mine, theirs


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_rule_list_default_params_or_event_id_reaches_the_other_owner(
    pair: tuple[Line, Line], data: st.DataObject
) -> None:
    mine, theirs = pair
    event = Event.objects.get(webhook=theirs.created.webhook)
    foreign = [str(theirs.endpoint.pk), theirs.webhook_id, str(event.pk)]
    before = _state(theirs)
    answers = [
        _try(configure.set_rules, mine, rules=data.draw(rule_lists(foreign)), params={"x": foreign}),
        _try(configure.set_rules, mine, rules=[], default_action={"queue": "inbox", "endpoints": foreign[:1]}),
        _try(dry_run, mine, arguments={"event_id": data.draw(st.sampled_from(foreign))}),
        _try(dry_run, mine, arguments={"payload": {}, "rules": data.draw(rule_lists(foreign))}),
        _try(remove_route, mine, endpoint_id=foreign[0]),
        _try(configure.list_rules, mine, webhook_id=theirs.webhook_id),
        _try(configure.add_rule, mine, webhook_id=theirs.webhook_id, expr="true", action={"drop": True}),
    ]
    mine.post(github_issue())
    assert SECRET_TITLE not in json.dumps(answers, default=str)
    assert theirs.endpoint.slug not in json.dumps(answers, default=str)
    assert _state(theirs) == before


def _try(use: Any, line: Line, **arguments: Any) -> object:
    try:
        return use(**{"principal": line.principal, "webhook_id": line.webhook_id, **arguments})
    except SwitchboardError as refusal:
        return [refusal.code, refusal.message, refusal.extra]


def _state(line: Line) -> list[Any]:
    """Return everything of the other owner that could have been moved."""
    webhook = Webhook.objects.filter(pk=line.created.webhook.pk).values()
    todos = Todo.objects.filter(endpoint=line.endpoint).values()
    events = Event.objects.filter(owner_human=line.human).values_list("pk", "disposition")
    return [list(webhook), list(todos), list(events)]
