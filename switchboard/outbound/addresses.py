"""Decide which addresses may be dialled: public ones, and those that the operator named."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network

IPAddress = IPv4Address | IPv6Address
IPNetwork = IPv4Network | IPv6Network

# https://www.iana.org/assignments/iana-ipv4-special-registry and …/iana-ipv6-special-registry, read as "is this a
# place where a public service may stand?". `ipaddress.is_global` answers another question: it is true for multicast,
# for site-local addresses and for 64:ff9b::7f00:1, which a translator delivers to 127.0.0.1.
DENIED: tuple[IPNetwork, ...] = tuple(
    ip_network(network)
    for network in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # shared by carriers (CGNAT)
        "127.0.0.0/8",  # loopback
        "169.254.0.0/16",  # link-local, cloud metadata
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # protocol assignments
        "192.0.2.0/24",  # documentation
        "192.31.196.0/24",  # AS112
        "192.52.193.0/24",  # multicast tunnels
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",  # private
        "192.175.48.0/24",  # AS112
        "198.18.0.0/15",  # benchmarking
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, broadcast
        # Only 2000::/3 is global unicast. Outside stand the unspecified address, loopback, v4-mapped and v4-compatible
        # addresses, NAT64 (64:ff9b::/96, 64:ff9b:1::/48), discard (100::/64), segment routing (5f00::/16), unique local
        # (fc00::/7), link-local (fe80::/10), site-local (fec0::/10) and multicast (ff00::/8).
        "::/3",
        "4000::/2",
        "8000::/1",
        "2001::/23",  # protocol assignments: Teredo, benchmarking, ORCHID and more
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4
        "2620:4f:8000::/48",  # AS112
        "3ffe::/16",  # the former 6bone
        "3fff::/20",  # documentation
    )
)
NAT64 = IPv6Network("64:ff9b::/96")
COMPATIBLE = IPv6Network("::/96")


@dataclass(frozen=True)
class PrivateHosts:
    """What the operator opened: names that may resolve to any address, and networks that any name may resolve to."""

    names: frozenset[str]
    networks: tuple[IPNetwork, ...]


def read_private_hosts(entries: Iterable[str]) -> PrivateHosts:
    """Sort the entries of SWITCHBOARD_PRIVATE_HOSTS: each is a CIDR network or a lower-case host name."""
    names, networks = set(), []
    for entry in entries:
        try:
            networks.append(ip_network(entry))
        except ValueError:
            names.add(entry)
    return PrivateHosts(frozenset(names), tuple(networks))


def may_be_dialled(address: IPAddress, networks: Iterable[IPNetwork] = ()) -> bool:
    """Return whether the address, and every IPv4 address inside it, is public or within one of the networks."""
    opened = tuple(networks)
    return all(_within(each, opened) or not _within(each, DENIED) for each in (address, *_embedded(address)))


def _within(address: IPAddress, networks: Iterable[IPNetwork]) -> bool:
    return any(address in network for network in networks)


def _embedded(address: IPAddress) -> Iterator[IPv4Address]:
    """Yield the IPv4 addresses where a translator or tunnel would deliver what is sent to the IPv6 address."""
    if isinstance(address, IPv4Address):
        return
    yield from (found for found in (address.ipv4_mapped, address.sixtofour) if found)
    yield from address.teredo or ()
    if address in NAT64 or (address in COMPATIBLE and int(address) > 1):
        yield IPv4Address(int(address) & 0xFFFF_FFFF)
