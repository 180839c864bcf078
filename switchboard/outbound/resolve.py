"""Resolve a name once, within the deadline, and let all of its addresses pass or none."""

import queue
import socket
import threading
from ipaddress import IPv4Address, IPv6Address, ip_address

from switchboard.outbound.addresses import IPAddress, PrivateHosts, may_be_dialled
from switchboard.outbound.deadline import Deadline
from switchboard.outbound.messages import NotSent, Refused
from switchboard.outbound.target import Target

# The system's resolver cannot be interrupted: a lookup that hangs keeps its thread, and this many may hang at once.
LOOKUPS = threading.BoundedSemaphore(32)


def checked_addresses(target: Target, private: PrivateHosts, deadline: Deadline) -> tuple[IPAddress, ...]:
    """Return the addresses that may be dialled for the target, in the resolver's order, each once.

    One forbidden address among several forbids them all: a name that mixes them is misconfigured or hostile.
    Raises NotSent (`dns_failed`, `dns_timeout`) or Refused (`private_address`).
    """
    literal = target.address
    found = (literal,) if literal else _look_up(target, deadline)
    if target.host in private.names or all(may_be_dialled(address, private.networks) for address in found):
        return found
    raise Refused("private_address")


def _look_up(target: Target, deadline: Deadline) -> tuple[IPAddress, ...]:
    answers: queue.SimpleQueue[tuple[IPAddress, ...]] = queue.SimpleQueue()
    try:
        if not LOOKUPS.acquire(timeout=deadline.left()):
            raise NotSent("dns_timeout")
        _start_asking(target, answers)
        found = answers.get(timeout=deadline.left())
    except (TimeoutError, queue.Empty):
        raise NotSent("dns_timeout") from None
    if not found:
        raise NotSent("dns_failed")
    return found


def _start_asking(target: Target, answers: queue.SimpleQueue[tuple[IPAddress, ...]]) -> None:
    """Look up in a thread of its own; where the system has no more of them, the name is not resolved."""
    try:
        threading.Thread(target=_ask_the_system, args=(target, answers), name="dns", daemon=True).start()
    except RuntimeError:
        LOOKUPS.release()
        raise NotSent("dns_failed") from None


def _ask_the_system(target: Target, answers: queue.SimpleQueue[tuple[IPAddress, ...]]) -> None:
    """Put the addresses into the queue, none of them when the lookup fails."""
    try:
        found = socket.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
        answers.put(tuple(dict.fromkeys(_address(entry[4][0]) for entry in found)))
    except (OSError, ValueError):
        answers.put(())
    finally:
        LOOKUPS.release()


def _address(text: str | int) -> IPv4Address | IPv6Address:
    return ip_address(str(text).partition("%")[0])
