"""The chapter of the reply: an agent answers at the forge that its todo came from, once, and nobody is woken by it."""

from typing import Any

from demonstration.chapter import DRAIN_VERBS, Chapter, Endpoint, Webhook
from demonstration.clients import Agent, Operator, connected
from demonstration.deliveries import REPO, comment_created, question
from demonstration.forge import LOGIN, Comment, Forge
from demonstration.transcript import Transcript

HELP_DESK = {
    "name": "Help desk",
    "queues": ["questions"],
    "verbs": [*DRAIN_VERBS, "reply"],
    "webhook_max": 1,
    "webhook_source_types": ["gitea"],
    "webhook_queues": ["questions"],
}
CONNECTION_NAME = "The demonstration's forge"
NUMBER, TITLE = 12, "Can I pay in euros?"
REPLY = {"text": "Picked this up.", "idempotency_key": "picked-up"}


class Answering(Chapter):
    """One agent that may reply, one connection, one question, one comment."""

    def __init__(self, operator: Operator, transcript: Transcript, forge: Forge) -> None:
        super().__init__(operator, transcript)
        self._forge = forge

    def play(self) -> None:
        """Play the chapter; raise StepFailedError when a step goes wrong."""
        desk, webhook = self._vend_help_desk()
        self._connect_forge()
        todo_id = self._ask(desk, webhook)
        with connected(desk.mcp_url, desk.credential) as agent:
            lease_token = self._claim(agent, todo_id)
            comment = self._reply(agent, todo_id, lease_token)
            self._reply_again(agent, todo_id, lease_token)
            self._echo(webhook, comment)
            self._complete(agent, todo_id, lease_token)

    def _vend_help_desk(self) -> tuple[Endpoint, Webhook]:
        self._tell.step(
            "The operator lets a third agent answer questions",
            "The verb “reply” posts in public, so no endpoint has it unless it is named. The webhook is for a forge "
            f"of the Gitea kind, a small one that this demonstration runs at {self._forge.base_url}.",
        )
        desk = self._vend(HELP_DESK)
        wanted = {"source_type": "gitea", "target_queue": "questions"}
        created = self._operate("POST", f"/endpoints/{desk.slug}/webhooks", wanted, expected=201)
        return desk, self._note_webhook(created)

    def _connect_forge(self) -> None:
        self._tell.step(
            "… with a connection: the token that Switchboard posts with",
            "It is sealed; no agent ever sees it. Plain http and this machine's own addresses are allowed to the "
            "server for this demonstration only (SWITCHBOARD_ALLOW_HTTP, SWITCHBOARD_PRIVATE_HOSTS): otherwise "
            "Switchboard calls neither.",
        )
        self._forget_former_forge()
        wanted = {
            "kind": "gitea",
            "name": CONNECTION_NAME,
            "account_key": self._forge.base_url,
            "secret": self._forge.token,
            "targets": [REPO],
        }
        connection = self._operate("POST", "/connections", wanted, expected=201, hidden="secret")
        self._tell.came_back(f"201  fingerprint {connection['fingerprint']} instead of the secret")
        self._tell.check(self._forge.token not in str(connection), "an answer without the secret")
        tested = self._operate("POST", f"/connections/{connection['id']}/test", expected=200)
        self._tell.came_back("200", {name: tested[name] for name in ("ok", "login", "message")})
        self._tell.check(tested["ok"] is True and tested["login"] == LOGIN, f"a token that is {LOGIN}'s")

    def _forget_former_forge(self) -> None:
        """Delete the connection of a former demonstration, whose forge is gone; one owner has one of each name."""
        listed = self._operator.call("GET", "/connections?limit=200")
        self._tell.check(listed.status == 200, f"200, not {listed.status} {listed.content}")
        for connection in listed.content["connections"]:
            if connection["name"] == CONNECTION_NAME:
                self._operate("DELETE", f"/connections/{connection['id']}", expected=204)
                self._tell.came_back("204  the one of the former demonstration is gone; its replies stay listed")

    def _ask(self, desk: Endpoint, webhook: Webhook) -> str:
        self._tell.step("The forge delivers: mara opens an issue with a question")
        delivery = question(forge_url=self._forge.base_url, number=NUMBER, title=TITLE, by="mara")
        answer = self._deliver(webhook, delivery)
        self._check_todo(answer, endpoint=desk, queue="questions")
        return str(answer.content["id"])

    def _claim(self, agent: Agent, todo_id: str) -> str:
        self._tell.step(
            "The help desk's agent claims it",
            "The reply address is read from the verified body; nobody can change it, the agent least of all.",
        )
        claimed = self._call(agent, "claim_next", require_fence=True)
        todo = claimed["todo"]
        self._tell.came_back(f"{todo['state']}: {todo['title']}")
        self._tell.came_back("reply_to", todo["reply_to"])
        self._tell.check(todo["id"] == todo_id, "the todo of the question")
        self._tell.check(self._is_the_issue(todo["reply_to"]), "the address of the issue at the local forge")
        return str(claimed["lease_token"])

    def _is_the_issue(self, address: dict[str, Any]) -> bool:
        found = (address["provider"], f"http://{address['host']}", address["repo"], address["number"])
        return found == ("gitea", self._forge.base_url, REPO, NUMBER)

    def _reply(self, agent: Agent, todo_id: str, lease_token: str) -> Comment:
        self._tell.step("… and answers: the todo, the text, and nothing else")
        replied = self._call(agent, "reply", todo_id=todo_id, lease_token=lease_token, **REPLY)
        self._show_reply(replied)
        self._tell.check(replied["state"] == "sent" and replied["duplicate"] is False, "a reply that was sent")
        self._tell.check(len(self._forge.comments) == 1, "one comment at the forge")
        (comment,) = self._forge.comments
        self._tell.came_back(f"the forge received: POST {comment.path}")
        self._tell.came_back(f"comment {comment.id} by {comment.author}: {comment.text}")
        path = f"/api/v1/repos/{REPO}/issues/{NUMBER}/comments"
        self._tell.check((comment.path, comment.text) == (path, REPLY["text"]), "the agent's text on the issue")
        self._tell.check(replied.get("permalink") == comment.url, "a link to the comment")
        return comment

    def _reply_again(self, agent: Agent, todo_id: str, lease_token: str) -> None:
        self._tell.step("It is not sure that the answer arrived and calls again", "One key is one post.")
        replied = self._call(agent, "reply", todo_id=todo_id, lease_token=lease_token, **REPLY)
        self._show_reply(replied)
        self._tell.check(replied["state"] == "sent" and replied["duplicate"] is True, "the first call's outcome")
        self._tell.came_back(f"comments at the forge: {len(self._forge.comments)}")
        self._tell.check(len(self._forge.comments) == 1, "still one comment")

    def _show_reply(self, replied: dict[str, Any]) -> None:
        shown = {name: replied.get(name) for name in ("duplicate", "permalink")}
        self._tell.came_back(f"{replied['state']}: {replied['message']}", shown)

    def _echo(self, webhook: Webhook, comment: Comment) -> None:
        self._tell.step(
            "The forge reports the new comment by webhook, as it reports every one",
            "Switchboard knows its own words again: no todo, or the agent would be answering itself.",
        )
        delivery = comment_created(
            forge_url=self._forge.base_url, number=NUMBER, title=TITLE, comment=comment.as_json(), by=comment.author
        )
        answer = self._deliver(webhook, delivery)
        self._tell.check(answer.content.get("dropped") is True and not answer.content["todos"], "no todo")
        events = self._get(f"/events?webhook_id={webhook.id}")["events"]
        for event in reversed(events):
            self._tell.came_back(f"{event['disposition']:10} {event['label']}")
        found = [event["disposition"] for event in events]
        self._tell.check(found == ["self_reply", "routed"], f"a question and our own reply in history, not {found}")

    def _complete(self, agent: Agent, todo_id: str, lease_token: str) -> None:
        self._tell.step("The agent completes the todo")
        done = self._call(agent, "complete", id=todo_id, lease_token=lease_token)["todo"]
        self._tell.came_back(f"state {done['state']}, replies", done["replies"])
        self._tell.check(done["state"] == "done" and done["replies"]["count"] == 1, "state done with one reply")
        self._tell.check(self._call(agent, "claim_next")["empty"] is True, "an empty queue")
        self._tell.came_back("nothing left to do")
