"""What an engine proposes among one tenant's facts, and when it is left alone (ADR 0129)."""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Self

import numpy as np

from services.common.engine_counts import EngineCounts
from services.common.ports.facts import Vectors
from services.common.ports.vector_engine import Numbers, Proposals, VectorEngine, VectorEngineError

_LOG: Final = logging.getLogger(__name__)
_REST_S: Final = 1.0
_LONGEST_REST_S: Final = 30.0


class AskedEngine:
    """An engine, with what is counted of it; one that fails is left alone for a while, longer each time.

    Args:
        engine: the engine.
        counts: where to count.
        clock: seconds that only grow.
    """

    def __init__(self, engine: VectorEngine, counts: EngineCounts, clock: Callable[[], float] = time.monotonic) -> None:
        self.engine = engine
        self.counts = counts
        self._clock = clock
        self._lock = threading.Lock()
        self._until = 0.0
        self._rest_s = _REST_S
        self._lost: set[str] = set()

    @property
    def resting(self) -> bool:
        """Whether it failed a short while ago; what can be done without it is done so."""
        return self._clock() < self._until

    def failed(self, doing: str, error: VectorEngineError) -> None:
        """Count a failure and let it rest."""
        self.counts.failed(self.engine.name, doing)
        _LOG.warning("a vector engine failed", extra={"engine": self.engine.name, "doing": doing, "why": str(error)})
        with self._lock:
            if self._clock() >= self._until:  # of those that failed together one lets it rest
                self._until = self._clock() + self._rest_s
                self._rest_s = min(2 * self._rest_s, _LONGEST_REST_S)

    def answered(self) -> None:
        """End its rests."""
        with self._lock:
            self._until, self._rest_s = 0.0, _REST_S

    def nearest(self, collection: str, queries: Vectors, limit: int) -> Sequence[Proposals] | None:
        """Return ``limit`` proposals for each query, fewer when it has no more; ``None`` when it did not answer."""
        if self.resting:
            self.counts.searched(self.engine.name, "resting")
            return None
        try:
            found = self.engine.nearest(collection, queries, limit)
        except VectorEngineError as error:
            self.failed("search", error)
            self.counts.searched(self.engine.name, "failed")
            return None
        self.answered()
        if any(len(one.numbers) < limit for one in found):
            self.counts.searched(self.engine.name, "short")
            return found
        self.counts.searched(self.engine.name, "answered")
        return found

    def look_for(self, collection: str, count: int) -> None:
        """Learn whether the engine has lost vectors of a collection that should hold so many."""
        try:
            if self.engine.count(collection) < count:
                self._lost.add(collection)
        except VectorEngineError as error:
            self.failed("list", error)

    def has_lost(self, collection: str) -> bool:
        """Say whether vectors of a collection were missed."""
        return collection in self._lost

    def listed(self, collection: str) -> None:
        """Take note that it is known now what a collection holds."""
        self._lost.discard(collection)


@dataclass(frozen=True, slots=True)
class EngineIndex:
    """What an engine holds of one tenant's leading facts.

    Attributes:
        asked: the engine.
        collection: of the tenant.
        known: fact numbers that are proposed among, ascending; the engine may hold more.
    """

    asked: AskedEngine
    collection: str
    known: Numbers

    def __len__(self) -> int:
        return len(self.known)

    @property
    def memory_bytes(self) -> int:
        """Memory of the numbers; the vectors are elsewhere."""
        return self.known.nbytes

    @property
    def lost(self) -> bool:
        """Whether the engine has lost some of them."""
        return self.asked.has_lost(self.collection)

    def search(self, queries: Vectors, limit: int) -> Sequence[Proposals] | None:
        """Ask the engine; facts that came after this index are for the tail."""
        limit = min(limit, len(self.known))
        found = self.asked.nearest(self.collection, queries, limit)
        if found is None:
            return None
        if any(len(one.numbers) < limit for one in found):
            self.asked.look_for(self.collection, len(self.known))
            return None
        return [self._kept(one) for one in found]

    def vectors(self, numbers: Numbers) -> Vectors | None:  # noqa: ARG002 - of the port
        """Leave them to SQLite, which has them exactly."""
        return None

    def leading(self, numbers: Numbers) -> Self | None:
        """Return the index over the first facts that the engine holds without a gap."""
        held = np.isin(numbers, self.known)
        first = len(numbers) if held.all() else int(np.argmin(held))
        return type(self)(self.asked, self.collection, numbers[:first]) if first else None

    def _kept(self, proposals: Proposals) -> Proposals:
        keep = np.isin(proposals.numbers, self.known)
        return Proposals(proposals.numbers[keep], proposals.scores[keep])
