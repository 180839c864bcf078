"""What GitHub and Gitea would send in the story: small bodies of their shapes, signed as they sign them."""

import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar
from uuid import uuid4

REPO = "acme/shop"


@dataclass(frozen=True)
class Delivery:
    """One webhook delivery; `id` is what GitHub repeats when somebody presses “Redeliver”."""

    event_header: ClassVar[str] = "X-GitHub-Event"
    event: str
    body: bytes
    id: str = field(default_factory=lambda: str(uuid4()))

    def headers(self, secret: str) -> dict[str, str]:
        """Return the headers that GitHub sends along, signed with the webhook's secret.

        https://docs.github.com/webhooks/using-webhooks/validating-webhook-deliveries
        """
        return {
            "Content-Type": "application/json",
            "User-Agent": "GitHub-Hookshot/demo",
            self.event_header: self.event,
            "X-GitHub-Delivery": self.id,
            "X-Hub-Signature-256": f"sha256={self.digest(secret)}",
        }

    def digest(self, secret: str) -> str:
        """Return the HMAC-SHA256 of the body in hex."""
        return hmac.new(secret.encode(), self.body, hashlib.sha256).hexdigest()


@dataclass(frozen=True)
class GiteaDelivery(Delivery):
    """One webhook delivery of Gitea's or Forgejo's."""

    event_header: ClassVar[str] = "X-Gitea-Event"

    def headers(self, secret: str) -> dict[str, str]:
        """Return the headers that Gitea sends along; https://docs.gitea.com/usage/webhooks."""
        return {
            "Content-Type": "application/json",
            self.event_header: self.event,
            "X-Gitea-Delivery": self.id,
            "X-Gitea-Signature": self.digest(secret),
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


def question(*, forge_url: str, number: int, title: str, by: str) -> GiteaDelivery:
    """Return an `issues` event of the forge at that address: `by` opens an issue."""
    content = {"action": "opened", "issue": _gitea_issue(forge_url=forge_url, number=number, title=title)}
    return _gitea_delivery("issues", content, forge_url=forge_url, by=by)


def comment_created(*, forge_url: str, number: int, title: str, comment: dict[str, object], by: str) -> GiteaDelivery:
    """Return an `issue_comment` event: `comment`, as the forge's API shows it, was written on an issue."""
    content = {
        "action": "created",
        "issue": _gitea_issue(forge_url=forge_url, number=number, title=title),
        "comment": comment,
    }
    return _gitea_delivery("issue_comment", content, forge_url=forge_url, by=by)


def _gitea_issue(*, forge_url: str, number: int, title: str) -> dict[str, object]:
    return {"number": number, "title": title, "html_url": f"{forge_url}/{REPO}/issues/{number}", "pull_request": None}


def _gitea_delivery(event: str, content: Mapping[str, object], *, forge_url: str, by: str) -> GiteaDelivery:
    repository = {"full_name": REPO, "html_url": f"{forge_url}/{REPO}"}
    body = {**content, "repository": repository, "sender": {"login": by}}
    return GiteaDelivery(event, json.dumps(body, indent=2).encode())


def _delivery(event: str, content: dict[str, object], *, by: str) -> Delivery:
    body = {**content, "repository": {"full_name": REPO}, "sender": {"login": by}}
    return Delivery(event, json.dumps(body, separators=(",", ":")).encode())
