"""A human who calls the operator API over Django's test client, with a real token."""

import json
from dataclasses import dataclass
from typing import Any

from django.test import Client

from switchboard.accounts.credentials import create_api_token
from switchboard.accounts.models import Human
from tests.factories import make_human

NOTHING = object()


@dataclass
class Caller:
    """One human with one token."""

    human: Human
    token: str

    def call(self, method: str, path: str, body: Any = NOTHING, **options: Any) -> Any:
        """Send `body` as JSON (or nothing) and return the response; `options` are those of `send`."""
        raw = b"" if body is NOTHING else json.dumps(body).encode()
        return self.send(method, path, raw, **options)

    def send(
        self, method: str, path: str, raw: bytes, *, content_type: str = "application/json", **headers: str
    ) -> Any:
        """Send bytes as they are and return the response."""
        sent = {"Authorization": f"Bearer {self.token}", **headers}
        return Client(raise_request_exception=False).generic(
            method, f"/api/v1{path}", raw, content_type=content_type, headers=sent
        )

    def get(self, path: str) -> Any:
        """Return the JSON of a GET that must succeed."""
        response = self.call("GET", path)
        assert response.status_code == 200, response.content
        return response.json()


def make_caller(name: str, *, scopes: tuple[str, ...] = ("read", "write"), human: Human | None = None) -> Caller:
    """Return a caller for a new human of that name, or for `human`."""
    holder = human or make_human(name)
    return Caller(holder, create_api_token(human=holder, scopes=scopes).token)
