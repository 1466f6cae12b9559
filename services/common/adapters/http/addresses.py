"""Which addresses may be talked to: what an attacker gains by pointing a name at our own network is decided here.

A name is resolved at every attempt, every address that it has is judged, and the connection goes to a judged address
itself, so that a second answer of the name server changes nothing (DNS rebinding).
"""

import ipaddress
from collections.abc import Sequence
from typing import Final

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_NAT64: Final = (ipaddress.IPv6Network("64:ff9b::/96"), ipaddress.IPv6Network("64:ff9b:1::/48"))


def refusal(addresses: Sequence[str], *, private_allowed: bool, plaintext: bool) -> str:
    """Return why not all of a host's addresses may be talked to; empty when they may.

    Args:
        addresses: as the resolver gave them; one bad one condemns all.
        private_allowed: the operator allows private and loopback addresses for this host.
        plaintext: without TLS, which only loopback addresses get.
    """
    if not addresses:
        return "the host has no address"
    for text in addresses:
        problem = _refusal_of(_unwrapped(ipaddress.ip_address(text.partition("%")[0])), private_allowed)
        if problem:
            return f"{text} {problem}"
        if plaintext and not _unwrapped(ipaddress.ip_address(text.partition("%")[0])).is_loopback:
            return f"{text} is no loopback address: it is talked to by https only"
    return ""


def _refusal_of(address: Address, private_allowed: bool) -> str:
    reserved = isinstance(address, ipaddress.IPv4Address) and address.is_reserved
    if reserved or address.is_multicast or address.is_unspecified or address.is_link_local:
        return "is a reserved, multicast, unspecified or link-local address, which is never talked to"
    if address.is_global:
        return ""
    if not (address.is_private or address.is_loopback):
        return "is in a shared range, which is never talked to"
    if private_allowed:
        return ""
    return "is a private address; only hosts in the setting PRIVATE_HOSTS may have one"


def _unwrapped(address: Address) -> Address:
    """Return the IPv4 address that an IPv6 one stands for (mapped, 6to4, Teredo, NAT64), or the address itself."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    inner = address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None)
    if inner is None and any(address in network for network in _NAT64):
        inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return inner or address
