"""Gitea's and Forgejo's webhooks: verify the JSON text, name the event."""

from collections.abc import Sequence
from datetime import timedelta

from routing.document import form_payload, is_form
from routing.sources.description import Description
from routing.sources.forge import describe_forge_event
from routing.sources.request import InvalidSignature, SignedRequest, usable_id
from routing.sources.signing import digest_after, require_match, signature_header

# https://docs.gitea.com/usage/webhooks
# No prefix. A hook without a secret still sends the header, empty.
SIGNATURE_HEADER = "x-gitea-signature"
DELIVERY_HEADER = "x-gitea-delivery"


def verify(request: SignedRequest, *, secrets: Sequence[str], tolerance: timedelta) -> None:  # noqa: ARG001 (Gitea signs no time)
    """Raise InvalidSignature unless the JSON text is signed under one of `secrets`."""
    digest = digest_after("", signature_header(request, SIGNATURE_HEADER))
    require_match(_signed_text(request), secrets=secrets, digests=[digest])


def delivery_id(request: SignedRequest) -> str | None:
    """Return Gitea's delivery id, a new one on a replay by hand; the signature does not cover it."""
    return usable_id(request.headers.get(DELIVERY_HEADER))


def describe(kind: str | None, request: SignedRequest) -> Description:
    """Describe the event by its kind and the body's action, repository, number, sender and title."""
    return describe_forge_event("gitea", kind, request.document.value)


def _signed_text(request: SignedRequest) -> bytes:
    """Return what Gitea signed: the JSON, also when it is posted as a form's field `payload`.

    https://github.com/go-gitea/gitea/blob/main/services/webhook/deliver.go
    """
    text = form_payload(request.body) if is_form(request.content_type) else request.body
    if text is None:
        raise InvalidSignature("missing_payload")
    return text
