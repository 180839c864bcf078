"""The only door to the network: one checked, bounded call that knows whether its request may have left.

`perform(Call(...))` dials an address that was checked against the house's own list of private networks, verifies
the certificate for the name that was asked for, ends at one deadline whatever the other side does, follows no
redirect, and reads a bounded body. It returns an Answer, or raises NotSent (Refused, when trying again is no use) or
MaybeSent.

It stands on `http.client` and `ssl` alone. A library above them rewrites the URL, trusts a certificate bundle of its
own, inflates the answer and folds "not sent" and "may have been sent" into one timeout; here the request is written in
one place, so whatever fails before that line was not sent.
"""

from switchboard.outbound.messages import Answer, Call, MaybeSent, NotSent, OutboundError, Refused
from switchboard.outbound.transport import perform

__all__ = ["Answer", "Call", "MaybeSent", "NotSent", "OutboundError", "Refused", "perform"]
