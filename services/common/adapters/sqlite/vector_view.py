"""What is known of one tenant's vectors at one change number: an immutable value that searches share without locks.

Each known fact has a slot; slots are ordered by fact number. The first ``indexed`` slots are in the HNSW graph, the
others, the tail, are compared exactly. A view proposes candidates; scores and order are computed from SQLite's vectors.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from services.common.adapters.sqlite.hnsw import SCORE_ERROR, HnswIndex, Numbers, Proposals
from services.common.ports.facts import FactFilter, FactStatus, Vectors

Mask = NDArray[np.bool_]

GONE: Final = -1
"""Status code of a slot whose fact was removed, replaced or erased."""
STATUS_CODES: Final[Mapping[str, int]] = {FactStatus.ACTIVE: 0, FactStatus.STALE: 1, FactStatus.QUARANTINED: 2}
_RETRIEVABLE_CODES: Final = frozenset({0, 1})
_OVERFETCH: Final = 1.3
_OVERFETCH_MIN: Final = 16
_OVERFETCH_GROWTH: Final = 4
_COMPARED_PER_PROPOSAL: Final = 4
"""Vectors that can be compared in the time that the graph takes for one more proposal (ADR 0031)."""
_OVERFETCH_MAX: Final = 4_096


@dataclass(frozen=True, slots=True)
class VectorView:
    """One tenant's vectors.

    Attributes:
        change: the tenant's change number that the view shows.
        numbers: fact number of each slot, ascending.
        statuses: ``STATUS_CODES`` of each slot, or ``GONE``.
        sources: code of each slot's source in ``source_codes``; communities likewise.
        index: the graph over the first ``indexed`` slots; ``None`` while there is none.
        tail: vectors of the other slots, in blocks.
    """

    change: int
    numbers: Numbers
    statuses: NDArray[np.int8]
    sources: NDArray[np.int32]
    communities: NDArray[np.int32]
    source_codes: Mapping[str, int]
    community_codes: Mapping[str, int]
    index: HnswIndex | None
    indexed: int
    tail: tuple[Vectors, ...]

    @property
    def memory_bytes(self) -> int:
        """Memory that the view holds."""
        slots = self.numbers.nbytes + self.statuses.nbytes + self.sources.nbytes + self.communities.nbytes
        tail = sum(block.nbytes for block in self.tail)
        return slots + tail + (self.index.memory_bytes if self.index else 0)

    @property
    def gone_from_index(self) -> int:
        """Slots of the graph whose facts are no more."""
        return int(np.count_nonzero(self.statuses[: self.indexed] == GONE))

    def allowed(self, where: FactFilter) -> Mask:
        """Say of each slot whether a search under ``where`` may return it."""
        wanted = [code for name, code in STATUS_CODES.items() if not where.statuses or name in where.statuses]
        mask = np.zeros(len(self.statuses), dtype=np.bool_)
        for code in set(wanted) & _RETRIEVABLE_CODES:
            mask |= self.statuses == code
        if where.source_ids:
            mask &= _chosen(self.source_codes, where.source_ids)[self.sources]
        if where.communities:
            mask &= _chosen(self.community_codes, where.communities)[self.communities]
        return mask

    def candidates(self, queries: Vectors, limit: int, where: FactFilter) -> list[Numbers]:
        """Return for each query the fact numbers among which its ``limit`` best are; more than ``limit`` on ties.

        Args:
            queries: unit vectors, one a row.
            limit: how many hits are wanted.
            where: what may be returned.
        """
        mask = self.allowed(where)
        parts = [self._tail_candidates(queries, limit, mask), self._graph_candidates(queries, limit, mask)]
        return [_merge([part[row] for part in parts if part], limit) for row in range(len(queries))]

    def _tail_candidates(self, queries: Vectors, limit: int, mask: Mask) -> list[Proposals]:
        if not self.tail or not mask[self.indexed :].any():
            return []
        scores = np.concatenate([block @ queries.T for block in self.tail])
        slots = np.flatnonzero(mask[self.indexed :])
        return _best(self.numbers[self.indexed + slots], scores[slots], limit)

    def _graph_candidates(self, queries: Vectors, limit: int, mask: Mask) -> list[Proposals]:
        slots = np.flatnonzero(mask[: self.indexed])
        if self.index is None or not len(slots):
            return []
        fetch = int(limit * _OVERFETCH * self.indexed / len(slots)) + _OVERFETCH_MIN
        if len(slots) <= _COMPARED_PER_PROPOSAL * fetch:  # a selective filter: looking at all that it allows is cheaper
            return _compared(self.index, self.numbers[slots], queries, limit)
        while fetch <= _OVERFETCH_MAX:
            proposed = self.index.search(queries, fetch)
            found = [self._kept(proposals, mask) for proposals in proposed]
            if all(_suffices(kept, among, limit) for kept, among in zip(found, proposed, strict=True)):
                return found
            fetch *= _OVERFETCH_GROWTH
        return _compared(self.index, self.numbers[slots], queries, limit)

    def _kept(self, proposals: Proposals, mask: Mask) -> Proposals:
        slots = np.minimum(np.searchsorted(self.numbers, proposals.numbers), len(self.numbers) - 1)
        keep = (self.numbers[slots] == proposals.numbers) & mask[slots]
        return Proposals(proposals.numbers[keep], proposals.scores[keep])


def _suffices(kept: Proposals, among: Proposals, limit: int) -> bool:
    """Say whether nothing that was not proposed can be as good as the best ``limit`` of what was kept."""
    return len(kept.numbers) >= limit and float(among.scores.min()) < _threshold(kept.scores, limit)


def _compared(index: HnswIndex, numbers: Numbers, queries: Vectors, limit: int) -> list[Proposals]:
    blocks = [numbers[start : start + _OVERFETCH_MAX] for start in range(0, len(numbers), _OVERFETCH_MAX)]
    scores = np.concatenate([index.vectors(block) @ queries.T for block in blocks])
    return _best(numbers, scores, limit)


def _chosen(codes: Mapping[str, int], names: Sequence[str]) -> Mask:
    """Return for each code whether its name is among ``names``."""
    chosen = np.zeros(len(codes), dtype=np.bool_)
    chosen[[codes[name] for name in names if name in codes]] = True
    return chosen


def _best(numbers: Numbers, scores: Vectors, limit: int) -> list[Proposals]:
    """Return per column of ``scores`` the numbers within ``SCORE_ERROR`` of the best ``limit``."""
    best = []
    for column in scores.T:
        keep = column >= _threshold(column, limit)
        best.append(Proposals(numbers[keep], column[keep]))
    return best


def _merge(parts: Sequence[Proposals], limit: int) -> Numbers:
    if not parts:
        return np.empty(0, dtype=np.int64)
    numbers = np.concatenate([part.numbers for part in parts])
    scores = np.concatenate([part.scores for part in parts])
    return numbers[scores >= _threshold(scores, limit)] if len(scores) else numbers


def _threshold(scores: Vectors, limit: int) -> float:
    if len(scores) <= limit:
        return -np.inf
    return float(np.partition(scores, len(scores) - limit)[len(scores) - limit]) - SCORE_ERROR
