"""The human of the demonstration: a superuser with a random password kept in var/, and an API token."""

import io
import json
import logging
import os
import secrets
from dataclasses import dataclass
from pathlib import Path

import django
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.db import connections
from serve import VAR

NAME = "demo"
PASSWORD_FILE = VAR / "demo-password"


@dataclass(frozen=True, repr=False)
class Login:
    """How the demonstration's human signs in, and the bearer (`sb_…`) with which they call the API."""

    name: str
    password: str
    password_file: Path
    token: str


def prepare_login() -> Login:
    """Create the human, or bring them up to date, in the database that the environment names; return the login."""
    django.setup()
    logging.disable()  # what the server does is in its log; this process only tells the story
    password = _kept_password()
    _keep_human(password)
    token = _new_token()
    connections.close_all()
    return Login(NAME, password, PASSWORD_FILE, token)


def _kept_password() -> str:
    """Return the password in var/, made up and written (mode 0600) when there is none."""
    if not PASSWORD_FILE.exists():
        descriptor = os.open(PASSWORD_FILE, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(f"{secrets.token_urlsafe(12)}\n")
    return PASSWORD_FILE.read_text().strip()


def _keep_human(password: str) -> None:
    human, _ = get_user_model().objects.get_or_create(username=NAME)
    if not human.check_password(password):
        human.set_password(password)
    human.is_active = human.is_staff = human.is_superuser = True
    human.save()


def _new_token() -> str:
    printed = io.StringIO()
    call_command("create_api_token", "--json", "--human", NAME, "--name", "bin/demo", stdout=printed)
    return str(json.loads(printed.getvalue())["token"])
