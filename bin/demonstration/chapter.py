"""What every chapter of the story needs: to call as operator, agent or producer, to show it and to check it."""

from dataclasses import dataclass
from typing import Any

from demonstration.clients import Agent, Answer, Operator, deliver
from demonstration.deliveries import Delivery
from demonstration.transcript import Transcript

DRAIN_VERBS = ["list_todos", "get_todo", "claim", "claim_next", "heartbeat", "complete", "fail", "release"]


@dataclass(frozen=True)
class Endpoint:
    """One agent's way in, as vending answered it."""

    id: str
    slug: str
    mcp_url: str
    credential: str


@dataclass(frozen=True)
class Webhook:
    """A webhook of the story; its secret is shown once, to whoever created it."""

    id: str
    ingest_url: str
    secret: str


class Chapter:
    """A part of the story; its steps say what they do, do it for real, and check what came back."""

    def __init__(self, operator: Operator, transcript: Transcript) -> None:
        self._operator = operator
        self._tell = transcript

    def _call(self, agent: Agent, verb: str, **arguments: Any) -> dict[str, Any]:
        """Return what the verb answered, and show the call by its short arguments; a refusal fails the step."""
        shown = {name: value for name, value in arguments.items() if isinstance(value, (str, int))}
        hidden = {"lease_token", "webhook_id", "endpoint_id", "id", "todo_id", "omit_envelope"}
        self._tell.sent(" ".join([verb, *(f"{name}={value}" for name, value in shown.items() if name not in hidden)]))
        result = agent.call(verb, **arguments)
        self._tell.check(not result.refused, f"no refusal, not {result.content}")
        return result.content

    def _get(self, path: str) -> dict[str, Any]:
        return self._operate("GET", path, expected=200)

    def _operate(
        self,
        method: str,
        path: str,
        body: dict[str, Any] | None = None,
        *,
        expected: int,
        hidden: str | None = None,
    ) -> dict[str, Any]:
        """Return what the operator API answered, and show the call without the value of the field `hidden`."""
        shown = {name: "…" if name == hidden else value for name, value in body.items()} if body else None
        self._tell.sent(f"{method} /api/v1{path}", shown)
        answer = self._operator.call(method, path, body)
        self._tell.check(answer.status == expected, f"{expected}, not {answer.status} {answer.content}")
        return answer.content

    def _vend(self, wanted: dict[str, Any]) -> Endpoint:
        vended = self._operate("POST", "/endpoints", wanted, expected=201)
        endpoint = Endpoint(
            vended["endpoint"]["id"], vended["endpoint"]["slug"], vended["mcp_url"], vended["credential"]
        )
        self._tell.came_back(f"201  {endpoint.mcp_url}  credential {endpoint.credential[:8]}… (shown this once)")
        return endpoint

    def _note_webhook(self, created: dict[str, Any]) -> Webhook:
        """Show what creating a webhook answered, and return it."""
        webhook = Webhook(created["webhook_id"], created["ingest_url"], created["signing_secret"])
        self._tell.came_back(f"{webhook.ingest_url[:-36]}…  secret {webhook.secret[:8]}… (shown this once)")
        self._tell.check(created["trust_mode"] == "signed", "a webhook whose deliveries must be signed")
        return webhook

    def _deliver(self, webhook: Webhook, delivery: Delivery, *, signed: str = "signed", expected: int = 202) -> Answer:
        self._tell.sent(f"POST /webhooks/w/…  {delivery.event_header}: {delivery.event}, {signed}")
        answer = deliver(delivery, ingest_url=webhook.ingest_url, secret=webhook.secret)
        self._tell.came_back(str(answer.status), _without_ids(answer.content))
        self._tell.check(answer.status == expected, f"{expected}, not {answer.status} {answer.content}")
        return answer

    def _check_todo(self, answer: Answer, *, endpoint: Endpoint, queue: str) -> None:
        found = [(todo["endpoint_id"], todo["queue"], todo["created"]) for todo in answer.content["todos"]]
        self._tell.check(found == [(endpoint.id, queue, True)], f"one new todo in {queue} of {endpoint.slug}")

    def _check_rule(self, trace: dict[str, Any], rule_id: str) -> None:
        self._tell.check(trace.get("rule_id") == rule_id, f"a decision by the rule {rule_id}, not {trace}")


def _without_ids(content: dict[str, Any]) -> dict[str, Any]:
    """Return an answer as the transcript shows it: what the eye can compare, ids shortened."""
    todos = [{"id": f"…{todo['id'][-6:]}", "queue": todo["queue"]} for todo in content.get("todos", [])]
    return {name: value for name, value in content.items() if name not in {"id", "queue"}} | (
        {"todos": todos} if "todos" in content else {}
    )
