"""Read the environment once, check every value, and report all mistakes in sentences that name the variable."""

import base64
import binascii
import ipaddress
import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

import dj_database_url
from django.core.exceptions import ImproperlyConfigured
from environs import Env, EnvError, EnvValidationError

KEY_BYTES = 32
ENGINES = frozenset({"django.db.backends.sqlite3", "django.db.backends.postgresql"})
HOST_NAME = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*", re.IGNORECASE)


@dataclass(frozen=True)
class Environment:
    """Every setting of the outside contract, parsed. Seconds, days and MiB are whole numbers."""

    secret_key: str
    debug: bool
    base_url: str
    database: dict[str, Any]
    redis_url: str | None
    encryption_key: bytes | None
    previous_encryption_keys: tuple[bytes, ...]
    trusted_proxies: tuple[str, ...]
    private_hosts: tuple[str, ...]
    allow_http: bool
    github_api_url: str
    slack_api_url: str
    reply_grace_seconds: int
    retention_days: int
    replay_tolerance_seconds: int
    sandbox_memory_mib: int
    metrics_token: str | None
    mcp_modern_era: bool


def read_environment(base_dir: Path) -> Environment:
    """Return the checked environment; `var/env` below `base_dir` fills in what the process does not set,
    and `var/address.env`, which bin/serve writes, where it serves.

    Raises ImproperlyConfigured with one sentence for each malformed variable.
    """
    env = Env(eager=False)
    _add_parsers(env)
    if env.bool("SWITCHBOARD_ENV_FILE", True):
        for name in ("env", "address.env"):
            env.read_env(base_dir / "var" / name, recurse=False)
    debug = env.bool("DJANGO_DEBUG", False)
    found = {
        "debug": debug,
        "secret_key": env.str("DJANGO_SECRET_KEY", None),
        "base_url": env.web_address("SWITCHBOARD_BASE_URL", "http://127.0.0.1:8000"),
        "database": env.database_address("DATABASE_URL", f"sqlite:///{base_dir / 'var' / 'switchboard.sqlite3'}"),
        "redis_url": env.redis_address("REDIS_URL", None),
        "encryption_key": env.sealing_key("SWITCHBOARD_SECRET_ENCRYPTION_KEY", None),
        "previous_encryption_keys": env.sealing_keys("SWITCHBOARD_SECRET_ENCRYPTION_KEY_PREVIOUS", ()),
        "trusted_proxies": env.networks("SWITCHBOARD_TRUSTED_PROXIES", ()),
        "private_hosts": env.hosts("SWITCHBOARD_PRIVATE_HOSTS", ()),
        "allow_http": env.bool("SWITCHBOARD_ALLOW_HTTP", False),
        "github_api_url": env.web_address("SWITCHBOARD_GITHUB_API_URL", "https://api.github.com"),
        "slack_api_url": env.web_address("SWITCHBOARD_SLACK_API_URL", "https://slack.com/api"),
        "reply_grace_seconds": env.int_between("SWITCHBOARD_REPLY_GRACE_SECONDS", 900, low=0, high=86_400),
        "retention_days": env.int_between("SWITCHBOARD_RETENTION_DAYS", 90, low=1, high=36_500),
        "replay_tolerance_seconds": env.int_between("SWITCHBOARD_REPLAY_TOLERANCE_SECONDS", 300, low=1, high=86_400),
        "sandbox_memory_mib": env.int_between("SWITCHBOARD_SANDBOX_MEMORY_MIB", 128, low=64, high=4096),
        "metrics_token": env.str("SWITCHBOARD_METRICS_TOKEN", None),
        "mcp_modern_era": env.bool("SWITCHBOARD_MCP_MODERN_ERA", False),
    }
    _seal(env)
    found["secret_key"] = found["secret_key"] or _development_key(debug=bool(debug))
    found["metrics_token"] = found["metrics_token"] or None
    return Environment(**found)


def _seal(env: Env) -> None:
    try:
        env.seal()
    except EnvValidationError as error:
        messages = dict(error.error_messages) if isinstance(error.error_messages, Mapping) else {}
        problems = [f"{name}: {'; '.join(map(str, found)).rstrip('.')}" for name, found in messages.items()]
        raise ImproperlyConfigured(". ".join(problems)) from None


def _development_key(*, debug: bool) -> str:
    if not debug:
        raise ImproperlyConfigured("DJANGO_SECRET_KEY: set it to a long random text (bin/serve writes one to var/env)")
    return secrets.token_urlsafe(48)


def _add_parsers(env: Env) -> None:
    env.add_parser("web_address", _unless_default(_web_address))
    env.add_parser("database_address", _database_address)
    env.add_parser("redis_address", _unless_default(_redis_address))
    env.add_parser("sealing_key", _unless_default(_optional_key))
    env.add_parser("sealing_keys", _unless_default(lambda value: tuple(map(parse_key, _split(value)))))
    env.add_parser("networks", _unless_default(lambda value: tuple(map(_network, _split(value)))))
    env.add_parser("hosts", _unless_default(lambda value: tuple(map(_host_or_network, _split(value)))))
    env.add_parser("int_between", _unless_default(_int_between))


def _unless_default(parse: Callable[..., Any]) -> Callable[..., Any]:
    """Return `parse` for texts of the environment; a default passes as it is."""
    return lambda value, **bounds: parse(value, **bounds) if isinstance(value, str) else value


def _optional_key(value: str) -> bytes | None:
    return parse_key(value) if value.strip() else None


def _split(value: str) -> list[str]:
    return [part.strip() for part in value.split(",") if part.strip()]


def parse_key(value: str) -> bytes:
    """Return the 32 bytes written as 64 hex digits or as base64; raise EnvError otherwise."""
    text = value.strip()
    if re.fullmatch(r"[0-9a-fA-F]{64}", text):
        return bytes.fromhex(text)
    try:
        key = base64.b64decode(text.replace("-", "+").replace("_", "/") + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if len(key) != KEY_BYTES:
        raise EnvError("must be 32 bytes, written as 64 hex digits or as base64")
    return key


def _web_address(value: str) -> str:
    parts = _split_address(value.strip())
    plain = parts.scheme in {"http", "https"} and parts.netloc.isascii() and not re.search(r"[\s@]", parts.netloc)
    if not plain or not parts.hostname or parts.query or parts.fragment:
        raise EnvError("must be an http or https address such as https://switchboard.example.net")
    return value.strip().rstrip("/")


def _database_address(value: str) -> dict[str, Any]:
    try:
        found = dict(dj_database_url.parse(value))
    except ValueError:
        found = {}
    if found.get("ENGINE") not in ENGINES:
        raise EnvError("must be a sqlite:// or postgresql:// address")
    return found


def _redis_address(value: str) -> str | None:
    if not value.strip():
        return None
    if _split_address(value.strip()).scheme not in {"redis", "rediss", "unix"}:
        raise EnvError("must be a redis://, rediss:// or unix:// address")
    return value.strip()


def _split_address(value: str) -> SplitResult:
    try:
        parts = urlsplit(value)
        _ = parts.port  # reading it checks it
    except ValueError:
        raise EnvError("must be an address with a well-formed host and port") from None
    return parts


def _network(value: str) -> str:
    try:
        return str(ipaddress.ip_network(value, strict=False))
    except ValueError:
        raise EnvError(f"{value!r} is not an IP address or CIDR network") from None


def _host_or_network(value: str) -> str:
    try:
        return str(ipaddress.ip_network(value, strict=False))
    except ValueError:
        pass
    if not HOST_NAME.fullmatch(value):
        raise EnvError(f"{value!r} is not a host name or CIDR network")
    return value.lower()


def _int_between(value: str, *, low: int, high: int) -> int:
    number = int(value) if re.fullmatch(r"[0-9]{1,9}", value.strip()) else low - 1
    if not low <= number <= high:
        raise EnvError(f"must be a whole number from {low} to {high}")
    return number
