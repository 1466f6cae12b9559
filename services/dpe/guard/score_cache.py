"""The ScoreCache of the Director-AI page (D1, D2): scores by tenant, least recently used first out, for a while.

An entry stands under all that its score depends on but retrieved facts; those stand in it as a digest. What the
tenant's knowledge gives is looked at before an entry is used, so that a score is forgotten as soon as knowledge that it
rests on has changed, whatever changed it: a write, an erasure, a grant, or a moment from which a fact does not hold
(ADR 0122).
No text is kept: keys are digests, and a score holds ids, offsets and numbers. Belongs to one event loop.
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum, unique

from services.dpe.domain.guard.coherence import CoherenceScore


@unique
class Lookup(StrEnum):
    """How a look-up ended; the label of the metrics."""

    HIT = "hit"
    MISS = "miss"
    BYPASSED = "bypassed"


@dataclass(frozen=True, slots=True)
class Remembered:
    """A score, the digest of the facts that it rests on, and until when it is remembered."""

    score: CoherenceScore
    facts: bytes
    until: float


@dataclass(slots=True)
class ScoreCache:
    """Remembers scores.

    Attributes:
        entries: most that are remembered over all tenants; 0 = none.
        ttl_s: how long, in seconds; 0 = not at all.
        now: a monotonic clock, in seconds.
    """

    entries: int
    ttl_s: float
    now: Callable[[], float]
    counts: dict[Lookup, int] = field(default_factory=lambda: dict.fromkeys(Lookup, 0))
    _shelves: dict[str, "OrderedDict[bytes, Remembered]"] = field(default_factory=dict)
    _size: int = 0

    @property
    def size(self) -> int:
        """How many scores are remembered now."""
        return self._size

    def may_hold(self, tenant: str, key: bytes) -> bool:
        """Say whether there is a fresh entry under a key, whatever facts it rests on."""
        return self._fresh(tenant, key) is not None

    def find(self, tenant: str, key: bytes, facts: bytes) -> CoherenceScore | None:
        """Return the score that rests on these facts, and count; one that rests on others is forgotten."""
        entry = self._fresh(tenant, key)
        if entry is not None and entry.facts != facts:
            self._drop(tenant, key)
            entry = None
        self.counts[Lookup.MISS if entry is None else Lookup.HIT] += 1
        if entry is None:
            return None
        self._shelves[tenant].move_to_end(key)
        return entry.score

    def keep(self, tenant: str, key: bytes, facts: bytes, score: CoherenceScore) -> None:
        """Remember a score; room is taken from the tenant that holds most."""
        if not self.entries or not self.ttl_s:
            return
        self._drop(tenant, key)
        self._shelves.setdefault(tenant, OrderedDict())[key] = Remembered(score, facts, self.now() + self.ttl_s)
        self._size += 1
        while self._size > self.entries:
            fullest, shelf = max(self._shelves.items(), key=lambda item: len(item[1]))
            self._drop(fullest, next(iter(shelf)))

    def bypassed(self) -> None:
        """Count a call that neither reads nor writes."""
        self.counts[Lookup.BYPASSED] += 1

    def _fresh(self, tenant: str, key: bytes) -> Remembered | None:
        entry = self._shelves.get(tenant, _NOTHING).get(key)
        if entry is not None and entry.until <= self.now():
            self._drop(tenant, key)
            return None
        return entry

    def _drop(self, tenant: str, key: bytes) -> None:
        shelf = self._shelves.get(tenant)
        if shelf is None or shelf.pop(key, None) is None:
            return
        self._size -= 1
        if not shelf:
            del self._shelves[tenant]


_NOTHING: "OrderedDict[bytes, Remembered]" = OrderedDict()
