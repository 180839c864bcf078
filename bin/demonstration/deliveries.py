"""What GitHub would send in the story: small bodies of its shapes, signed as it signs them."""

import hashlib
import hmac
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import uuid4

REPO = "acme/shop"


@dataclass(frozen=True)
class Delivery:
    """One webhook delivery; `id` is what GitHub repeats when somebody presses “Redeliver”."""

    event: str
    body: bytes
    id: str = field(default_factory=lambda: str(uuid4()))

    def headers(self, secret: str) -> dict[str, str]:
        """Return the headers that GitHub sends along, signed with the webhook's secret.

        https://docs.github.com/webhooks/using-webhooks/validating-webhook-deliveries
        """
        digest = hmac.new(secret.encode(), self.body, hashlib.sha256).hexdigest()
        return {
            "Content-Type": "application/json",
            "User-Agent": "GitHub-Hookshot/demo",
            "X-GitHub-Event": self.event,
            "X-GitHub-Delivery": self.id,
            "X-Hub-Signature-256": f"sha256={digest}",
        }


def issue(*, action: str, number: int, title: str, by: str, labels: Sequence[str] = ()) -> Delivery:
    """Return an `issues` event: what `by` did to an issue that mara wrote, or `by` when they open it."""
    author = by if action == "opened" else "mara"
    about = {
        "number": number,
        "title": title,
        "state": "open",
        "html_url": f"https://github.com/{REPO}/issues/{number}",
        "user": {"login": author},
        "labels": [{"name": label} for label in labels],
    }
    changed = {"label": {"name": labels[-1]}} if action == "labeled" else {}
    return _delivery("issues", {"action": action, "issue": about, **changed}, by=by)


def review_request(*, number: int, title: str, by: str) -> Delivery:
    """Return a `pull_request` event: `by` asks for a review."""
    about = {
        "number": number,
        "title": title,
        "html_url": f"https://github.com/{REPO}/pull/{number}",
        "user": {"login": by},
    }
    return _delivery("pull_request", {"action": "review_requested", "pull_request": about}, by=by)


def push(*, by: str) -> Delivery:
    """Return a `push` event to the main branch."""
    return _delivery("push", {"ref": "refs/heads/main", "commits": [{"message": "Bump a dependency"}]}, by=by)


def _delivery(event: str, content: dict[str, object], *, by: str) -> Delivery:
    body = {**content, "repository": {"full_name": REPO}, "sender": {"login": by}}
    return Delivery(event, json.dumps(body, separators=(",", ":")).encode())
