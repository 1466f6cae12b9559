"""``VectorEngine`` in arrays: exact, for tests and as the reference of the contract suite."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from services.common.ports.facts import Vectors
from services.common.ports.vector_engine import Numbers, Proposals


@dataclass(slots=True)
class MemoryVectorEngine:
    """Vectors of one process."""

    name: str = "memory"
    _held: dict[str, dict[int, Vectors]] = field(default_factory=dict)

    def add(self, collection: str, numbers: Numbers, vectors: Vectors) -> None:
        """Insert or replace."""
        held = self._held.setdefault(collection, {})
        held.update({number: vector.copy() for number, vector in zip(numbers.tolist(), vectors, strict=True)})

    def remove(self, collection: str, numbers: Numbers) -> None:
        """Forget vectors."""
        held = self._held.get(collection, {})
        for number in numbers.tolist():
            held.pop(number, None)

    def nearest(self, collection: str, queries: Vectors, limit: int) -> Sequence[Proposals]:
        """Compare every vector."""
        held = dict(self._held.get(collection, {}))
        known = np.array(list(held), dtype=np.int64)
        if not len(known):
            return [Proposals(known, np.empty(0, dtype=np.float32)) for _ in queries]
        scores = queries @ np.stack(list(held.values())).T
        best = np.argsort(-scores, axis=1, kind="stable")[:, :limit]
        return [Proposals(known[row], found[row]) for row, found in zip(best, scores, strict=True)]

    def numbers(self, collection: str) -> Numbers:
        """Return all numbers."""
        return np.array(sorted(self._held.get(collection, {})), dtype=np.int64)

    def stored(self, collection: str, numbers: Numbers) -> tuple[Numbers, Vectors]:
        """Return what is held of them."""
        held = self._held.get(collection, {})
        known = [number for number in numbers.tolist() if number in held]
        vectors = np.stack([held[number] for number in known]) if known else np.empty((0, 0), dtype=np.float32)
        return np.array(known, dtype=np.int64), vectors

    def count(self, collection: str) -> int:
        """Count them."""
        return len(self._held.get(collection, {}))

    def check(self) -> None:
        """Memory can always serve."""

    def close(self) -> None:
        """Keep what there is: another store may open it."""
