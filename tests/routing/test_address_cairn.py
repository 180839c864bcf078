"""Where to answer Cairn: the artifact of an artifact event."""

import json

import pytest

from routing.address import derive_address
from routing.document import parse_document
from switchboard.reply_address import CairnComment
from switchboard.source_types import Source


def derive(
    *,
    kind: object = "artifact.created",
    identifier: object = "4kQ9zTbX",
    url: object = "https://cairn.example.com/4kQ9zTbX",
) -> CairnComment | None:
    body = {"source": "cairn", "kind": kind, "data": {"id": identifier, "url": url}}
    address = derive_address(Source.CAIRN, parse_document(json.dumps(body).encode(), content_type=None))
    assert address is None or isinstance(address, CairnComment)
    return address


def test_an_artifact_is_answered_where_it_is() -> None:
    assert derive() == CairnComment("https://cairn.example.com", "4kQ9zTbX")


def test_the_line_for_people_does_not_give_the_artifact_away() -> None:
    address = derive()

    assert address is not None
    assert address.display == "cairn cairn.example.com artifact"


@pytest.mark.parametrize("kind", ["artifact.released", "artifact.deleted", "artifact.retained"])
def test_every_artifact_event_has_an_address(kind: str) -> None:
    assert derive(kind=kind) is not None


@pytest.mark.parametrize(
    "kind", ["comment.created", "reaction.added", "run.closed", "artifacts.x", "Artifact.created", "", None, 7]
)
def test_an_event_of_another_kind_has_none(kind: object) -> None:
    assert derive(kind=kind) is None


@pytest.mark.parametrize("identifier", ["", "a/b", "..", "a-b", "a_b", "4kQ9\n", "a" * 65, "\u00e4", 4, None, ["a"]])
def test_an_id_outside_the_charset_has_no_address(identifier: object) -> None:
    assert derive(identifier=identifier) is None


@pytest.mark.parametrize(
    ("url", "instance"),
    [
        ("https://CAIRN.example.com:443/run/x", "https://cairn.example.com"),
        ("https://cairn.example.com:8443/x", "https://cairn.example.com:8443"),
        ("http://127.0.0.1:9000/x", "http://127.0.0.1:9000"),
    ],
)
def test_the_instance_is_the_scheme_and_host_of_the_artifacts_page(url: str, instance: str) -> None:
    address = derive(url=url)

    assert address is not None
    assert address.instance == instance


@pytest.mark.parametrize("url", ["javascript:alert(1)", "https://a@b/", "cairn.example.com/x", "/x", "", None, 7])
def test_a_page_that_is_no_plain_url_has_no_address(url: object) -> None:
    assert derive(url=url) is None
