"""Whether a delivery is one of our own replies coming back (SPEC-0028 REQ-11)."""

import re
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.db.models import Q, QuerySet

from connections.models import Connection
from replies.content import posted_text
from replies.models import Reply, ReplyQuerySet, ReplyState
from switchboard.accounts.reach import Principal
from switchboard.reply_address import Provider, ReplyAddress, read_reply_address

REMEMBERED: Final = timedelta(hours=24)
# Cairn cuts the text of a comment in its deliveries here.
CAIRN_CUT_BYTES: Final = 4096
# Slack writes an address in a text as a link. https://docs.slack.dev/messaging/formatting-message-text
_SLACK_LINK: Final = re.compile(r"<(https?://[^|<>\s]+)(?:\|[^<>]*)?>")


def is_own_echo(
    *,
    owner_human_id: UUID | None,
    owner_team_id: UUID | None,
    provider: Provider,
    account: str | None,
    object_id: str | None,
    bot_id: str | None,
    author: str | None,
    text: str | None,
    address: ReplyAddress | None,
    now: datetime,
) -> bool:
    """Tell whether a delivery to this owner scope says what the scope's own replies have said.

    It is so when the post has the provider's id of a reply sent in the last 24 hours, when a Slack event comes from
    the bot of one of the scope's connections, or when the author is the account of a connection through which that
    very text went to that address in the last 24 hours. The last one holds before the provider's answer is recorded.
    """
    owner = Principal(human_id=owner_human_id, team_id=owner_team_id)
    if provider is Provider.SLACK and bot_id and _is_our_bot(owner, bot_id):
        return True
    if account is None:
        return False
    recent = _since(now - REMEMBERED).within_reach(owner).filter(provider=provider, account=account)
    return _is_known(recent, object_id) or _is_repeated(recent, provider, author, text, address)


def _since(moment: datetime) -> ReplyQuerySet:
    """Return the replies that ended after the moment, and those under way that were admitted after it."""
    under_way = Q(finished_at__isnull=True, created_at__gt=moment)
    return Reply.objects.filter(Q(finished_at__gt=moment) | under_way)


def _is_our_bot(owner: Principal, bot_id: str) -> bool:
    return Connection.objects.within_reach(owner).filter(kind=Provider.SLACK, bot_id=bot_id).exists()


def _is_known(recent: QuerySet[Reply], object_id: str | None) -> bool:
    return bool(object_id) and recent.filter(state=ReplyState.SENT, object_id=object_id).exists()


def _is_repeated(
    recent: QuerySet[Reply], provider: Provider, author: str | None, text: str | None, address: ReplyAddress | None
) -> bool:
    if author is None or text is None or address is None:
        return False
    # Whose the credential is may be unknown until the first answer is recorded.
    ours = Q(connection__login__iexact=author) | Q(connection__login="", state=ReplyState.PENDING)
    there = recent.filter(ours, display=address.display).exclude(state=ReplyState.FAILED).select_related("todo")
    return any(_went_to(reply, address) and _is_same_text(reply, provider, text) for reply in there)


def _went_to(reply: Reply, address: ReplyAddress) -> bool:
    return reply.todo.reply_to is not None and read_reply_address(reply.todo.reply_to) == address


def _is_same_text(reply: Reply, provider: Provider, text: str) -> bool:
    posted, seen = _normal(posted_text(reply.text, reply.signature_line)), _normal(text)
    if provider is Provider.SLACK:
        posted, seen = _SLACK_LINK.sub(r"\1", posted), _SLACK_LINK.sub(r"\1", seen)
    if provider is Provider.CAIRN and len(posted.encode()) > CAIRN_CUT_BYTES:
        # The cut may end in the middle of a character, or in a mark that there is more.
        return len(seen.encode()) >= CAIRN_CUT_BYTES - 8 and posted.startswith(seen[:-4])
    return posted == seen


def _normal(text: str) -> str:
    return text.replace("\r\n", "\n").strip()
