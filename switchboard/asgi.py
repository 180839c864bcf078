"""The ASGI application: everything, with the MCP view and its streams."""

import os

from django.core.asgi import get_asgi_application

from switchboard.body_limit import limit_bodies

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "switchboard.settings")
application = limit_bodies(get_asgi_application())

import switchboard.celery  # noqa: E402, F401 - tasks are sent through the configured application
