"""Each setting of the outside contract: its default, what it takes, and the sentence with which a mistake stops."""

import base64
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from django.core.exceptions import ImproperlyConfigured

from switchboard.env import Environment, read_environment

PROJECT = Path(__file__).resolve().parent.parent
KEY = bytes(range(1, 33))
OTHER_KEY = b"\xfb" * 32  # in base64 a text with "+"
HEX, OTHER_BASE64 = KEY.hex(), base64.b64encode(OTHER_KEY).decode()
Read = Callable[..., Environment]

DEFAULTS: dict[str, Any] = {
    "secret_key": "only-for-tests",
    "debug": False,
    "base_url": "http://127.0.0.1:8000",
    "redis_url": None,
    "encryption_key": None,
    "previous_encryption_keys": (),
    "trusted_proxies": (),
    "private_hosts": (),
    "allow_http": False,
    "github_api_url": "https://api.github.com",
    "slack_api_url": "https://slack.com/api",
    "reply_grace_seconds": 900,
    "retention_days": 90,
    "replay_tolerance_seconds": 300,
    "sandbox_memory_mib": 128,
    "metrics_token": None,
    "mcp_modern_era": False,
}

ADDRESSES = [
    ("SWITCHBOARD_BASE_URL", "base_url"),
    ("SWITCHBOARD_GITHUB_API_URL", "github_api_url"),
    ("SWITCHBOARD_SLACK_API_URL", "slack_api_url"),
]
SWITCHES = [
    ("DJANGO_DEBUG", "debug"),
    ("SWITCHBOARD_ALLOW_HTTP", "allow_http"),
    ("SWITCHBOARD_MCP_MODERN_ERA", "mcp_modern_era"),
]
NUMBERS = [
    ("SWITCHBOARD_REPLY_GRACE_SECONDS", "reply_grace_seconds", 0, 86_400),
    ("SWITCHBOARD_RETENTION_DAYS", "retention_days", 1, 36_500),
    ("SWITCHBOARD_REPLAY_TOLERANCE_SECONDS", "replay_tolerance_seconds", 1, 86_400),
    ("SWITCHBOARD_SANDBOX_MEMORY_MIB", "sandbox_memory_mib", 64, 4096),
]

GOOD: list[tuple[str, str, str, Any]] = [
    ("DJANGO_SECRET_KEY", "another", "secret_key", "another"),
    *((name, "https://h.example:8443/at/", field, "https://h.example:8443/at") for name, field in ADDRESSES),
    *((name, "http://[::1]:8000", field, "http://[::1]:8000") for name, field in ADDRESSES),
    *((name, text, field, value) for name, field in SWITCHES for text, value in [("1", True), ("off", False)]),
    *((name, str(edge), field, edge) for name, field, low, high in NUMBERS for edge in (low, high)),
    ("REDIS_URL", "rediss://:pass@cache.example:6380/2", "redis_url", "rediss://:pass@cache.example:6380/2"),
    ("REDIS_URL", "unix:///run/redis.sock", "redis_url", "unix:///run/redis.sock"),
    ("REDIS_URL", "", "redis_url", None),
    ("SWITCHBOARD_SECRET_ENCRYPTION_KEY", HEX, "encryption_key", KEY),
    ("SWITCHBOARD_SECRET_ENCRYPTION_KEY", HEX.upper(), "encryption_key", KEY),
    ("SWITCHBOARD_SECRET_ENCRYPTION_KEY", OTHER_BASE64, "encryption_key", OTHER_KEY),
    ("SWITCHBOARD_SECRET_ENCRYPTION_KEY", OTHER_BASE64.rstrip("="), "encryption_key", OTHER_KEY),
    ("SWITCHBOARD_SECRET_ENCRYPTION_KEY", OTHER_BASE64.replace("+", "-"), "encryption_key", OTHER_KEY),
    ("SWITCHBOARD_SECRET_ENCRYPTION_KEY", f" {HEX}\n", "encryption_key", KEY),
    ("SWITCHBOARD_SECRET_ENCRYPTION_KEY", "", "encryption_key", None),
    ("SWITCHBOARD_SECRET_ENCRYPTION_KEY_PREVIOUS", HEX, "previous_encryption_keys", (KEY,)),
    (
        "SWITCHBOARD_SECRET_ENCRYPTION_KEY_PREVIOUS",
        f"{OTHER_BASE64}, {HEX},",
        "previous_encryption_keys",
        (OTHER_KEY, KEY),
    ),
    ("SWITCHBOARD_TRUSTED_PROXIES", "10.1.2.3/8, ::1", "trusted_proxies", ("10.0.0.0/8", "::1/128")),
    ("SWITCHBOARD_TRUSTED_PROXIES", "", "trusted_proxies", ()),
    (
        "SWITCHBOARD_PRIVATE_HOSTS",
        "Git.Example.NET, 192.168.0.0/16,fd00::/8,forge",
        "private_hosts",
        ("git.example.net", "192.168.0.0/16", "fd00::/8", "forge"),
    ),
    ("SWITCHBOARD_METRICS_TOKEN", "scrape-me", "metrics_token", "scrape-me"),
    ("SWITCHBOARD_METRICS_TOKEN", "", "metrics_token", None),
]

BAD: list[tuple[str, str]] = [
    *(
        (name, text)
        for name, _ in ADDRESSES
        for text in (
            "", "h.example", "//h.example", "ftp://h.example", "https://", "https://h.example?x=1",
            "https://h.example/#x", "https://user:pass@h.example", "http://[::1", "http://h.example:port",
            "http://h.example:99999", "http:// h.example", "https://b\u00fccher.example",
        )
    ),
    *((name, text) for name, _ in SWITCHES for text in ("", "perhaps", "2")),
    *(
        (name, text)
        for name, _, low, high in NUMBERS
        for text in ("", "many", "1.5", "1e2", "1_00", "\u0661\u0662\u0663", "9" * 5000, f"{low - 1}", f"{high + 1}")
    ),
    *(("REDIS_URL", text) for text in ("h.example", "http://h.example", "redis://[::1", "redis://h.example:port")),
    *(
        ("DATABASE_URL", text)
        for text in (
            "", "switchboard.sqlite3", "mysql://u:pass@h.example/d", "oddity://h/d", "postgresql://h:port/d",
            "postgresql://[::1/d",
        )
    ),
    *(
        (f"SWITCHBOARD_SECRET_ENCRYPTION_KEY{suffix}", text)
        for suffix in ("", "_PREVIOUS")
        for text in (
            "short", HEX[:-2], HEX + "00", "zz" * 32, "\u00e9" * 64, base64.b64encode(KEY[:31]).decode(),
            base64.b64encode(KEY + b"\0").decode(), "=" * 44,
        )
    ),
    ("SWITCHBOARD_SECRET_ENCRYPTION_KEY_PREVIOUS", f"{HEX},short"),
    ("SWITCHBOARD_SECRET_ENCRYPTION_KEY_PREVIOUS", f"{HEX} {HEX}"),
    *(
        ("SWITCHBOARD_TRUSTED_PROXIES", text)
        for text in ("proxy.example", "10.0.0.0/33", "10.0.0.256", "::/129", "10.0.0.1, x")
    ),
    *(
        ("SWITCHBOARD_PRIVATE_HOSTS", text)
        for text in (
            "a b", "-a", "a.", "git.example:3000", "10.0.0.0/33", "https://git.example", "[::1]", "b\u00fccher.example",
            "*.example",
        )
    ),
]  # fmt: skip


@pytest.fixture
def read(tmp_path: Path) -> Iterator[Read]:
    """Return a function that reads an environment of nothing but its arguments, with a secret key."""

    def read_only(**variables: str) -> Environment:
        os.environ.clear()
        os.environ.update({"DJANGO_SECRET_KEY": "only-for-tests", **variables})
        return read_environment(tmp_path)

    with mock.patch.dict(os.environ):
        yield read_only


def refusal(read: Read, **variables: str) -> str:
    with pytest.raises(ImproperlyConfigured) as stopped:
        read(**variables)
    return str(stopped.value)


def test_everything_but_the_secret_key_has_a_default(read: Read, tmp_path: Path) -> None:
    environment = vars(read()).copy()
    database = environment.pop("database")
    assert environment == DEFAULTS
    assert database["ENGINE"] == "django.db.backends.sqlite3"
    assert database["NAME"] == str(tmp_path / "var" / "switchboard.sqlite3")


@pytest.mark.parametrize(("name", "text", "field", "value"), GOOD)
def test_a_good_value_is_read(read: Read, name: str, text: str, field: str, value: Any) -> None:
    assert getattr(read(**{name: text}), field) == value


def test_a_database_is_postgresql_or_sqlite(read: Read) -> None:
    postgres = read(DATABASE_URL="postgresql://me:p%40ss@db.example:6543/work?sslmode=require").database
    wanted = {
        "ENGINE": "django.db.backends.postgresql",
        "USER": "me",
        "PASSWORD": "p@ss",
        "HOST": "db.example",
        "PORT": 6543,
        "NAME": "work",
        "OPTIONS": {"sslmode": "require"},
    }
    assert {name: postgres[name] for name in wanted} == wanted
    assert read(DATABASE_URL="sqlite:////srv/work.sqlite3").database["NAME"] == "/srv/work.sqlite3"


@pytest.mark.parametrize(("name", "text"), BAD)
def test_a_malformed_value_stops_with_one_sentence_that_names_it(read: Read, name: str, text: str) -> None:
    sentence = refusal(read, **{name: text})
    assert sentence.startswith(f"{name}: ")
    assert "\n" not in sentence
    assert len(sentence) < 200


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        ("SWITCHBOARD_SECRET_ENCRYPTION_KEY", HEX[:-2]),
        ("SWITCHBOARD_SECRET_ENCRYPTION_KEY_PREVIOUS", HEX[:-2]),
        ("DATABASE_URL", "mysql://u:secret@h.example/d"),
        ("REDIS_URL", "http://:secret@h.example"),
        ("SWITCHBOARD_BASE_URL", "https://u:secret@h.example"),
    ],
)
def test_the_sentence_repeats_no_secret(read: Read, name: str, secret: str) -> None:
    sentence = refusal(read, **{name: secret})
    assert secret not in sentence
    assert "secret@" not in sentence


def test_several_malformed_values_are_all_named(read: Read) -> None:
    wrong = {
        "SWITCHBOARD_BASE_URL": "nowhere",
        "DATABASE_URL": "nowhere",
        "SWITCHBOARD_ALLOW_HTTP": "perhaps",
        "SWITCHBOARD_RETENTION_DAYS": "0",
        "SWITCHBOARD_SECRET_ENCRYPTION_KEY": "short",
        "SWITCHBOARD_TRUSTED_PROXIES": "proxy",
    }
    sentences = refusal(read, **wrong).split(". ")
    assert {sentence.partition(": ")[0] for sentence in sentences} == set(wrong)
    assert len(sentences) == len(wrong)


def test_a_missing_secret_key_stops(read: Read, tmp_path: Path) -> None:
    sentence = refusal(read, DJANGO_SECRET_KEY="")
    assert sentence.startswith("DJANGO_SECRET_KEY: ")
    del os.environ["DJANGO_SECRET_KEY"]
    with pytest.raises(ImproperlyConfigured) as stopped:
        read_environment(tmp_path)
    assert str(stopped.value) == sentence


def test_debugging_makes_up_a_secret_key_of_its_own_each_time(read: Read) -> None:
    keys = {read(DJANGO_SECRET_KEY="", DJANGO_DEBUG="1").secret_key for _ in range(2)}
    assert len(keys) == 2
    assert min(map(len, keys)) >= 50


def test_the_file_fills_in_what_the_environment_leaves_open(read: Read, tmp_path: Path) -> None:
    write_env_file(tmp_path, "SWITCHBOARD_RETENTION_DAYS=7", "SWITCHBOARD_REPLY_GRACE_SECONDS=60")
    environment = read(SWITCHBOARD_RETENTION_DAYS="30")
    assert (environment.retention_days, environment.reply_grace_seconds) == (30, 60)


def test_a_mistake_in_the_file_is_named_like_any_other(read: Read, tmp_path: Path) -> None:
    write_env_file(tmp_path, "SWITCHBOARD_RETENTION_DAYS=long")
    assert refusal(read).startswith("SWITCHBOARD_RETENTION_DAYS: ")


def test_the_file_can_be_left_alone(read: Read, tmp_path: Path) -> None:
    write_env_file(tmp_path, "SWITCHBOARD_RETENTION_DAYS=7")
    assert read(SWITCHBOARD_ENV_FILE="0").retention_days == 90


def test_only_the_file_below_var_is_read(read: Read, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("SWITCHBOARD_RETENTION_DAYS=7\n")
    (tmp_path / "env").write_text("SWITCHBOARD_RETENTION_DAYS=7\n")
    assert read().retention_days == 90


def test_a_process_with_mistakes_ends_before_it_starts_and_names_them_all() -> None:
    variables = {
        "SWITCHBOARD_ENV_FILE": "0",
        "DJANGO_SECRET_KEY": "only-for-tests",
        "SWITCHBOARD_SECRET_ENCRYPTION_KEY": HEX[:-2],
        "SWITCHBOARD_RETENTION_DAYS": "long",
    }
    done = subprocess.run(
        [sys.executable, "manage.py", "check"], cwd=PROJECT, env=variables, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "SWITCHBOARD_SECRET_ENCRYPTION_KEY: " in done.stderr
    assert "SWITCHBOARD_RETENTION_DAYS: " in done.stderr
    assert HEX[:-2] not in done.stderr


def write_env_file(base_dir: Path, *lines: str) -> None:
    (base_dir / "var").mkdir()
    (base_dir / "var" / "env").write_text("\n".join(lines))
