"""Which facts are alike enough to be duplicates: pairs above a cosine of 0.95 (SPEC-003 §6.6)."""

from collections.abc import Iterator
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

Places: TypeAlias = NDArray[np.intp]

DUPLICATE_COSINE: Final = 0.95

_DECIMALS: Final = 6
_BLOCK_CELLS: Final = 1 << 20
"""Cosines that are computed at once, 4 MiB."""
_PAIRS_AT_ONCE: Final = 4_096
"""Their vectors in double precision take some 25 MiB."""
_SINGLE_PRECISION_ERROR: Final = 1e-4
"""Far above what single precision can move the cosine of two unit vectors by."""


def similar_pairs(vectors: NDArray[np.float32]) -> Iterator[tuple[Places, Places]]:
    """Yield the pairs ``first < second`` of rows whose cosine is above 0.95, by ``first``, then ``second``.

    They come as arrays of firsts and of seconds. Blocks bound the memory, whatever the number of rows. Where single
    precision does not suffice double decides, so that a pair's verdict depends on its two vectors alone.

    Args:
        vectors: unit vectors, shape ``(n, dimension)``.
    """
    rows = max(1, _BLOCK_CELLS // max(1, len(vectors)))
    for start in range(0, len(vectors), rows):
        cosines = vectors[start : start + rows] @ vectors[start:].T
        near = cosines > DUPLICATE_COSINE - _SINGLE_PRECISION_ERROR
        near &= np.arange(near.shape[0])[:, None] < np.arange(near.shape[1])
        cells = np.flatnonzero(near)
        for part in range(0, len(cells), _PAIRS_AT_ONCE):
            some = cells[part : part + _PAIRS_AT_ONCE]
            firsts, seconds = np.divmod(some, near.shape[1])
            kept = cosines[firsts, seconds] > DUPLICATE_COSINE + _SINGLE_PRECISION_ERROR
            firsts, seconds = firsts + start, seconds + start
            unsure = np.flatnonzero(~kept)
            if len(unsure):
                one, other = (vectors[places[unsure]].astype(np.float64) for places in (firsts, seconds))
                kept[unsure] = np.round(np.einsum("nd,nd->n", one, other), _DECIMALS) > DUPLICATE_COSINE
            yield firsts[kept], seconds[kept]
