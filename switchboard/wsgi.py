"""The WSGI application: receiving, the operator API and the pages."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "switchboard.settings")
application = get_wsgi_application()

import switchboard.celery  # noqa: E402, F401 - tasks are sent through the configured application
