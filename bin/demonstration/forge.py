"""A forge in this process: as much of Gitea's API as a reply needs, on a free port of this machine."""

import json
import re
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from serve import HOST

LOGIN = "switchboard-bot"
# https://docs.gitea.com/api/: userGetCurrent and issueCreateComment
USER_PATH = "/api/v1/user"
COMMENTS_PATH = re.compile(r"/api/v1/repos/([\w.-]+/[\w.-]+)/issues/(\d+)/comments")
PAGE_PATH = re.compile(r"/([\w.-]+/[\w.-]+)/issues/(\d+)")


@dataclass(frozen=True)
class Comment:
    """A comment as the forge received it: by whose token, on which path, with what text."""

    id: int
    author: str
    path: str
    text: str
    page: str
    url: str

    def as_json(self) -> dict[str, object]:
        """Return the comment as the API and the webhooks show it."""
        return {"id": self.id, "html_url": self.url, "user": {"login": self.author}, "body": self.text}


@dataclass(frozen=True, repr=False)
class Forge:
    """The running forge: its base URL, the one token that it knows, and the comments so far, oldest first."""

    base_url: str
    token: str
    comments: list[Comment] = field(default_factory=list)

    def add_comment(self, *, path: str, page: str, text: str) -> Comment:
        """Keep a comment of the token's owner on the issue whose page has the path `page`."""
        number = len(self.comments) + 1
        url = f"{self.base_url}{page}#issuecomment-{number}"
        comment = Comment(number, LOGIN, path, text, page, url)
        self.comments.append(comment)
        return comment


@contextmanager
def running_forge() -> Iterator[Forge]:
    """Run a forge without comments while the block lasts; its token is made up anew."""
    server = ThreadingHTTPServer((HOST, 0), BaseHTTPRequestHandler)
    forge = Forge(f"http://{HOST}:{server.server_port}", secrets.token_hex(20))
    server.RequestHandlerClass = partial(_Handler, forge)
    threading.Thread(target=server.serve_forever, name="forge", daemon=True).start()
    try:
        yield forge
    finally:
        server.shutdown()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    """Answers one request: JSON to the token's owner, an issue's page to everybody."""

    def __init__(self, forge: Forge, *arguments: Any) -> None:
        self._forge = forge
        super().__init__(*arguments)

    def do_GET(self) -> None:
        """Show who the token is, or an issue's comments to people."""
        page = PAGE_PATH.fullmatch(self.path)
        if page:
            texts = [
                f"{comment.author}: {comment.text}" for comment in self._forge.comments if comment.page == self.path
            ]
            self._answer(HTTPStatus.OK, "text/plain", "\n".join([f"{page[1]}#{page[2]}", *texts]))
        elif self._is_allowed(known=self.path == USER_PATH):
            self._answer_json(HTTPStatus.OK, {"id": 1, "login": LOGIN})

    def do_POST(self) -> None:
        """Take a comment on an issue."""
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        match = COMMENTS_PATH.fullmatch(self.path)
        if self._is_allowed(known=match is not None) and match:
            page = f"/{match[1]}/issues/{match[2]}"
            comment = self._forge.add_comment(path=self.path, page=page, text=json.loads(body)["body"])
            self._answer_json(HTTPStatus.CREATED, comment.as_json())

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (the base class names it)
        """Say nothing: the transcript tells what arrived."""

    def _is_allowed(self, *, known: bool) -> bool:
        """Return whether the token and the path are good, and answer if they are not."""
        presented = self.headers.get("Authorization", "").encode()
        if not secrets.compare_digest(presented, f"token {self._forge.token}".encode()):
            self._answer_json(HTTPStatus.UNAUTHORIZED, {"message": "the token is not known here"})
            return False
        if not known:
            self._answer_json(HTTPStatus.NOT_FOUND, {"message": "not found"})
        return known

    def _answer_json(self, status: HTTPStatus, content: dict[str, object]) -> None:
        self._answer(status, "application/json", json.dumps(content))

    def _answer(self, status: HTTPStatus, content_type: str, text: str) -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", f"{content_type}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
