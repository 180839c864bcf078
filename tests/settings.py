"""Settings of the test suite: the project's own, with keys made up and nothing read from var/."""

import os
import tempfile
from pathlib import Path

os.environ["SWITCHBOARD_ENV_FILE"] = "0"
os.environ.setdefault("DJANGO_SECRET_KEY", "only-for-tests")
os.environ.setdefault("SWITCHBOARD_SECRET_ENCRYPTION_KEY", "11" * 32)

from switchboard.settings import *  # noqa: F403

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]

# A file, since threads and live servers of a test need one database; one a run, since runs may overlap.
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):  # noqa: F405
    _name = f"switchboard-test-{os.getpid()}.sqlite3"
    DATABASES["default"]["TEST"] = {"NAME": str(Path(tempfile.gettempdir()) / _name)}  # noqa: F405
