"""What a connection is for: one canonical spelling of its account key, and the base URL that follows from it."""

import re
from typing import Final

from switchboard.object_ids import is_slack_id
from switchboard.reply_address import FORGES, Provider, ReplyAddress
from switchboard.web_address import WebAddress, canonical_host, read_web_address

GITHUB_HOST: Final = "github.com"
_SCHEME = re.compile(r"https://", re.IGNORECASE)
_PATH = re.compile(r"(?:/(?!\.{1,2}(?:/|\Z))[A-Za-z0-9._~-]+)*")


def canonical_account_key(kind: Provider, text: str, *, allow_http: bool = False) -> str:
    """Return the account key as it is stored and compared: SPEC-0028 REQ-3.

    `github`: a host (`github.com` when `text` is blank); `gitea` and `cairn`: an https base URL (http too with
    `allow_http`); `slack`: a team id. Hosts are lower case and IDNA, without a default port or a trailing
    dot; a final slash goes. Raises ValueError with a sentence for people that never quotes `text`, because
    somebody may have pasted a credential.
    """
    wanted = text.strip()
    match kind:
        case Provider.GITHUB:
            return _github_host(wanted or GITHUB_HOST)
        case Provider.GITEA:
            return _base_url(wanted, "Gitea", allow_http=allow_http)
        case Provider.CAIRN:
            return _instance(wanted, allow_http=allow_http)
        case Provider.SLACK:
            return _team_id(wanted)


def matches(kind: Provider, account_key: str, address: ReplyAddress) -> bool:
    """Tell whether a connection of `kind` for the canonical `account_key` is for this address: REQ-5."""
    return address.provider == kind and is_account(kind, account_key, address.account)


def is_account(kind: Provider, account_key: str, account: str) -> bool:
    """Tell whether `account` (a forge's host, a Slack team, a Cairn instance) is the one of `account_key`.

    Hosts are compared in their canonical spelling: the port matters, and `:443` is none. The others exactly.
    """
    if kind not in FORGES:
        return account == account_key
    host = canonical_host(account)
    return host is not None and host == canonical_host(account_host(account_key))


def account_host(account_key: str) -> str:
    """Return the host, with its port if any, of a forge's or Cairn's canonical account key."""
    place = read_web_address(account_key)
    return place.host if place else account_key


def api_base(kind: Provider, account_key: str, *, github_api_url: str, slack_api_url: str) -> str:
    """Return the base of the provider's API, without a final slash: REQ-7.

    The two URLs are the operator's settings for github.com and for Slack, which have one API each.
    """
    match kind:
        case Provider.GITHUB if account_key == GITHUB_HOST:
            return github_api_url.rstrip("/")
        case Provider.GITHUB:
            return f"https://{account_key}/api/v3"
        case Provider.GITEA:
            return f"{account_key}/api/v1"
        case Provider.SLACK:
            return slack_api_url.rstrip("/")
        case Provider.CAIRN:
            return f"{account_key}/v1"


def _github_host(text: str) -> str:
    host = canonical_host(_SCHEME.sub("", text, count=1).removesuffix("/"))
    if host is None:
        raise ValueError("The account key of a GitHub connection is a host, such as github.com.")
    return host


def _instance(text: str, *, allow_http: bool) -> str:
    base = _base_url(text, "Cairn", allow_http=allow_http)
    if base.count("/") > 2:
        raise ValueError("The account key of a Cairn connection has no path: a delivery names scheme and host only.")
    return base


def _base_url(text: str, name: str, *, allow_http: bool) -> str:
    place = read_web_address(text)
    if place is None or place.rest or not _PATH.fullmatch(place.path.rstrip("/")):
        raise ValueError(
            f"The account key of a {name} connection is its base URL, such as https://{name.lower()}.example.com, "
            "without user, query or fragment."
        )
    _require_https(place, name, allow_http=allow_http)
    return place.origin + place.path.rstrip("/")


def _require_https(place: WebAddress, name: str, *, allow_http: bool) -> None:
    if place.scheme != "https" and not allow_http:
        raise ValueError(f"The base URL of a {name} connection starts with https://.")


def _team_id(text: str) -> str:
    if not is_slack_id(text):
        raise ValueError("The account key of a Slack connection is its team id, such as T0123ABCD.")
    return text
