"""Gitea: the call, its own scheme of authorization, and a forge on the operator's own network."""

import json
from dataclasses import replace

from replies.providers import gitea
from replies.providers.call import ErrorClass, Failed, Identity, Posted, Unclear
from tests.replies.answers import NOW, PULL_REQUEST, SECRET, TOKEN, answer, raw

API = "https://git.example.net:8443/api/v1"


def test_the_call_is_the_documented_one() -> None:
    call = gitea.build_reply(PULL_REQUEST, "Picked this up.", api_base=API, secret=SECRET)

    assert (call.method, call.url) == ("POST", f"{API}/repos/stump.wtf/switchboard/issues/482/comments")
    assert json.loads(call.body) == {"body": "Picked this up."}
    assert dict(call.headers) == {
        "Authorization": f"token {TOKEN}",
        "Accept": "application/json",
        "Content-Type": "application/json",
    }


def test_the_test_asks_for_the_user() -> None:
    call = gitea.build_test(api_base=API, secret=SECRET)

    assert (call.method, call.url, call.body) == ("GET", f"{API}/user", b"")


def test_provider_adapter_failure_is_structured() -> None:
    refusal = answer({"message": "user does not exist [uid: 0, name: ]"}, status=401)

    outcome = gitea.read_reply(refusal, address=PULL_REQUEST, api_base=API, now=NOW)

    assert outcome == Failed(ErrorClass.AUTH, "http_401")


def test_a_missing_issue_that_is_a_500_is_unclear() -> None:
    outcome = gitea.read_reply(answer({"message": ""}, status=500), address=PULL_REQUEST, api_base=API, now=NOW)

    assert outcome == Unclear(ErrorClass.SERVER, "http_500")


def test_an_archived_repository_is_forbidden() -> None:
    outcome = gitea.read_reply(raw(b"", status=423), address=PULL_REQUEST, api_base=API, now=NOW)

    assert outcome == Failed(ErrorClass.FORBIDDEN, "http_423")


def test_a_link_over_http_passes_to_the_connections_own_base_only() -> None:
    local = replace(PULL_REQUEST, host="127.0.0.1:3000")
    page = "http://127.0.0.1:3000/stump.wtf/switchboard/pulls/482#issuecomment-1"
    created = answer({"id": 1, "html_url": page, "user": {"login": "bot"}}, status=201)

    plain = gitea.read_reply(created, address=local, api_base="http://127.0.0.1:3000/api/v1", now=NOW)
    secure = gitea.read_reply(created, address=local, api_base="https://127.0.0.1:3000/api/v1", now=NOW)

    assert plain == Posted("1", page, Identity(login="bot"))
    assert secure == Posted("1", None, Identity(login="bot"))
