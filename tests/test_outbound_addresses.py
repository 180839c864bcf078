"""Which addresses are public: our own list, and at least as strict as another that is kept elsewhere."""

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from ssrfguard import DEFAULT_DENIED, Policy, SSRFGuardError

from switchboard.outbound import Refused
from switchboard.outbound.addresses import DENIED, IPAddress, may_be_dialled, read_private_hosts
from switchboard.outbound.target import read_target

SPECIAL = [str(network) for network in DENIED] + [str(block.network) for block in DEFAULT_DENIED.blocks]
EMBEDDING = {
    "::": 0,
    "::ffff:0:0": 0,
    "64:ff9b::": 0,
    "64:ff9b:1::": 0,
    "2002::": 80,
}
ADDRESSES = st.one_of(
    st.ip_addresses(), st.sampled_from(SPECIAL).flatmap(lambda network: st.ip_addresses(network=network))
)


def embedded(prefix: str, inner: IPv4Address) -> IPv6Address:
    return IPv6Address(int(IPv6Address(prefix)) | int(inner) << EMBEDDING[prefix])


@pytest.mark.parametrize("address", ["8.8.8.8", "140.82.121.6", "1.1.1.1", "2606:4700::6810:84e5", "2a00:1450::1"])
def test_a_public_address_may_be_dialled(address: str) -> None:
    assert may_be_dialled(ip_address(address))


@pytest.mark.parametrize("network", SPECIAL)
def test_a_special_network_may_not_be_dialled_at_either_end(network: str) -> None:
    exempt = {"192.0.0.9/32", "192.0.0.10/32"}
    assert network in exempt or not may_be_dialled(ip_network(network)[0])
    assert network in exempt or not may_be_dialled(ip_network(network)[-1])


@settings(deadline=None)
@given(ADDRESSES)
def test_whatever_the_oracle_refuses_is_refused(address: IPAddress) -> None:
    assert Policy().permits_address(address) or not may_be_dialled(address)


@settings(deadline=None)
@given(st.sampled_from(sorted(EMBEDDING)), st.ip_addresses(v=4))
def test_an_address_inside_another_is_judged_too(prefix: str, inner: IPv4Address) -> None:
    outer = embedded(prefix, inner)
    assert not may_be_dialled(outer)
    if not may_be_dialled(inner) and prefix != "64:ff9b:1::" and int(outer) > 1:
        assert not may_be_dialled(outer, [ip_network(outer)])


@settings(deadline=None)
@given(st.text(alphabet="0123456789.xXabcdef:[]%。１②-_ /\\@ßé", min_size=1, max_size=24))
@example("127。0。0。1")
@example("0x7f.1")
def test_whatever_host_the_oracle_refuses_is_refused(host: str) -> None:
    url = f"https://{host}/"
    try:
        Policy(allowed_ports=frozenset(range(1, 65536))).check_url(url)
    except SSRFGuardError:
        assert not would_be_dialled(url)


def would_be_dialled(url: str) -> bool:
    try:
        address = read_target(url).address
    except Refused:
        return False
    return address is None or may_be_dialled(address)


def test_an_opened_network_opens_its_own_addresses_only() -> None:
    opened = [ip_network("10.1.0.0/16")]
    assert may_be_dialled(ip_address("10.1.2.3"), opened)
    assert not may_be_dialled(ip_address("10.2.2.3"), opened)
    assert not may_be_dialled(ip_address("::ffff:10.1.2.3"), opened)


@pytest.mark.parametrize(
    ("network", "public", "private"),
    [
        ("64:ff9b::/96", "64:ff9b::8.8.8.8", "64:ff9b::10.0.0.5"),
        ("::ffff:0:0/96", "::ffff:8.8.8.8", "::ffff:10.0.0.5"),
        ("2002::/16", "2002:808:808::1", "2002:a00:5::1"),
        ("2001::/32", "2001:0:808:808::f7f7:f7f7", "2001:0:808:808::f5ff:fffa"),
    ],
)
def test_an_opened_translator_still_hides_no_private_address(network: str, public: str, private: str) -> None:
    opened = [ip_network(network)]
    assert may_be_dialled(ip_address(public), opened)
    assert not may_be_dialled(ip_address(private), opened)


def test_names_and_networks_are_told_apart() -> None:
    private = read_private_hosts(("gitea.internal", "10.0.0.0/8", "fd00::/8", "127.0.0.1/32"))
    assert private.names == {"gitea.internal"}
    assert [str(network) for network in private.networks] == ["10.0.0.0/8", "fd00::/8", "127.0.0.1/32"]


def test_a_default_port_is_left_out_of_the_host_header() -> None:
    assert read_target("https://Git.Example.net:443/x").authority == "git.example.net"
    assert read_target("https://git.example.net:8443").authority == "git.example.net:8443"
    assert read_target("http://[2606:4700::0001]:80/").authority == "[2606:4700::1]"
