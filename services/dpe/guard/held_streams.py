"""Streams by id, so that a client that lost its connection can go on (ADR 0123): for a bounded time and number.

A stream is found by its tenant alone. One that is on a connection is never dropped; of the others the one that was
lost first goes when there are too many.
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from services.common.errors import ErrorReason, NotFoundError, PreconditionError
from services.dpe.guard.overseen import Overseen

_CONNECTED: Final = float("inf")


@dataclass(slots=True)
class _Held:
    stream: Overseen
    lost_at: float = _CONNECTED


class HeldStreams:
    """Resumable streams.

    Args:
        keep_s: how long one is kept once it is on no connection.
        most: so many of these are kept.
        now: a monotonic clock, in seconds.
    """

    def __init__(self, keep_s: float, most: int, now: Callable[[], float]) -> None:
        self._keep_s = keep_s
        self._most = most
        self._now = now
        self._streams: OrderedDict[tuple[str, str], _Held] = OrderedDict()
        """Those that were lost first stand first; what is on a connection stands anywhere."""
        self._loose = 0

    @property
    def loose(self) -> int:
        """Streams that are kept without a connection."""
        return self._loose

    def require_free(self, tenant: str, oversight_id: str) -> None:
        """Refuse an id that names a stream already.

        Raises:
            PreconditionError: REQUEST_ID_REUSED.
        """
        self._drop_old()
        if (tenant, oversight_id) in self._streams:
            text = "start.oversight_id names an oversight that goes on; resume it, or take a fresh UUID"
            raise PreconditionError(ErrorReason.REQUEST_ID_REUSED, text, oversight_id=oversight_id)

    def add(self, stream: Overseen) -> None:
        """Keep a stream that is on its first connection."""
        self._streams[stream.tenant, stream.oversight_id] = _Held(stream)

    def find(self, tenant: str, oversight_id: str) -> Overseen:
        """Return a stream.

        Raises:
            NotFoundError: OVERSIGHT_NOT_FOUND.
        """
        self._drop_old()
        held = self._streams.get((tenant, oversight_id))
        if held is None:
            text = "no oversight of this id can be resumed: it is unknown, or its connection broke too long ago"
            raise NotFoundError(ErrorReason.OVERSIGHT_NOT_FOUND, text, oversight_id=oversight_id)
        return held.stream

    def connect(self, stream: Overseen) -> None:
        """Keep a stream that is on a connection again, as long as it is."""
        held = self._streams[stream.tenant, stream.oversight_id]
        if held.lost_at != _CONNECTED:
            self._loose -= 1
        held.lost_at = _CONNECTED

    def let_go(self, stream: Overseen) -> None:
        """Keep a stream that is on no connection any more."""
        key = stream.tenant, stream.oversight_id
        held = self._streams.get(key)
        if held is None or held.stream is not stream or held.lost_at != _CONNECTED:
            return
        held.lost_at = self._now()
        self._loose += 1
        self._streams.move_to_end(key)
        self._drop_old()

    def _drop_old(self) -> None:
        oldest = self._now() - self._keep_s
        loose = [key for key, held in self._streams.items() if held.lost_at != _CONNECTED]
        for key in loose:
            if self._loose <= self._most and self._streams[key].lost_at > oldest:
                break
            del self._streams[key]
            self._loose -= 1
