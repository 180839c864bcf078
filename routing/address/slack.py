"""Slack: answer in the thread."""

from routing.document import Document
from routing.fields import mapping_at, text_at, value_at
from switchboard.object_ids import is_slack_timestamp
from switchboard.reply_address import SlackThread


def derive(document: Document) -> SlackThread | None:
    """Return the thread of an event that has a channel and a `ts` of its own, else None.

    A reaction has neither: its `item` does. https://docs.slack.dev/apis/events-api
    """
    body = document.value
    event = mapping_at(body, "event")
    if text_at(body, "type") != "event_callback" or event is None or not is_slack_timestamp(event.get("ts")):
        return None
    thread = event.get("thread_ts")
    return SlackThread.of(
        team_id=value_at(body, "team_id"),
        channel=event.get("channel"),
        thread_ts=event["ts"] if thread is None else thread,
    )
