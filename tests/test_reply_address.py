"""A reply address is stored and read back exactly, and what is none is refused."""

from typing import Any

import pytest

from switchboard.reply_address import (
    CairnComment,
    ForgeComment,
    Provider,
    ReplyAddress,
    SlackThread,
    read_reply_address,
)

STORED: list[tuple[ReplyAddress, dict[str, str | int]]] = [
    (
        ForgeComment(Provider.GITHUB, "github.com", "owner/repo", 7),
        {
            "kind": "forge_comment",
            "provider": "github",
            "host": "github.com",
            "repo": "owner/repo",
            "number": 7,
            "display": "github owner/repo#7",
        },
    ),
    (
        SlackThread("T0123", "C0123", "1726990000.000100"),
        {
            "kind": "slack_thread",
            "team_id": "T0123",
            "channel": "C0123",
            "thread_ts": "1726990000.000100",
            "display": "slack #C0123 thread 1726990000.000100",
        },
    ),
    (
        CairnComment("https://cairn.example.com", "4kQ9zTbX"),
        {
            "kind": "cairn_comment",
            "instance": "https://cairn.example.com",
            "artifact_id": "4kQ9zTbX",
            "display": "cairn cairn.example.com artifact",
        },
    ),
]


@pytest.mark.parametrize(("address", "stored"), STORED)
def test_an_address_is_stored_and_read_back(address: ReplyAddress, stored: dict[str, Any]) -> None:
    assert address.as_json() == stored
    assert {type(value) for value in address.as_json().values()} <= {str, int}
    assert read_reply_address(stored) == address


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "linear_comment"}, {"kind": None}, {"provider": "slack"}, {"provider": ["github"]},
        {"host": "GitHub.com"}, {"host": "github.com:443"}, {"host": "a@b"}, {"repo": "a/../b"}, {"number": "7"},
        {"number": True}, {"number": 0},
    ],
)  # fmt: skip
def test_what_is_no_address_is_refused_unquoted(change: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"^not a reply address$"):
        read_reply_address({**STORED[0][1], **change})


@pytest.mark.parametrize(
    "instance", ["https://CAIRN.example.com", "https://cairn.example.com/", "cairn.example.com", 7]
)
def test_an_instance_is_a_canonical_scheme_and_host(instance: object) -> None:
    with pytest.raises(ValueError, match="reply address"):
        read_reply_address({**STORED[2][1], "instance": instance})


def test_an_address_names_the_account_that_a_connection_must_be_for() -> None:
    accounts = [address.account for address, _ in STORED]

    assert accounts == ["github.com", "T0123", "https://cairn.example.com"]
