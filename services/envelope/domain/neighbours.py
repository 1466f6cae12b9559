"""The nearest neighbours of every fact, exact, kept from one clustering to the next (CRP-SPEC-009, ADR 0069).

Each fact keeps its 20 nearest with a cosine of at least 0.60, ordered by cosine, then by place. What is new is compared
with everything; of what was there only the facts that have lost a neighbour are. The graph after any changes is the one
that a computation from nothing gives, to the rounding of single precision.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

Places: TypeAlias = NDArray[np.int32]
Cosines: TypeAlias = NDArray[np.float32]
Vectors: TypeAlias = NDArray[np.float32]

NEIGHBOURS: Final = 20
MIN_COSINE: Final = 0.60
NOBODY: Final = -1

_TILE_ROWS: Final = 1_024
_TILE_COLUMNS: Final = 4_096
_DECIMALS: Final = 6
_ROUNDING: Final = 10.0**-_DECIMALS
_THIN_ABOVE: Final = 4 * NEIGHBOURS
"""Neighbours a row, on average, above which a tile is thinned to the nearest before they are ordered."""


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The neighbours of n facts: places in the facts' order, ``NOBODY`` where there are fewer, and their cosines.

    Both have the shape ``(n, 20)``; cosines are rounded to six decimals, 0 beside ``NOBODY``.
    """

    places: Places
    cosines: Cosines

    @classmethod
    def none(cls, count: int) -> "Neighbours":
        """Return facts without any."""
        return cls(
            np.full((count, NEIGHBOURS), NOBODY, dtype=np.int32), np.zeros((count, NEIGHBOURS), dtype=np.float32)
        )

    @classmethod
    def of(cls, vectors: Vectors) -> "Neighbours":
        """Compute them from nothing.

        Args:
            vectors: unit vectors, shape ``(n, dimension)``.
        """
        found = cls.none(len(vectors))
        everybody = np.arange(len(vectors), dtype=np.int32)
        for start, rows in enumerate(_parts(everybody, _TILE_ROWS)):
            for others in _parts(everybody[start * _TILE_ROWS :], _TILE_ROWS):  # a cosine serves both of its ends
                cosines = vectors[rows] @ vectors[others].T
                _take(found, rows, others, cosines)
                if others[0] != rows[0]:
                    _take(found, others, rows, np.ascontiguousarray(cosines.T))
        return found

    def moved_to(self, former: Places, vectors: Vectors) -> "Neighbours":
        """Return the neighbours after facts have come and gone.

        Args:
            former: for each present fact its place in this graph, ``NOBODY`` for a new one; those that were there keep
                their order.
            vectors: unit vectors of the present facts.
        """
        if not len(self.places):
            return Neighbours.of(vectors)
        present = Neighbours.none(len(former))
        old = np.flatnonzero(former != NOBODY)
        lost = np.zeros(len(former), dtype=np.bool_)
        if len(old):
            now = np.full(len(self.places) + 1, NOBODY, dtype=np.int32)  # the last entry answers for NOBODY
            now[former[old]] = old
            places = now[self.places[former[old]]]
            lost[old] = ((places == NOBODY) & (self.places[former[old]] != NOBODY)).any(axis=1)
            present.places[old] = places
            present.cosines[old] = self.cosines[former[old]]
        anew = np.flatnonzero(lost | (former == NOBODY)).astype(np.int32)
        present.places[anew], present.cosines[anew] = NOBODY, 0.0
        everybody = np.arange(len(former), dtype=np.int32)
        for rows in _parts(anew, _TILE_ROWS):
            _look(present, rows, everybody, vectors)
        fresh = np.flatnonzero(former == NOBODY).astype(np.int32)
        stayed = np.flatnonzero((former != NOBODY) & ~lost).astype(np.int32)
        for rows in _parts(stayed, _TILE_ROWS) if len(fresh) else ():
            _look(present, rows, fresh, vectors)
        return present

    def edges(self) -> tuple[Places, Places, Cosines]:
        """Return the undirected graph, sorted: first and second node of each edge, the first below, and its weight."""
        count = len(self.places)
        own, column = np.nonzero(self.places != NOBODY)
        other = self.places[own, column].astype(np.int64)
        key = np.minimum(own, other) * count + np.maximum(own, other)
        weight = self.cosines[own, column]
        order = np.lexsort((-weight, key))  # an edge found from both ends is kept once
        unique, first = np.unique(key[order], return_index=True)
        if not count:
            return np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.float32)
        return (unique // count).astype(np.int32), (unique % count).astype(np.int32), weight[order][first]

    def strengths(self) -> NDArray[np.float64]:
        """Return for each fact the sum of its edges' weights."""
        first, second, weight = self.edges()
        count = len(self.places)
        sums = np.bincount(first, weight, count) + np.bincount(second, weight, count)
        return np.round(sums, _DECIMALS)


def _look(found: Neighbours, rows: Places, among: Places, vectors: Vectors) -> None:
    """Let each fact of ``rows`` take the nearest among ``among`` into its list, where they are near enough."""
    own = vectors[rows]
    for others in _parts(among, _TILE_COLUMNS):
        _take(found, rows, others, own @ vectors[others].T)


def _take(found: Neighbours, rows: Places, others: Places, cosines: Cosines) -> None:
    floors = np.maximum(found.cosines[rows, -1], MIN_COSINE) - _ROUNDING
    row, column = np.nonzero(cosines >= floors[:, None])
    if len(row) > _THIN_ABOVE * len(rows):
        row, column = _thinned(cosines, floors)
    place = others[column]
    other = place != rows[row]
    row, column, place = row[other], column[other], place[other]
    _merge(found, rows, row, place, np.round(cosines[row, column], _DECIMALS))


def _thinned(cosines: Cosines, floors: Cosines) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return row and column of the nearest of a tile in which nearly everything is near."""
    wanted = min(NEIGHBOURS + 1, cosines.shape[1])  # one more: the fact itself
    nearest = np.argpartition(-cosines, wanted - 1, axis=1)[:, :wanted]
    row, column = np.nonzero(np.take_along_axis(cosines, nearest, axis=1) >= floors[:, None])
    return row, nearest[row, column]


def _merge(found: Neighbours, rows: Places, row: NDArray[np.intp], place: Places, cosine: Cosines) -> None:
    near = cosine >= np.float32(MIN_COSINE)
    row, place, cosine = row[near], place[near], cosine[near]
    if not len(row):
        return
    changed = np.unique(row)
    listed, slot = np.nonzero(found.places[rows[changed]] != NOBODY)
    all_rows = np.concatenate([changed[listed], row])
    all_places = np.concatenate([found.places[rows[changed]][listed, slot], place])
    all_cosines = np.concatenate([found.cosines[rows[changed]][listed, slot], cosine])
    order = np.lexsort((all_places, -all_cosines, all_rows))
    all_rows, all_places, all_cosines = all_rows[order], all_places[order], all_cosines[order]
    rank = np.arange(len(order)) - np.searchsorted(all_rows, all_rows)
    kept = rank < NEIGHBOURS
    targets = rows[changed]
    found.places[targets], found.cosines[targets] = NOBODY, 0.0
    found.places[rows[all_rows[kept]], rank[kept]] = all_places[kept]
    found.cosines[rows[all_rows[kept]], rank[kept]] = all_cosines[kept]


def _parts(places: Places, size: int) -> Iterator[Places]:
    for start in range(0, len(places), size):
        yield places[start : start + size]


def votes(labels: Sequence[str], cosines: Sequence[float]) -> str:
    """Return the label that a fact's neighbours lean to most, by the sum of their cosines; empty for none.

    Args:
        labels: the neighbours' communities, empty for a neighbour of none; ties go by label.
        cosines: in the same order.
    """
    sums: dict[str, float] = {}
    for label, cosine in zip(labels, cosines, strict=True):
        if label and cosine >= MIN_COSINE:
            sums[label] = sums.get(label, 0.0) + cosine
    return min(sums, key=lambda label: (-round(sums[label], _DECIMALS), label), default="")


class NearestSoFar:
    """The nearest of some facts among vectors that come block by block.

    Args:
        vectors: unit vectors of the facts, shape ``(n, dimension)``.
    """

    def __init__(self, vectors: Vectors) -> None:
        self._vectors = vectors
        self._seen = 0
        self._cosines = np.empty((len(vectors), 0), dtype=np.float32)
        self._places = np.empty((len(vectors), 0), dtype=np.int64)

    def look(self, block: Vectors) -> None:
        """Compare with the next vectors."""
        cosines = np.concatenate([self._cosines, self._vectors @ block.T], axis=1)
        here = np.broadcast_to(np.arange(self._seen, self._seen + len(block)), (len(self._vectors), len(block)))
        places = np.concatenate([self._places, here], axis=1)
        self._seen += len(block)
        if cosines.shape[1] > NEIGHBOURS + 1:  # one more: the fact itself may be among them
            nearest = np.argpartition(-cosines, NEIGHBOURS, axis=1)[:, : NEIGHBOURS + 1]
            cosines = np.take_along_axis(cosines, nearest, axis=1)
            places = np.take_along_axis(places, nearest, axis=1)
        self._cosines, self._places = cosines, places

    def rows(self) -> list[list[tuple[int, float]]]:
        """Return for each fact the places and cosines of its nearest, in the order in which the vectors came."""
        found = zip(self._places.tolist(), self._cosines.tolist(), strict=True)
        return [sorted(zip(places, cosines, strict=True)) for places, cosines in found]
