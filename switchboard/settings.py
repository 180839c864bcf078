"""Django settings, built from the checked environment (`switchboard/env.py`)."""

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from csp.constants import NONE, SELF

from switchboard.env import read_environment
from switchboard.logs import logging_config

BASE_DIR = Path(__file__).resolve().parent.parent
ENVIRONMENT = read_environment(BASE_DIR)

SECRET_KEY = ENVIRONMENT.secret_key
DEBUG = ENVIRONMENT.debug

SWITCHBOARD_BASE_URL = ENVIRONMENT.base_url
SWITCHBOARD_ENCRYPTION_KEY = ENVIRONMENT.encryption_key
SWITCHBOARD_PREVIOUS_ENCRYPTION_KEYS = ENVIRONMENT.previous_encryption_keys
SWITCHBOARD_TRUSTED_PROXIES = ENVIRONMENT.trusted_proxies
SWITCHBOARD_PRIVATE_HOSTS = ENVIRONMENT.private_hosts
SWITCHBOARD_ALLOW_HTTP = ENVIRONMENT.allow_http
SWITCHBOARD_GITHUB_API_URL = ENVIRONMENT.github_api_url
SWITCHBOARD_SLACK_API_URL = ENVIRONMENT.slack_api_url
SWITCHBOARD_REPLY_GRACE_SECONDS = ENVIRONMENT.reply_grace_seconds
SWITCHBOARD_RETENTION_DAYS = ENVIRONMENT.retention_days
SWITCHBOARD_REPLAY_TOLERANCE_SECONDS = ENVIRONMENT.replay_tolerance_seconds
SWITCHBOARD_SANDBOX_MEMORY_MIB = ENVIRONMENT.sandbox_memory_mib
SWITCHBOARD_METRICS_TOKEN = ENVIRONMENT.metrics_token
SWITCHBOARD_MCP_MODERN_ERA = ENVIRONMENT.mcp_modern_era
REDIS_URL = ENVIRONMENT.redis_url

_base = urlsplit(SWITCHBOARD_BASE_URL)
_https = _base.scheme == "https"
ALLOWED_HOSTS = sorted({_base.hostname or "localhost", "localhost", "127.0.0.1", "[::1]"})
CSRF_TRUSTED_ORIGINS = [f"{_base.scheme}://{_base.netloc}"]

INSTALLED_APPS = [
    "switchboard.accounts",
    "switchboard.todos",
    "switchboard.api",
    "switchboard.web",
    "connections",
    "replies",
    "routing",
    "mcp_bridge",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "csp",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
]

MIDDLEWARE = [
    "switchboard.logs.request_log",
    "routing.middleware.deliveries_first",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

ROOT_URLCONF = "switchboard.urls"
WSGI_APPLICATION = "switchboard.wsgi.application"
ASGI_APPLICATION = "switchboard.asgi.application"
APPEND_SLASH = False  # a redirect would turn a sender's POST into a GET

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]


def _database(url: dict[str, Any]) -> dict[str, Any]:
    """Complete the parsed DATABASE_URL: WAL and immediate transactions on SQLite, a pool on PostgreSQL."""
    if url["ENGINE"] == "django.db.backends.sqlite3":
        pragmas = "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON;"
        options = {"transaction_mode": "IMMEDIATE", "timeout": 20, "init_command": pragmas}
        return {**url, "OPTIONS": {**url.get("OPTIONS", {}), **options}}
    pool = {"min_size": 1, "max_size": 16, "timeout": 10}
    return {**url, "CONN_MAX_AGE": 0, "OPTIONS": {"pool": pool, "server_side_binding": True, **url.get("OPTIONS", {})}}


DATABASES = {"default": _database(ENVIRONMENT.database)}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_USER_MODEL = "accounts.Human"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
LOGIN_URL = "/login/"
CSRF_FAILURE_VIEW = "switchboard.web.fallback.csrf_failure"
LOGIN_REDIRECT_URL = "/"

LANGUAGE_CODE = "en-gb"
TIME_ZONE = "UTC"
USE_I18N = False
USE_TZ = True

STATIC_URL = "static/"
STATIC_ROOT = BASE_DIR / "var" / "static"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedStaticFilesStorage"},
}

SESSION_COOKIE_SECURE = _https
CSRF_COOKIE_SECURE = _https
SESSION_COOKIE_HTTPONLY = True
# The proxy in front redirects to https; subdomains and the preload list are the site's own decision.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W008", "security.W021"]
SECURE_HSTS_SECONDS = 31_536_000 if _https else 0
SECURE_REFERRER_POLICY = "strict-origin-when-cross-origin"
SECURE_CONTENT_TYPE_NOSNIFF = True
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "base-uri": [NONE],
    }
}

DATA_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024
FILE_UPLOAD_HANDLERS = ["django.core.files.uploadhandler.MemoryFileUploadHandler"]

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["switchboard.api.authentication.ApiTokenAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["switchboard.api.authentication.HasScope"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "switchboard.api.errors.translate",
    "UNAUTHENTICATED_USER": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Switchboard operator API",
    "DESCRIPTION": "Manage endpoints, webhooks, rules, routes, events and todos within your reach.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
}

LOGGING_CONFIG = "logging.config.dictConfig"
LOGGING = logging_config(debug=DEBUG)
