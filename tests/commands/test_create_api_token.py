"""create_api_token prints a working bearer once."""

import pytest
from django.core.management import CommandError

from switchboard.accounts.credentials import authenticate_token
from tests.commands.calling import run, run_json
from tests.factories import make_human


def test_the_token_works_with_both_scopes(db: None) -> None:
    human = make_human("ada")
    record = authenticate_token(run_json("create_api_token", "--human", "ada")["token"])
    assert record is not None
    assert (record.human, record.scopes) == (human, ["read", "write"])


def test_the_scopes_can_be_fewer(db: None) -> None:
    make_human("ada")
    printed = run("create_api_token", "--human", "ada", "--scopes", "read", "--name", "ci")
    record = authenticate_token(printed.splitlines()[0])
    assert record is not None
    assert (record.scopes, record.name) == (["read"], "ci")


@pytest.mark.parametrize("scopes", ["admin", "", "read,admin"])
def test_unknown_scopes_are_refused(db: None, scopes: str) -> None:
    make_human("ada")
    with pytest.raises(CommandError, match="scopes must be"):
        run("create_api_token", "--human", "ada", f"--scopes={scopes}")


def test_a_missing_human_is_named_in_a_sentence(db: None) -> None:
    with pytest.raises(CommandError, match="no human named ada"):
        run("create_api_token", "--human", "ada")
