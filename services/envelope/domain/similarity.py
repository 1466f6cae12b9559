"""Which facts are alike enough to be duplicates: pairs above a cosine of 0.95 (SPEC-003 §6.6)."""

from collections.abc import Iterator
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

Places: TypeAlias = NDArray[np.intp]
Vectors: TypeAlias = NDArray[np.float32]

DUPLICATE_COSINE: Final = 0.95

_DECIMALS: Final = 6
_LEADING_SHARE: Final = 0.375
_BLOCK_CELLS: Final = 1 << 20
"""Cosines that are computed at once, 4 MiB."""
_FEW_PAIRS: Final = 256
"""Up to so many pairs of a block are computed one by one."""
_PAIRS_AT_ONCE: Final = 4_096
"""Their vectors in double precision take some 25 MiB."""
_SINGLE_PRECISION_ERROR: Final = 1e-4
"""Far above what single precision can move the cosine of two unit vectors by."""


def similar_pairs(vectors: Vectors) -> Iterator[tuple[Places, Places]]:
    """Yield the pairs ``first < second`` of rows whose cosine is above 0.95, by ``first``, then ``second``.

    They come as arrays of firsts and of seconds. Blocks bound the memory, whatever the number of rows. Where single
    precision does not suffice double decides, so that a pair's verdict depends on its two vectors alone.

    Args:
        vectors: unit vectors, shape ``(n, dimension)``.
    """
    leading = _leading(vectors)
    rows = max(1, _BLOCK_CELLS // max(1, len(vectors)))
    for start in range(0, len(vectors), rows):
        near = leading[start : start + rows] @ leading[start:].T > DUPLICATE_COSINE - _SINGLE_PRECISION_ERROR
        near &= np.arange(near.shape[0])[:, None] < np.arange(near.shape[1])
        cells = np.flatnonzero(near)
        cosines = vectors[start : start + rows] @ vectors[start:].T if len(cells) > _FEW_PAIRS else None
        for part in range(0, len(cells), _PAIRS_AT_ONCE):
            firsts, seconds = np.divmod(cells[part : part + _PAIRS_AT_ONCE], near.shape[1])
            if cosines is None:
                found = np.einsum("nd,nd->n", vectors[firsts + start], vectors[seconds + start])
            else:
                found = cosines[firsts, seconds]
            kept = _above(vectors, firsts + start, seconds + start, found)
            yield firsts[kept] + start, seconds[kept] + start


def _leading(vectors: Vectors) -> Vectors:
    """Return the first components of each vector and the length of the rest, as one more.

    Two rests have at most the product of their lengths in common, so a product of what is returned is never below the
    cosine: most pairs are out after a third of the work.
    """
    some = max(1, int(vectors.shape[1] * _LEADING_SHARE))
    rest = vectors[:, some:]
    lengths = np.sqrt(np.einsum("nd,nd->n", rest, rest))
    return np.concatenate([vectors[:, :some], lengths[:, None]], axis=1)


def _above(vectors: Vectors, firsts: Places, seconds: Places, cosines: Vectors) -> NDArray[np.bool_]:
    """Say of each pair whether its cosine is above 0.95, by double precision where single leaves it open."""
    kept: NDArray[np.bool_] = cosines > DUPLICATE_COSINE + _SINGLE_PRECISION_ERROR
    unsure = np.flatnonzero(~kept & (cosines > DUPLICATE_COSINE - _SINGLE_PRECISION_ERROR))
    if len(unsure):
        one, other = (vectors[places[unsure]].astype(np.float64) for places in (firsts, seconds))
        kept[unsure] = np.round(np.einsum("nd,nd->n", one, other), _DECIMALS) > DUPLICATE_COSINE
    return kept
