"""Whether a delivery is a reply of ours coming back from the conversation it was posted to (SPEC-0028 REQ-11)."""

from datetime import datetime

from replies.echo import is_own_echo
from routing.address import derive_address
from routing.address.echo import account_of, author_of, object_id_of, slack_bot_id_of, text_of
from routing.envelope import Delivery
from routing.models import Webhook
from routing.sources import Source
from switchboard.reply_address import Provider

PROVIDERS = {
    Source.GITHUB: Provider.GITHUB,
    Source.GITEA: Provider.GITEA,
    Source.SLACK: Provider.SLACK,
    Source.CAIRN: Provider.CAIRN,
}


def is_self_reply(webhook: Webhook, delivery: Delivery, *, now: datetime) -> bool:
    """Tell whether the webhook's owner scope posted what this verified delivery reports."""
    provider = PROVIDERS.get(delivery.source)
    if provider is None or not delivery.verified:
        return False
    object_id = object_id_of(delivery.source, delivery.document)
    bot_id = slack_bot_id_of(delivery.document) if provider is Provider.SLACK else None
    if object_id is None and bot_id is None:
        return False
    return is_own_echo(
        owner_human_id=webhook.endpoint.owner_human_id,
        owner_team_id=webhook.endpoint.owner_team_id,
        provider=provider,
        account=account_of(delivery.source, delivery.document),
        object_id=object_id,
        bot_id=bot_id,
        author=author_of(delivery.source, delivery.document),
        text=text_of(delivery.source, delivery.document),
        address=derive_address(delivery.source, delivery.document),
        now=now,
    )
