"""GitHub's webhooks: verify the raw body, name the event."""

from collections.abc import Sequence
from datetime import timedelta

from routing.sources.description import Description
from routing.sources.forge import describe_forge_event
from routing.sources.request import SignedRequest, usable_id
from routing.sources.signing import digest_after, require_match, signature_header

# https://docs.github.com/webhooks/using-webhooks/validating-webhook-deliveries
# A form is signed as it was sent, and X-Hub-Signature (SHA-1) is never enough.
SIGNATURE_HEADER = "x-hub-signature-256"
SIGNATURE_PREFIX = "sha256="
# https://docs.github.com/webhooks/webhook-events-and-payloads#delivery-headers
DELIVERY_HEADER = "x-github-delivery"


def verify(request: SignedRequest, *, secrets: Sequence[str], tolerance: timedelta) -> None:  # noqa: ARG001 (GitHub signs no time)
    """Raise InvalidSignature unless the raw body is signed under one of `secrets`."""
    digest = digest_after(SIGNATURE_PREFIX, signature_header(request, SIGNATURE_HEADER))
    require_match(request.body, secrets=secrets, digests=[digest])


def delivery_id(request: SignedRequest) -> str | None:
    """Return GitHub's delivery id, the same on a redelivery; the signature does not cover it."""
    return usable_id(request.headers.get(DELIVERY_HEADER))


def describe(kind: str | None, request: SignedRequest) -> Description:
    """Describe the event by its kind and the body's action, repository, number, sender and title."""
    return describe_forge_event("github", kind, request.document.value)
