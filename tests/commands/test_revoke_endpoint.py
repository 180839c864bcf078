"""revoke_endpoint ends an endpoint, whoever owns it."""

import pytest
from django.core.management import CommandError

from switchboard.accounts.credentials import authenticate_endpoint
from tests.commands.calling import run, run_json
from tests.factories import make_endpoint, make_human


def test_the_credential_is_refused_from_then_on(db: None) -> None:
    vended = make_endpoint(make_human())
    printed = run_json("revoke_endpoint", vended.endpoint.slug)
    assert printed["slug"] == vended.endpoint.slug
    assert authenticate_endpoint(vended.credential) is None


def test_revoking_twice_keeps_the_first_time(db: None) -> None:
    vended = make_endpoint(make_human())
    first = run_json("revoke_endpoint", vended.endpoint.slug)
    assert run_json("revoke_endpoint", vended.endpoint.slug) == first
    assert first["revoked_at"] in run("revoke_endpoint", vended.endpoint.slug)


@pytest.mark.parametrize("slug", ["nothing", "a\0b", ""])
def test_an_unknown_endpoint_is_named_in_a_sentence(db: None, slug: str) -> None:
    with pytest.raises(CommandError, match="There is no endpoint"):
        run("revoke_endpoint", slug)
