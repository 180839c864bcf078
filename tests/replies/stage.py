"""A stage for replies: an owner whose agent holds a todo that came from a stand-in provider, which it may answer."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.utils import timezone

from connections.models import Connection
from replies.models import Reply
from replies.shapes import reply_result_shape
from replies.submit import ReplyResult, submit_reply
from switchboard.accounts.models import Endpoint, Human
from switchboard.accounts.vend import VendedEndpoint
from switchboard.reply_address import CairnComment, ForgeComment, Provider, ReplyAddress, SlackThread
from switchboard.todos.models import Todo
from tests.factories import make_connection, make_endpoint, make_event, make_human, make_todo
from tests.stand_in import Respond, StandIn

SECRET = "planted-credential-9f8e7d6c5b4a"
TEXT = "Picked this up."


@dataclass(frozen=True)
class Place:
    """Where an answer goes: the address, the account, the path that is called, a good answer and the post's id."""

    provider: Provider
    account_key: str
    address: ReplyAddress
    path: str
    good: Respond
    object_id: str


def gitea(server: StandIn) -> Place:
    host = f"localhost:{server.port}"
    link = f"https://{host}/acme/widgets/issues/7#issuecomment-99001"
    return Place(
        Provider.GITEA,
        f"https://{host}",
        ForgeComment(Provider.GITEA, host, "acme/widgets", 7),
        "/api/v1/repos/acme/widgets/issues/7/comments",
        answering({"id": 99001, "html_url": link, "user": {"login": "switchboard-bot"}}, status=201),
        "99001",
    )


def github(server: StandIn) -> Place:
    link = "https://github.com/acme/widgets/issues/7#issuecomment-99001"
    return Place(
        Provider.GITHUB,
        "github.com",
        ForgeComment(Provider.GITHUB, "github.com", "acme/widgets", 7),
        "/repos/acme/widgets/issues/7/comments",
        answering({"id": 99001, "html_url": link, "user": {"login": "switchboard-bot"}}, status=201),
        "99001",
    )


def slack(server: StandIn) -> Place:
    posted = {
        "ok": True,
        "channel": "C0123",
        "ts": "1726990001.000200",
        "message": {"user": "U0999", "bot_id": "B0999", "text": TEXT},
    }
    return Place(
        Provider.SLACK,
        "T0123",
        SlackThread("T0123", "C0123", "1726990000.000100"),
        "/api/chat.postMessage",
        answering(posted),
        "C0123:1726990001.000200",
    )


def cairn(server: StandIn) -> Place:
    instance = f"https://localhost:{server.port}"
    return Place(
        Provider.CAIRN,
        instance,
        CairnComment(instance, "4kQ9zTbX"),
        "/v1/artifacts/4kQ9zTbX/comments",
        answering({"id": 99001, "actor_id": "agent-1"}, status=201),
        "99001",
    )


PLACES: dict[str, Callable[[StandIn], Place]] = {"gitea": gitea, "github": github, "slack": slack, "cairn": cairn}


def answering(value: object, *, status: int = 200, **headers: str) -> Respond:
    """Return a JSON answer; a keyword `retry_after="20"` is the header `retry-after`."""
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return Respond(status, {"Content-Type": "application/json", **named}, json.dumps(value).encode())


@dataclass(frozen=True)
class Conversation:
    """A claimed todo with everything that it takes to answer it."""

    server: StandIn
    place: Place
    human: Human
    vended: VendedEndpoint
    connection: Connection
    todo: Todo

    @property
    def endpoint(self) -> Endpoint:
        return self.vended.endpoint

    def submit(self, text: str = TEXT, **options: Any) -> ReplyResult:
        return submit_reply(**{"endpoint": self.endpoint, "todo_id": str(self.todo.pk), "text": text, **options})

    def reply(self, text: str = TEXT, **options: Any) -> dict[str, Any]:
        """Reply and return the result as an agent sees it."""
        return reply_result_shape(self.submit(text, **options))

    @property
    def row(self) -> Reply:
        """The todo's one reply."""
        return Reply.objects.get(todo=self.todo)

    @property
    def rows(self) -> int:
        return Reply.objects.filter(todo=self.todo).count()

    @property
    def posts(self) -> list[str]:
        """The texts that arrived at the provider."""
        bodies = [json.loads(seen.body) for seen in self.server.requests]
        return [body.get("body", body.get("text")) for body in bodies]


def open_conversation(
    server: StandIn,
    *,
    provider: str = "gitea",
    human: Human | None = None,
    connection: dict[str, Any] | None = None,
    **todo: Any,
) -> Conversation:
    """Set the stage; `connection` are arguments of `create_connection`, `todo` columns of the todo."""
    place = PLACES[provider](server)
    server.on(place.path, place.good)
    owner = human or make_human()
    vended = make_endpoint(owner, verbs="all")
    options = {"kind": place.provider.value, "account_key": place.account_key, "secret": SECRET, **(connection or {})}
    stored = make_connection(owner, **options)
    return Conversation(server, place, owner, vended, stored, make_claimed_todo(vended.endpoint, place, **todo))


def make_claimed_todo(endpoint: Endpoint, place: Place, **columns: Any) -> Todo:
    """Return a todo from that place which the endpoint holds under a live lease."""
    held = {
        "state": "claimed",
        "attempt": 1,
        "claimed_at": timezone.now(),
        "lease_expires_at": timezone.now() + timedelta(minutes=5),
        "reply_to": place.address.as_json(),
    }
    event = make_event(endpoint, source=place.provider.value)
    return make_todo(endpoint, event=event, **{**held, **columns})
