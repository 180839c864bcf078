"""Makes the database and the static files ready to serve, and prints how many humans there are."""

import hashlib
import io
import os
import sys
from pathlib import Path

import django
from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.staticfiles.finders import get_finders
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command
from django.db import OperationalError


def main() -> None:
    """Check, migrate and collect; every expected failure ends in one sentence on standard error."""
    try:
        django.setup()
        call_command("check", stdout=io.StringIO())
        call_command("migrate", interactive=False, verbosity=0)
        collect_static_files()
        print(count_humans())
    except (ImproperlyConfigured, CommandError) as error:
        sys.exit(str(error))
    except OperationalError as error:
        sys.exit(f"The database cannot be used: {error}")


def collect_static_files() -> None:
    """Copy the static files to STATIC_ROOT, unless that was done for exactly these files."""
    root = Path(settings.STATIC_ROOT)
    stamp = root.with_suffix(".fingerprint")
    fingerprint = fingerprint_of_static_files()
    if root.is_dir() and stamp.is_file() and stamp.read_text() == fingerprint:
        return
    call_command("collectstatic", interactive=False, verbosity=0)
    stamp.write_text(fingerprint)


def fingerprint_of_static_files() -> str:
    """Return a hash (64 hex digits) over the name, size and time of change of every static file."""
    digest = hashlib.sha256()
    for finder in get_finders():
        for path, storage in finder.list(ignore_patterns=[]):
            status = Path(storage.path(path)).stat()
            digest.update(f"{path}\0{status.st_size}\0{status.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def count_humans() -> int:
    """Return the number of humans who can sign in."""
    return get_user_model().objects.filter(is_active=True).count()


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "switchboard.settings")
    main()
