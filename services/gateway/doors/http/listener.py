"""The listening socket of the HTTP port: bounds connections by address before TLS, parsing or a task costs anything.

asyncio's accept loop asks it for connections. One too many of an address is reset; when the port is full, a newcomer
takes the place of the oldest connection without a call of an address that holds more than the newcomer's does, so that
no crowd of one client's, half-open or idle, keeps others or a probe out. Proxies of ours may hold any share: all
clients' connections are theirs (ADR 0089).
"""

import contextlib
import socket
import struct
from collections.abc import Callable
from typing import Any, Final, Self

from services.common.rpc.peer_address import PeerAddresses, site_of

_RESET: Final = struct.pack("ii", 1, 0)
"""SO_LINGER on and 0: closing resets, and leaves nothing behind in the kernel."""

Peer = tuple[Any, ...]


class BoundedListener(socket.socket):
    """Takes connections as long as its book does."""

    book: "ConnectionBook"

    @classmethod
    def bound(cls, host: str, port: int, book: "ConnectionBook") -> Self:
        """Return a socket that is bound and does not listen yet.

        Raises:
            OSError: the address is taken, or none of this machine.
        """
        listener = cls(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
        listener.book = book
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((host.strip("[]"), port))
        except OSError:
            listener.close()
            raise
        return listener

    def accept(self) -> tuple[socket.socket, Peer]:
        """Return the next connection that the book takes; the others are reset."""
        while True:
            found, peer = super().accept()
            taken = _Taken(fileno=found.detach())
            if self.book.enter(taken, peer):
                taken.left = lambda taken=taken, peer=peer: self.book.leave(peer, taken)
                return taken, peer
            taken.reset()


class _Taken(socket.socket):
    """A connection that tells when it is closed."""

    left: Callable[[], None] | None = None

    def close(self) -> None:
        """Close it and give its place back; idempotent."""
        super().close()
        left, self.left = self.left, None
        if left is not None:
            left()

    def reset(self) -> None:
        """Close it at once; the peer sees a reset."""
        with contextlib.suppress(OSError):
            self.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        self.close()

    def end(self) -> None:
        """Have whoever reads it see its end, and close it."""
        with contextlib.suppress(OSError):
            self.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            self.shutdown(socket.SHUT_RDWR)


class ConnectionBook:
    """Who holds how many connections, and which of them have no call under way.

    Args:
        most: over all addresses.
        most_of_one: of one address (of an IPv6 /64); proxies of ours are not counted by address.
        addresses: which are proxies of ours.
    """

    def __init__(self, most: int, most_of_one: int, addresses: PeerAddresses) -> None:
        self._most = most
        self._most_of_one = most_of_one
        self._addresses = addresses
        self._held: dict[str, dict[Peer, _Taken]] = {}
        self._sites: dict[Peer, str] = {}
        self._busy: set[Peer] = set()
        self._proxied: set[str] = set()

    def __len__(self) -> int:
        return len(self._sites)

    def enter(self, connection: _Taken, peer: Peer) -> bool:
        """Take a connection on, if need be in place of another; say whether it was."""
        site = site_of(peer[0])
        held = self._held.get(site, {})
        if self._addresses.trusts(peer[0]):
            self._proxied.add(site)
        elif len(held) >= self._most_of_one:
            return False
        if len(self) >= self._most and not self._made_room(len(held)):
            return False
        self._held.setdefault(site, {})[peer] = connection
        self._sites[peer] = site
        return True

    def leave(self, peer: Peer, connection: _Taken) -> None:
        """Forget a connection that was closed, or had to go; idempotent."""
        site = self._sites.get(peer)
        if site is None or self._held[site][peer] is not connection:
            return  # its place was taken already
        held = self._held[site]
        del self._sites[peer], held[peer]
        self._busy.discard(peer)
        if not held:
            del self._held[site]
            self._proxied.discard(site)

    def busy(self, peer: Peer, *, is_busy: bool) -> None:
        """Note whether a call is under way on a connection."""
        if is_busy and peer in self._sites:
            self._busy.add(peer)
        else:
            self._busy.discard(peer)

    def _made_room(self, newcomer_holds: int) -> bool:
        crowds = sorted(
            (len(held), site)
            for site, held in self._held.items()
            if len(held) > newcomer_holds and site not in self._proxied
        )
        for _, site in reversed(crowds):
            for peer, connection in self._held[site].items():
                if peer not in self._busy:
                    self.leave(peer, connection)
                    connection.end()
                    return True
        return False
