"""The ids that providers give to what we posted, spelt alike in their answers and in their webhooks."""

import re
from typing import Final

SLACK_ID: Final = re.compile(r"[A-Z0-9]{1,64}")
# A message's id within its channel. It looks like a number and is none: a float loses its last digits.
SLACK_TIMESTAMP: Final = re.compile(r"[0-9]{1,20}\.[0-9]{1,20}")
_DIGITS = re.compile(r"[0-9]{1,19}")


def numbered_id(value: object) -> str | None:
    """Return the digits of a positive id that is an integer or a text of digits, None for any other value."""
    if isinstance(value, str):
        value = int(value) if _DIGITS.fullmatch(value) else None
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return str(value) if 0 < value < 10**19 else None


def slack_message_id(channel: object, timestamp: object) -> str | None:
    """Return `<channel>:<ts>`, which names a message of a Slack team; None unless both are well formed."""
    if not is_slack_id(channel) or not is_slack_timestamp(timestamp):
        return None
    return f"{channel}:{timestamp}"


def is_slack_id(value: object) -> bool:
    """Tell whether `value` is a text of 1 to 64 of A-Z and 0-9."""
    return isinstance(value, str) and SLACK_ID.fullmatch(value) is not None


def is_slack_timestamp(value: object) -> bool:
    """Tell whether `value` is a text of digits, one dot, digits."""
    return isinstance(value, str) and SLACK_TIMESTAMP.fullmatch(value) is not None
