"""Where to answer a forge: told by the body's shape, from fields that are exactly right."""

import json
from typing import Any

import pytest

from routing.address import derive_address
from routing.document import parse_document
from switchboard.reply_address import ForgeComment, Provider, ReplyAddress
from switchboard.source_types import Source

FORGES = pytest.mark.parametrize("source", [Source.GITHUB, Source.GITEA])


def body_of(**members: Any) -> dict[str, Any]:
    return {
        "action": "created",
        "repository": {"full_name": "acme/widgets", "html_url": "https://github.com/acme/widgets"},
        **members,
    }


def derive(body: object, source: Source = Source.GITHUB) -> ReplyAddress | None:
    return derive_address(source, parse_document(json.dumps(body).encode(), content_type=None))


def from_repository(
    full_name: object = "acme/widgets", html_url: object = "https://github.com/x"
) -> ReplyAddress | None:
    return derive(body_of(issue={"number": 7}, repository={"full_name": full_name, "html_url": html_url}))


def host_from(html_url: object) -> str | None:
    address = from_repository(html_url=html_url)
    return address.account if address else None


def test_pull_request_comment_on_gitea() -> None:
    body = {
        "action": "created",
        "issue": {"number": 482, "pull_request": {"merged": False}},
        "pull_request": {"number": 482},
        "comment": {"id": 78, "body": "Looks good."},
        "is_pull": True,
        "repository": {
            "full_name": "stump.wtf/switchboard",
            "html_url": "https://gitea.example.net/stump.wtf/switchboard",
        },
    }

    address = derive(body, Source.GITEA)

    assert address == ForgeComment(Provider.GITEA, "gitea.example.net", "stump.wtf/switchboard", 482)
    assert address.display == "gitea stump.wtf/switchboard#482"


@pytest.mark.parametrize("full_name", ["acme/../widgets", "a/../b", "../b", "a/..", "./b", "a/."])
def test_unsafe_field(full_name: str) -> None:
    assert from_repository(full_name) is None


@pytest.mark.parametrize(
    "full_name",
    ["a/b/c", "a", "/b", "a/", "", "a b/c", "a/b\n", "\na/b", "a/b?c", "a/b%2f", "ä/b", "a/b\u0000", "a\\b/c", 7, None],
)  # fmt: skip
def test_a_repository_that_is_not_owner_and_name_has_no_address(full_name: object) -> None:
    assert from_repository(full_name) is None


@pytest.mark.parametrize(
    "full_name", ["stump.wtf/switchboard", "a/b", "..a/b..", "A-1/_x.y", "a/...", f"{'o' * 100}/r"]
)
def test_a_repository_of_the_charset_is_kept_as_it_is(full_name: str) -> None:
    address = from_repository(full_name)

    assert isinstance(address, ForgeComment)
    assert address.repo == full_name


@FORGES
@pytest.mark.parametrize("number", ["0", "-1", '"7"', "true", "1e3", "7.0", "null", "[7]", str(2**63)])
@pytest.mark.parametrize("item", ["issue", "pull_request"])
def test_a_number_that_is_no_positive_integer_has_no_address(source: Source, number: str, item: str) -> None:
    text = json.dumps(body_of(**{item: {"number": "N"}})).replace('"N"', number)

    assert derive_address(source, parse_document(text.encode(), content_type=None)) is None


@pytest.mark.parametrize(
    "html_url",
    [
        "https://github.com@evil/", "https://evil\\@github.com/", "https://github.com\\@evil/", "javascript:alert(1)",
        "javascript://github.com/%0aalert(1)", "ftp://github.com/", "//github.com/", "github.com/acme", "https:///acme",
        "https://", "https://:443/", "https://github.com:/", "https://github.com:0/", "https://github.com:65536/",
        "https://github.com:8x/", "https://user:secret@github.com/", " https://github.com/", "https://github.com/\n",
        "https://git hub.com/", "https://github.com\t/", "https://github.com\u0000/", "https://github%2ecom/",
        "https://github..com/", "https://git_hub.com/", "https://-github.com/", "https://[::1/", "https://[::g]/", "https://[fe80::1%25eth0]/",
        "https://github.com/a\\b", "https://github.com\u200b/", "https://\U0001f680.example/", "https://evil\uff0fgithub.com/",
        "https://evil\uff20github.com/", "https://" + "a" * 64 + ".example/", "https://" + "a." * 127 + "com/", "",
        None, 7, ["https://github.com/"], "https://github.com/" + "a" * 2048, "https://\ufffd.example/",
    ],
)  # fmt: skip
def test_a_page_that_two_readers_could_understand_differently_has_no_address(html_url: object) -> None:
    assert from_repository(html_url=html_url) is None


@pytest.mark.parametrize(
    ("html_url", "host"),
    [
        ("https://github.com/acme/widgets", "github.com"),
        ("https://github.com", "github.com"),
        ("HTTPS://GitHub.COM/acme", "github.com"),
        ("https://github.com:443/acme", "github.com"),
        ("https://github.com:0443/acme", "github.com"),
        ("https://github.com./acme", "github.com"),
        ("https://github.com?x=https://evil/", "github.com"),
        ("https://github.com#@evil/", "github.com"),
        ("http://git.local:80/acme", "git.local"),
        ("http://git.local:3000/acme", "git.local:3000"),
        ("https://git.local:80/acme", "git.local:80"),
        ("http://127.0.0.1:8000/acme", "127.0.0.1:8000"),
        ("http://gitea-app/acme", "gitea-app"),
        ("https://[::1]:3000/acme", "[::1]:3000"),
        ("https://[0:0:0:0:0:0:0:1]/acme", "[::1]"),
        ("https://B\u00dcCHER.example/acme", "xn--bcher-kva.example"),
        ("https://bu\u0308cher.example/acme", "xn--bcher-kva.example"),
        ("https://XN--BCHER-KVA.example/acme", "xn--bcher-kva.example"),
        ("https://git\u3002example\uff0enet/acme", "git.example.net"),
    ],
)
def test_the_host_is_that_of_the_repositorys_page_in_one_spelling(html_url: str, host: str) -> None:
    assert host_from(html_url) == host


@FORGES
@pytest.mark.parametrize(
    "members",
    [
        {"issue": {"number": 7}},
        {"issue": {"number": 7}, "comment": {"id": 1}},
        {"issue": {"number": 7}, "comment": {"id": 1}, "pull_request": {"number": 7}},
        {"issue": {"number": 7}, "pull_request": None, "review": None},
        {"pull_request": {"number": 7}, "number": 7},
        {"pull_request": {"number": 7}, "number": 7, "review": None, "requested_reviewer": {"login": "nils"}},
        {"pull_request": {"number": 7}, "review": {"type": "pull_request_review_approved"}},
        {"pull_request": {"number": 7}, "comment": {"id": 1}},
    ],
)
def test_each_supported_shape_has_an_address(source: Source, members: dict[str, Any]) -> None:
    address = derive(body_of(**members), source)

    assert address == ForgeComment(Provider(source.value), "github.com", "acme/widgets", 7)


@FORGES
@pytest.mark.parametrize(
    "members",
    [
        {},
        {"comment": {"id": 1}},
        {"pull_request": {"number": 7}, "thread": {"node_id": "x"}},
        {"discussion": {"number": 7}},
        {"discussion": {"number": 7}, "comment": {"id": 1}},
        {"issue": {"number": 7}, "review": {"id": 1}},
        {"workflow_run": {"pull_requests": [{"number": 7}]}, "number": 7},
    ],
)
def test_any_other_shape_has_none(source: Source, members: dict[str, Any]) -> None:
    assert derive(body_of(**members), source) is None
