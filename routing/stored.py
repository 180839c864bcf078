"""Read a stored event back as the delivery that it was."""

from routing.document import parse_document
from routing.envelope import Delivery
from routing.models import Event, Webhook
from routing.sources import Source, trust_mode_of


def stored_delivery(event: Event, webhook: Webhook) -> Delivery:
    """Return the delivery that a stored event was, for the same envelope as when it arrived."""
    body = bytes(event.body)
    source = Source(event.source)
    return Delivery(
        source=source,
        webhook_id=str(webhook.pk),
        trust_mode=trust_mode_of(source),
        verified=event.verified,
        content_type=event.content_type,
        headers=event.headers,
        body=body,
        document=parse_document(body, content_type=event.content_type),
    )
