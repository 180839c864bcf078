"""An account key has one spelling, and a connection is for exactly the addresses of its account."""

import pytest

from connections.account_key import api_base, canonical_account_key, is_account, matches
from switchboard.reply_address import CairnComment, ForgeComment, Provider, ReplyAddress, SlackThread

GITHUB, GITEA, SLACK, CAIRN = Provider.GITHUB, Provider.GITEA, Provider.SLACK, Provider.CAIRN


def forge(host: str, provider: Provider = GITEA) -> ForgeComment:
    return ForgeComment(provider, host, "acme/widgets", 7)


@pytest.mark.parametrize(
    ("kind", "spellings", "canonical"),
    [
        (GITHUB, ["", " ", "github.com", "GitHub.com", "github.com:443", "github.com/", "github.com.",
                  "https://github.com/"], "github.com"),
        (GITHUB, ["ghes.example.com:8443", "GHES.example.com:8443", "https://ghes.example.com:8443"],
         "ghes.example.com:8443"),
        (GITEA, ["https://git.example.net", "https://Git.Example.net/", "HTTPS://git.example.net:443",
                 "https://git.example.net.", " https://git.example.net/\n", "https://git\u3002example.net"], "https://git.example.net"),
        (GITEA, ["https://Git.Example.net:8443", "https://git.example.net:08443/"], "https://git.example.net:8443"),
        (GITEA, ["https://git.example.net/Forge/", "https://git.example.net/Forge", "https://GIT.example.net:443/Forge//"],
         "https://git.example.net/Forge"),
        (GITEA, ["https://B\u00fccher.example", "https://xn--bcher-kva.example/"], "https://xn--bcher-kva.example"),
        (CAIRN, ["https://cairn.example.com", "https://CAIRN.example.com:443/"], "https://cairn.example.com"),
        (SLACK, ["T0123ABCD", " T0123ABCD "], "T0123ABCD"),
    ],
)  # fmt: skip
def test_every_spelling_of_an_account_is_one_key(kind: Provider, spellings: list[str], canonical: str) -> None:
    assert {canonical_account_key(kind, text) for text in spellings} == {canonical}
    assert canonical_account_key(kind, canonical) == canonical


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (GITHUB, "http://github.com"), (GITHUB, "github.com/acme"), (GITHUB, "me@github.com"), (GITHUB, "github .com"),
        (GITHUB, "github.com:99999"), (GITHUB, "https://https://github.com"), (GITHUB, "evil\\github.com"),
        (GITEA, ""), (GITEA, "git.example.net"), (GITEA, "http://git.example.net"), (GITEA, "ftp://git.example.net"),
        (GITEA, "https://me:s3cret@git.example.net"), (GITEA, "https://git.example.net?s3cret"),
        (GITEA, "https://git.example.net/#"), (GITEA, "https://git.example.net/?"), (GITEA, "https://git.example.net/a/../b"),
        (GITEA, "https://git.example.net/."), (GITEA, "https://git.example.net/a//b"), (GITEA, "https://git.example.net/%2e"),
        (GITEA, "https://git.example.net\\@evil"), (GITEA, "https://git.example.net\n/x"), (GITEA, "javascript:s3cret"),
        (CAIRN, "https://cairn.example.com/base"), (CAIRN, "http://cairn.example.com"), (CAIRN, "cairn.example.com"),
        (SLACK, ""), (SLACK, "t0123"), (SLACK, "T01-23"), (SLACK, "acme.slack.com"), (SLACK, "T0123\nT"),
    ],
)  # fmt: skip
def test_anything_else_is_refused_in_a_sentence_that_does_not_quote_it(kind: Provider, text: str) -> None:
    with pytest.raises(ValueError, match=r"^The .+\.$") as refused:
        canonical_account_key(kind, text)

    assert "s3cret" not in str(refused.value)


@pytest.mark.parametrize("kind", [GITEA, CAIRN])
def test_plain_http_is_for_the_operator_to_allow(kind: Provider) -> None:
    assert canonical_account_key(kind, "http://127.0.0.1:3000/", allow_http=True) == "http://127.0.0.1:3000"
    assert canonical_account_key(kind, "http://LOCALHOST:80", allow_http=True) == "http://localhost"


@pytest.mark.parametrize(
    ("key", "host", "expected"),
    [
        ("https://git.example.net:8443", "git.example.net", False),
        ("https://git.example.net:8443", "GIT.example.NET:8443", True),
        ("https://git.example.net", "git.example.net:443", True),
        ("https://git.example.net", "git.example.net.", True),
        ("https://git.example.net", "git.example.net:8443", False),
        ("https://xn--bcher-kva.example", "b\u00fccher.example", True),
        ("https://git.example.net/forge", "git.example.net", True),
        ("https://git.example.net", "evil.git.example.net", False),
        ("https://git.example.net", "git.example.net@evil", False),
        ("http://git.local", "git.local", True),
    ],
)
def test_a_forges_host_is_compared_in_its_canonical_spelling_with_its_port(key: str, host: str, expected: bool) -> None:
    assert matches(GITEA, key, forge(host)) is expected


def test_host_mismatch() -> None:
    assert not matches(GITEA, "https://gitea.example.net", forge("git.attacker.example"))


@pytest.mark.parametrize(
    ("kind", "key", "address", "expected"),
    [
        (GITHUB, "github.com", forge("github.com", GITHUB), True),
        (GITHUB, "github.com", forge("github.com", GITEA), False),
        (GITEA, "https://github.com", forge("github.com", GITHUB), False),
        (SLACK, "T0123", SlackThread("T0123", "C0123", "1.2"), True),
        (SLACK, "T0123", SlackThread("T01234", "C0123", "1.2"), False),
        (SLACK, "t0123", SlackThread("T0123", "C0123", "1.2"), False),
        (GITHUB, "T0123", SlackThread("T0123", "C0123", "1.2"), False),
        (CAIRN, "https://cairn.example.com", CairnComment("https://cairn.example.com", "a"), True),
        (CAIRN, "https://cairn.example.com", CairnComment("http://cairn.example.com", "a"), False),
        (CAIRN, "https://cairn.example.com", CairnComment("https://cairn.example.com:8443", "a"), False),
        (GITEA, "https://cairn.example.com", CairnComment("https://cairn.example.com", "a"), False),
    ],
)
def test_a_connection_is_for_its_own_provider_and_account(
    kind: Provider, key: str, address: ReplyAddress, expected: bool
) -> None:
    assert matches(kind, key, address) is expected


def test_an_account_is_recognised_without_an_address() -> None:
    assert is_account(GITHUB, "github.com", "GitHub.com")
    assert is_account(SLACK, "T0123", "T0123")
    assert not is_account(SLACK, "T0123", "t0123")


@pytest.mark.parametrize(
    ("kind", "key", "base"),
    [
        (GITHUB, "github.com", "https://api.github.com"),
        (GITHUB, "ghes.example.com:8443", "https://ghes.example.com:8443/api/v3"),
        (GITEA, "https://git.example.net/forge", "https://git.example.net/forge/api/v1"),
        (SLACK, "T0123", "https://slack.com/api"),
        (CAIRN, "https://cairn.example.com", "https://cairn.example.com/v1"),
    ],
)
def test_the_api_follows_from_the_account(kind: Provider, key: str, base: str) -> None:
    urls = {"github_api_url": "https://api.github.com/", "slack_api_url": "https://slack.com/api/"}

    assert api_base(kind, key, **urls) == base
