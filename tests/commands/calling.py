"""Run a management command as the command line does and return what it printed."""

import json
from io import StringIO
from typing import Any

from django.core.management import call_command


def run(*words: str) -> str:
    """Return what `manage.py <words>` prints; a refusal raises CommandError."""
    printed = StringIO()
    call_command(*words, stdout=printed)
    return printed.getvalue()


def run_json(*words: str) -> Any:
    """Return the JSON object that `manage.py <words> --json` prints."""
    return json.loads(run(*words, "--json"))
