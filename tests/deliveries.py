"""Small deliveries of every source, with the headers and the signature that the producer itself would send.

    delivery = github_issue(secret="s3cret", action="labeled", labels=["size/m"], label="size/m")
    response = delivery.post(client, ingest_url)     # through Django's test client
    request = delivery.request()                     # for the pure functions of routing.sources

Each builder takes the signing secret and, where the scheme signs a time, `at` (an aware time, default: now).
`delivery.body` is the exact bytes, `delivery.headers` the header set. Slack's and Stripe's signatures are
made by their own libraries (Stripe's takes UTF-8 bodies only), the others with the standard `hmac`.

To change a delivery, derive it: `altered(delivery, body=…)` keeps the old signature (so it must be refused),
`altered(delivery, headers={"X-Hub-Signature-256": None})` removes a header. To sign bytes of your own use
`signed("github", body, secret=…)`, which every builder is made of.
"""

import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from django.test import Client
from slack_sdk.signature import SignatureVerifier
from stripe import WebhookSignature

from routing.document import parse_document
from routing.sources.request import SignedRequest

SECRET = "a secret for tests only"  # the default of every builder
REPO = "acme/widgets"


@dataclass(frozen=True)
class SignedDelivery:
    """The bytes and headers of one POST to an ingest URL."""

    body: bytes
    headers: Mapping[str, str]
    at: datetime

    @property
    def content_type(self) -> str:
        """The Content-Type header, empty when it was removed."""
        return self.headers.get("Content-Type", "")

    def post(self, client: Client, path: str) -> Any:
        """POST the delivery to `path` with Django's test client and return the response."""
        return client.post(path, data=self.body, content_type=self.content_type, headers=dict(self.headers))

    def request(self, *, received_at: datetime | None = None) -> SignedRequest:
        """Return the delivery as a source takes it, received when it was sent unless told otherwise."""
        return SignedRequest(
            headers={name.lower(): value for name, value in self.headers.items()},
            body=self.body,
            content_type=self.content_type or None,
            document=parse_document(self.body, content_type=self.content_type or None),
            received_at=received_at or self.at,
        )


def altered(
    delivery: SignedDelivery, *, body: bytes | None = None, headers: Mapping[str, str | None] | None = None
) -> SignedDelivery:
    """Return the delivery with another body or other headers (None removes one), its signature untouched."""
    merged = {**delivery.headers, **(headers or {})}
    kept = {name: value for name, value in merged.items() if value is not None}
    return replace(delivery, headers=kept, body=delivery.body if body is None else body)


def signed(
    source: str,
    body: bytes,
    *,
    secret: str = SECRET,
    at: datetime | None = None,
    headers: Mapping[str, str] | None = None,
) -> SignedDelivery:
    """Sign `body` as `source` (a value of Source) does; `headers` are added to the signature's."""
    moment = at or datetime.now(UTC)
    names = {
        "Content-Type": "application/json",
        **(headers or {}),
        **signature_headers(source, body, secret, moment),
    }
    return SignedDelivery(body=body, headers=names, at=moment)


def signature_headers(source: str, body: bytes, secret: str, at: datetime) -> dict[str, str]:
    """Return the headers that prove a body to `source`; none for `generic`."""
    seconds = str(int(at.timestamp()))
    digest = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    match source:
        case "github":
            return {"X-Hub-Signature-256": f"sha256={digest}"}
        case "gitea":
            return {"X-Gitea-Signature": digest, "X-Hub-Signature-256": f"sha256={digest}"}
        case "cairn":
            return {"X-Cairn-Signature": f"sha256={digest}"}
        case "slack":
            signature = SignatureVerifier(secret).generate_signature(timestamp=seconds, body=body)
            return {"X-Slack-Request-Timestamp": seconds, "X-Slack-Signature": signature or ""}
        case "stripe":
            header = WebhookSignature.generate_signature_header(body.decode(), secret, int(seconds))
            return {"Stripe-Signature": header}
        case _:
            return {}


def github_issue(
    *,
    secret: str = SECRET,
    at: datetime | None = None,
    action: str = "opened",
    repo: str = REPO,
    number: int = 17,
    title: str = "Crash on start",
    text: str | None = "It crashes.",
    author: str = "octavia",
    sender: str = "octavia",
    labels: Sequence[str] = (),
    label: str | None = None,
    delivery_id: str | None = None,
    event: str = "issues",
    **more: object,
) -> SignedDelivery:
    """An `issues` event as GitHub sends it; `label` is the changed one, `more` adds members to the body."""
    body: dict[str, object] = {
        "action": action,
        "issue": {
            "html_url": f"https://github.com/{repo}/issues/{number}",
            "number": number,
            "title": title,
            "user": {"login": author, "id": 21031067, "type": "User"},
            "labels": [{"id": 1362934389, "name": name, "color": "d73a4a"} for name in labels],
            "state": "open",
            "body": text,
        },
        **({"label": {"id": 1362934389, "name": label}} if label else {}),
        "repository": {"id": 186853002, "full_name": repo, "html_url": f"https://github.com/{repo}"},
        "sender": {"login": sender, "id": 21031067, "type": "User"},
        **more,
    }
    return github_event(body, event=event, secret=secret, at=at, delivery_id=delivery_id)


def github_event(
    body: object,
    *,
    event: str,
    secret: str = SECRET,
    at: datetime | None = None,
    delivery_id: str | None = None,
) -> SignedDelivery:
    """Any event as GitHub sends it, in compact JSON."""
    headers = {
        "User-Agent": "GitHub-Hookshot/044aadd",
        "X-GitHub-Event": event,
        "X-GitHub-Delivery": delivery_id or str(uuid4()),
    }
    return signed("github", compact(body), secret=secret, at=at, headers=headers)


def gitea_issue(
    *,
    secret: str = SECRET,
    at: datetime | None = None,
    action: str = "opened",
    event_type: str = "issues",
    repo: str = REPO,
    number: int = 17,
    title: str = "Crash on start",
    text: str = "It crashes.",
    author: str = "octavia",
    sender: str = "octavia",
    labels: Sequence[str] = (),
    delivery_id: str | None = None,
    event: str = "issues",
    **more: object,
) -> SignedDelivery:
    """An `issues` event as Gitea sends it; a label change is `label_updated` of type `issue_label`."""
    body: dict[str, object] = {
        "action": action,
        "number": number,
        "issue": {
            "id": 4711,
            "html_url": f"https://git.example.com/{repo}/issues/{number}",
            "number": number,
            "user": {"id": 2, "login": author, "username": author},
            "title": title,
            "body": text,
            "labels": [{"id": 5, "name": name, "color": "ee0701"} for name in labels],
            "state": "open",
            "pull_request": None,
        },
        "repository": {"id": 9, "full_name": repo, "html_url": f"https://git.example.com/{repo}"},
        "sender": {"id": 3, "login": sender, "username": sender},
        **more,
    }
    return gitea_event(body, event=event, event_type=event_type, secret=secret, at=at, delivery_id=delivery_id)


def gitea_event(
    body: object,
    *,
    event: str,
    event_type: str | None = None,
    secret: str = SECRET,
    at: datetime | None = None,
    delivery_id: str | None = None,
) -> SignedDelivery:
    """Any event as Gitea sends it: indented JSON, and GitHub's headers beside its own."""
    identifier = delivery_id or str(uuid4())
    values = {"Delivery": identifier, "Event": event, "Event-Type": event_type or event}
    headers = {f"X-{forge}-{name}": value for forge in ("Gitea", "Gogs", "GitHub") for name, value in values.items()}
    text = json.dumps(body, indent=2, ensure_ascii=False)
    return signed("gitea", text.encode(), secret=secret, at=at, headers=headers)


def slack_message(
    *,
    secret: str = SECRET,
    at: datetime | None = None,
    text: str = "Could somebody look at the build?",
    channel: str = "C0WIDGETS",
    user: str = "U0OCTAVIA",
    ts: str = "1726990000.000100",
    thread_ts: str | None = None,
    team: str = "T0ACME",
    event_id: str | None = None,
    retry: int = 0,
    **more: object,
) -> SignedDelivery:
    """A channel message of Slack's Events API; `more` adds to the inner event, `retry` its headers."""
    event = {"type": "message", "channel": channel, "user": user, "text": text, "ts": ts, **more}
    body = {
        "team_id": team,
        "api_app_id": "A0SWITCH",
        "event": {**event, **({"thread_ts": thread_ts} if thread_ts else {})},
        "type": "event_callback",
        "event_id": event_id or f"Ev{uuid4().hex[:10].upper()}",
        "event_time": 1726990000,
    }
    retries = {"X-Slack-Retry-Num": str(retry), "X-Slack-Retry-Reason": "http_timeout"} if retry else {}
    return signed("slack", compact(body), secret=secret, at=at, headers=retries)


def slack_challenge(
    *, secret: str = SECRET, at: datetime | None = None, challenge: object = "3eZbrw1aB10FEMAGAZd4FyFQ"
) -> SignedDelivery:
    """The `url_verification` request that Slack sends when somebody enters the address."""
    body = {"token": "deprecated", "challenge": challenge, "type": "url_verification"}
    return signed("slack", compact(body), secret=secret, at=at)


def stripe_event(
    *,
    secret: str = SECRET,
    at: datetime | None = None,
    type: str = "invoice.paid",  # noqa: A002 (Stripe's own word)
    event_id: str | None = None,
    **subject: object,
) -> SignedDelivery:
    """An event of Stripe's; keyword arguments become members of `data.object`."""
    body = {
        "id": event_id or f"evt_{uuid4().hex}",
        "object": "event",
        "created": 1726990000,
        "data": {"object": {"id": "in_1Qz0", "amount_paid": 4200, "currency": "eur", **subject}},
        "livemode": False,
        "type": type,
    }
    return signed("stripe", json.dumps(body, indent=2, ensure_ascii=False).encode(), secret=secret, at=at)


def cairn_artifact(
    *,
    secret: str = SECRET,
    at: datetime | None = None,
    kind: str = "artifact.created",
    id: str = "4kQ9zTbX",  # noqa: A002 (Cairn's own word)
    title: str = "Task brief",
    actor: str = "octavia@example.com",
    tags: Sequence[object] | None = None,
    event_id: str | None = None,
    created_at: str | None = None,
    **more: object,
) -> SignedDelivery:
    """An artifact event of Cairn's, created `at` or at the text `created_at`; `more` adds to `data`."""
    moment, identifier = at or datetime.now(UTC), event_id or str(uuid4())
    data = {
        "id": id,
        "share_type": "markdown",
        "title": title,
        "url": f"https://cairn.example.com/{id}",
        "actor_id": actor,
        **({} if tags is None else {"tags": list(tags)}),
        **more,
    }
    # Go prints nanoseconds.
    stamp = created_at or moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f") + "301Z"
    body = {"source": "cairn", "kind": kind, "event_id": identifier, "created_at": stamp, "data": data}
    headers = {
        "User-Agent": "cairn-outboundhook/1",
        "X-Cairn-Event": kind,
        "X-Cairn-Event-Id": identifier,
    }
    return signed("cairn", compact(body), secret=secret, at=moment, headers=headers)


def generic_alert(*, delivery_id: str | None = None, **more: object) -> SignedDelivery:
    """An unsigned alert of some monitor, with an `X-Delivery-Id` if `delivery_id` is given."""
    body = {"title": "Disk 91% on host-7", "severity": "warning", **more}
    return signed("generic", compact(body), headers={"X-Delivery-Id": delivery_id} if delivery_id else {})


def compact(body: object) -> bytes:
    """Return `body` as compact UTF-8 JSON, as most producers print it."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
