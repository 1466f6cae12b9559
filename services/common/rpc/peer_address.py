"""Who is on the other side of a connection, as far as limits and the record of refusals go.

``X-Forwarded-For`` is written by whoever likes to. It is read from the right, and only as long as the one who wrote
the entry is a proxy that the settings name. The address is never a reason to let anybody in.
"""

import ipaddress
from collections.abc import Iterable, Sequence
from typing import Any, Final
from urllib.parse import unquote

from services.common.settings.edge import UNIX

FORWARDED_KEY: Final = "x-forwarded-for"
UNKNOWN: Final = "unknown"
_MAX_HOPS: Final = 16
_SITE_BITS: Final = 64
"""A subscriber of IPv6 has at least this network to himself; single addresses in it count for nothing."""

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class PeerAddresses:
    """Finds the address that counts.

    Args:
        trusted: addresses and networks of proxies whose ``X-Forwarded-For`` is believed; ``unix`` for the socket's.
    """

    def __init__(self, trusted: Sequence[str] = ()) -> None:
        self._networks = tuple(ipaddress.ip_network(one) for one in trusted if one != UNIX)
        self._trusts_unix = UNIX in trusted

    def trusts(self, address: str) -> bool:
        """Say whether ``address`` is a proxy of ours."""
        if address == UNIX:
            return self._trusts_unix
        found = _parsed(address)
        return found is not None and any(found in network for network in self._networks)

    def behind(self, address: str, forwarded: Iterable[str] = ()) -> str:
        """Return the nearest address that is no proxy of ours: ``203.0.113.9``, ``2001:db8::/64``, ``unix``.

        Args:
            address: of the connection.
            forwarded: values of ``X-Forwarded-For`` in the order in which they came.
        """
        hops = [hop.strip() for value in forwarded for hop in value.split(",")][-_MAX_HOPS:]
        found = address
        while hops and self.trusts(found):
            given = hops.pop()
            if _parsed(given) is None:
                break  # what a proxy of ours wrote down is no address: it is counted as the proxy's
            found = given
        return site_of(found)

    def of_call(self, context: Any) -> str:
        """Return the address of a gRPC call's peer."""
        address = _of_peer(context.peer())
        if not self.trusts(address):
            return site_of(address)
        return self.behind(address, [value for key, value in context.invocation_metadata() if key == FORWARDED_KEY])


def site_of(address: str) -> str:
    """Return what is counted as one peer: an IPv4 address, or the /64 of an IPv6 address."""
    found = _parsed(address)
    if found is None:
        return UNIX if address == UNIX else UNKNOWN
    if isinstance(found, ipaddress.IPv4Address):
        return str(found)
    return str(ipaddress.ip_network((found.packed, _SITE_BITS), strict=False))


def _parsed(address: str) -> _Address | None:
    try:
        found = ipaddress.ip_address(address.partition("%")[0].strip("[]"))
    except ValueError:
        return None
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return mapped or found


def _of_peer(peer: str) -> str:
    """Return the host of what gRPC calls a peer: ``ipv4:127.0.0.1:4711``, ``ipv6:%5B::1%5D:4711``, ``unix:``."""
    kind, _, rest = peer.partition(":")
    return UNIX if kind.startswith(UNIX) else unquote(rest).rpartition(":")[0]
