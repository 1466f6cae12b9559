"""Requests that are remembered until their answers come: a proxy shows the two in two calls.

In this process alone, by tenant, for a few minutes, bounded by bytes; the oldest go first. Behind several gateways the
proxy's calls have to reach the same one, or name their facts themselves.
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from typing import Final

from groundtrail.grounds import Grounds

_TTL_S: Final = 600.0
_BYTES: Final = 64 * 1024 * 1024
_ENTRY_BYTES: Final = 512
_CHAR_BYTES: Final = 4


@dataclass(frozen=True, slots=True)
class _Entry:
    grounds: Grounds
    size: int
    until: float


class RememberedGrounds:
    """What the messages of requests held, by tenant and the caller's id of the call.

    Args:
        most_bytes: of all together; one that is larger alone is not kept.
        ttl_s: how long each is kept, in seconds.
        now: a clock that never goes back, in seconds.
    """

    def __init__(self, most_bytes: int = _BYTES, ttl_s: float = _TTL_S, now: Callable[[], float] = monotonic) -> None:
        self._most = most_bytes
        self._ttl_s = ttl_s
        self._now = now
        self._size = 0
        self._kept: OrderedDict[tuple[str, str], _Entry] = OrderedDict()

    def keep(self, tenant_id: str, call_id: str, grounds: Grounds) -> bool:
        """Remember; the latest of a call counts. Return whether there was room."""
        self._drop((tenant_id, call_id))
        texts = [grounds.question, *grounds.earlier_answers, *(source.text for source in grounds.sources)]
        size = _ENTRY_BYTES + sum(_CHAR_BYTES * len(text) for text in texts)
        if size > self._most:
            return False
        self._kept[tenant_id, call_id] = _Entry(grounds, size, self._now() + self._ttl_s)
        self._size += size
        while self._size > self._most or self._outdated():
            self._drop(next(iter(self._kept)))
        return True

    def found(self, tenant_id: str, call_id: str) -> Grounds | None:
        """Return what is remembered of a call of this tenant; it stays, for streams ask again and again."""
        entry = self._kept.get((tenant_id, call_id))
        return None if entry is None or entry.until < self._now() else entry.grounds

    def _outdated(self) -> bool:
        return bool(self._kept) and next(iter(self._kept.values())).until < self._now()

    def _drop(self, key: tuple[str, str]) -> None:
        entry = self._kept.pop(key, None)
        if entry is not None:
            self._size -= entry.size
