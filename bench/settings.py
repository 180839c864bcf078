"""The production settings with the floor view; keys made up, nothing read from var/."""

import os

os.environ["SWITCHBOARD_ENV_FILE"] = "0"
os.environ.setdefault("DJANGO_SECRET_KEY", "only-for-benchmarks")
os.environ.setdefault("SWITCHBOARD_SECRET_ENCRYPTION_KEY", "22" * 32)

from switchboard.settings import *  # noqa: F403

ROOT_URLCONF = "bench.urls"
