"""The web server's own log: it says that a request was refused, and never shows an ingest token."""

import socket
import subprocess
import sys
from pathlib import Path

from tests.services import LOCALHOST, PROJECT

TOKEN = "an-ingest-token-that-nobody-may-read"


def test_a_malformed_request_line_is_logged_without_its_ingest_token(tmp_path: Path) -> None:
    log = tmp_path / "log"
    listener = socket.create_server((LOCALHOST, 0))
    command = [sys.executable, "-m", "gunicorn", "-c", "python:switchboard.gunicorn_conf", "-k", "gthread"]
    command += ["--bind", f"fd://{listener.fileno()}", "wsgiref.simple_server:demo_app"]
    with log.open("wb") as output:
        server = subprocess.Popen(command, cwd=PROJECT, stderr=output, pass_fds=[listener.fileno()])
    try:
        answer = send(listener.getsockname(), f"POST /webhooks/w/{TOKEN}\r\n\r\n".encode())
    finally:
        server.terminate()
        server.wait()
        listener.close()

    assert answer.startswith(b"HTTP/1.1 400")
    assert "Invalid request" in log.read_text()
    assert "/webhooks/w/" in log.read_text()
    assert TOKEN not in log.read_text()


def send(address: tuple[str, int], request: bytes) -> bytes:
    """Send the bytes and return the first bytes of the answer; the listener queues us until the server runs."""
    with socket.create_connection(address, timeout=30) as connection:
        connection.sendall(request)
        return connection.recv(64)
