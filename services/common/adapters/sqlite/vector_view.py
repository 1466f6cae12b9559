"""What is known of one tenant's vectors at one change number: an immutable value that searches share without locks.

Each known fact has a slot; slots are ordered by fact number. The first ``indexed`` slots are in the index, the
others, the tail, are compared exactly. A view proposes candidates; scores and order are computed from SQLite's vectors.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from services.common.adapters.sqlite.hnsw import SCORE_ERROR
from services.common.adapters.sqlite.tenant_indexes import GONE, Mask, TenantIndex
from services.common.adapters.sqlite.values import micros
from services.common.ports.facts import FactFilter, FactStatus, TimeFilter, Vectors
from services.common.ports.vector_engine import Numbers, Proposals

Stored: TypeAlias = Callable[[Numbers], Vectors]
"""Reads vectors by ascending fact number, exactly."""
NO_START: Final = np.iinfo(np.int64).min
NO_END: Final = np.iinfo(np.int64).max
"""Microseconds of a fact that has held always, or holds for ever."""
STATUS_CODES: Final[Mapping[str, int]] = {FactStatus.ACTIVE: 0, FactStatus.STALE: 1, FactStatus.QUARANTINED: 2}
_RETRIEVABLE_CODES: Final = frozenset({0, 1})
_OVERFETCH: Final = 1.3
_OVERFETCH_MIN: Final = 16
_OVERFETCH_GROWTH: Final = 4
_COMPARED_PER_PROPOSAL: Final = 4
"""Vectors that can be compared in the time that the graph takes for one more proposal (ADR 0031)."""
_OVERFETCH_MAX: Final = 4_096
_FEW: Final = 1_024
"""Slots that a filter leaves, up to which they are compared one by one without looking at any other."""


@dataclass(frozen=True, slots=True)
class VectorView:
    """One tenant's vectors.

    Attributes:
        change: the tenant's change number that the view shows.
        numbers: fact number of each slot, ascending.
        statuses: ``STATUS_CODES`` of each slot, or ``GONE``.
        sources: code of each slot's source in ``source_codes``; communities likewise.
        starts: microseconds since 1970 at which each slot's fact begins to hold, or ``NO_START``.
        ends: those at which it ceases to, because it was replaced or is no longer valid, or ``NO_END``.
        is_timed: some slot begins or ceases.
        index: proposes among the first ``indexed`` slots; ``None`` while there is none.
        tail: vectors of the other slots, in blocks.
    """

    change: int
    numbers: Numbers
    statuses: NDArray[np.int8]
    sources: NDArray[np.int32]
    communities: NDArray[np.int32]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    is_timed: bool
    source_codes: Mapping[str, int]
    community_codes: Mapping[str, int]
    index: TenantIndex | None
    indexed: int
    tail: tuple[Vectors, ...]

    @property
    def memory_bytes(self) -> int:
        """Memory that the view holds."""
        slots = self.numbers.nbytes + self.statuses.nbytes + self.sources.nbytes + self.communities.nbytes
        slots += self.starts.nbytes + self.ends.nbytes
        tail = sum(block.nbytes for block in self.tail)
        return slots + tail + (self.index.memory_bytes if self.index else 0)

    @property
    def gone_from_index(self) -> int:
        """Slots of the index whose facts are no more."""
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
        if where.time is not None and self.is_timed:
            mask &= _held(self.starts, self.ends, where.time)
        return mask

    def candidates(self, queries: Vectors, limit: int, where: FactFilter, stored: Stored) -> list[Numbers]:
        """Return for each query the fact numbers among which its ``limit`` best are; more than ``limit`` on ties.

        Args:
            queries: unit vectors, one a row.
            limit: how many hits are wanted.
            where: what may be returned.
            stored: reads vectors that the index does not give.
        """
        if where.communities or where.source_ids:  # few facts, so that looking at each beats a mask over all of them
            slots = self._chosen_slots(where)
            if len(slots) <= _FEW:
                return self._compared_slots(slots, queries, limit, stored)
        mask = self.allowed(where)
        parts = [self._tail_candidates(queries, limit, mask), self._index_candidates(queries, limit, mask, stored)]
        return [_merge([part[row] for part in parts if part], limit) for row in range(len(queries))]

    def _chosen_slots(self, where: FactFilter) -> NDArray[np.intp]:
        """Return the slots of retrievable facts that match the filter, whose sources or communities are few."""
        if where.communities:
            slots = _slots_of(self.communities, self.community_codes, where.communities)
            if where.source_ids:
                slots = slots[_chosen(self.source_codes, where.source_ids)[self.sources[slots]]]
        else:
            slots = _slots_of(self.sources, self.source_codes, where.source_ids)
        wanted = {code for name, code in STATUS_CODES.items() if not where.statuses or name in where.statuses}
        slots = slots[np.isin(self.statuses[slots], list(wanted & _RETRIEVABLE_CODES))]
        if where.time is not None and self.is_timed:
            slots = slots[_held(self.starts[slots], self.ends[slots], where.time)]
        return slots

    def _compared_slots(self, slots: NDArray[np.intp], queries: Vectors, limit: int, stored: Stored) -> list[Numbers]:
        split = int(np.searchsorted(slots, self.indexed))
        parts: list[list[Proposals]] = []
        if split and self.index is not None:
            parts.append(_compared(self.index, self.numbers[slots[:split]], queries, limit, stored))
        if split < len(slots):
            scores = _rows_of(self.tail, slots[split:] - self.indexed) @ queries.T
            parts.append(_best(self.numbers[slots[split:]], scores, limit))
        return [_merge([part[row] for part in parts], limit) for row in range(len(queries))]

    def _tail_candidates(self, queries: Vectors, limit: int, mask: Mask) -> list[Proposals]:
        if not self.tail or not mask[self.indexed :].any():
            return []
        scores = np.concatenate([block @ queries.T for block in self.tail])
        slots = np.flatnonzero(mask[self.indexed :])
        return _best(self.numbers[self.indexed + slots], scores[slots], limit)

    def _index_candidates(self, queries: Vectors, limit: int, mask: Mask, stored: Stored) -> list[Proposals]:
        slots = np.flatnonzero(mask[: self.indexed])
        if self.index is None or not len(slots):
            return []
        fetch = int(limit * _OVERFETCH * self.indexed / len(slots)) + _OVERFETCH_MIN
        if len(slots) <= _COMPARED_PER_PROPOSAL * fetch:  # a selective filter: looking at all that it allows is cheaper
            return _compared(self.index, self.numbers[slots], queries, limit, stored)
        while fetch <= _OVERFETCH_MAX:
            proposed = self.index.search(queries, fetch)
            if proposed is None:
                break
            found = [self._kept(proposals, mask) for proposals in proposed]
            if all(_suffices(kept, among, limit) for kept, among in zip(found, proposed, strict=True)):
                return found
            fetch *= _OVERFETCH_GROWTH
        return _compared(self.index, self.numbers[slots], queries, limit, stored)

    def _kept(self, proposals: Proposals, mask: Mask) -> Proposals:
        slots = np.minimum(np.searchsorted(self.numbers, proposals.numbers), len(self.numbers) - 1)
        keep = (self.numbers[slots] == proposals.numbers) & mask[slots]
        return Proposals(proposals.numbers[keep], proposals.scores[keep])


def _suffices(kept: Proposals, among: Proposals, limit: int) -> bool:
    """Say whether nothing that was not proposed can be as good as the best ``limit`` of what was kept."""
    return len(kept.numbers) >= limit and float(among.scores.min()) < _threshold(kept.scores, limit)


def _compared(index: TenantIndex, numbers: Numbers, queries: Vectors, limit: int, stored: Stored) -> list[Proposals]:
    blocks = [numbers[start : start + _OVERFETCH_MAX] for start in range(0, len(numbers), _OVERFETCH_MAX)]
    held = (index.vectors(block) for block in blocks)
    scores = np.concatenate(
        [(stored(block) if some is None else some) @ queries.T for block, some in zip(blocks, held, strict=True)]
    )
    return _best(numbers, scores, limit)


def _held(starts: NDArray[np.int64], ends: NDArray[np.int64], time: TimeFilter) -> Mask:
    """Say of each fact whether a read under the filter sees it."""
    at = micros(time.at)
    held: Mask = np.ones(len(starts), dtype=np.bool_) if time.ended else ends > at
    return held if time.coming else held & (starts <= at)


def _chosen(codes: Mapping[str, int], names: Sequence[str]) -> Mask:
    """Return for each code whether its name is among ``names``."""
    chosen = np.zeros(len(codes), dtype=np.bool_)
    chosen[[codes[name] for name in names if name in codes]] = True
    return chosen


def _slots_of(codes: NDArray[np.int32], known: Mapping[str, int], names: Sequence[str]) -> NDArray[np.intp]:
    """Return the slots whose code is that of one of the names, ascending."""
    wanted = [known[name] for name in dict.fromkeys(names) if name in known]
    if len(wanted) == 1:
        return np.flatnonzero(codes == wanted[0])
    return np.flatnonzero(np.isin(codes, wanted))


def _rows_of(tail: Sequence[Vectors], places: NDArray[np.intp]) -> Vectors:
    """Return rows of the tail by their place in it, ascending."""
    found: list[Vectors] = []
    start = 0
    for block in tail:
        here = places[(places >= start) & (places < start + len(block))]
        if len(here):
            found.append(block[here - start])
        start += len(block)
    return np.concatenate(found)


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
