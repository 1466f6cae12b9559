"""``python -m services.envelope.community_process``: one search for communities, for ``CommunitySearch`` (ADR 0069).

Reads arrays from standard input: for each fact its former place, the kept neighbours (places, cosines), then pairs of
places and vectors until a pair begins empty. Writes arrays to standard output: neighbours (places, cosines),
memberships, strengths. Knows no ids, no texts and no tenant.
"""

import os
import sys
from typing import Any, BinaryIO, Final

import numpy as np

from services.common.blas import limit_blas_threads
from services.envelope.community_search import array_bytes, communities_among, read_array
from services.envelope.domain.neighbours import Neighbours
from services.envelope.leiden import LeidenCommunityDetector

_NICENESS: Final = 10
"""Whoever answers calls goes first."""


def run(source: BinaryIO, target: BinaryIO) -> None:
    """Do one search."""
    former, places, cosines = (read_array(source) for _ in range(3))
    vectors: np.ndarray[Any, Any] = np.zeros((len(former), 1), dtype=np.float32)
    while len(rows := read_array(source)):
        block: np.ndarray[Any, Any] = read_array(source)
        if vectors.shape[1] != block.shape[1]:
            vectors = np.zeros((len(former), block.shape[1]), dtype=np.float32)
        vectors[rows.astype(np.int64)] = block
    kept = Neighbours(places.astype(np.int32), cosines.astype(np.float32))
    neighbours = kept.moved_to(former.astype(np.int32), vectors)
    del vectors, kept, places, cosines  # the edges need the room
    found = communities_among(neighbours, LeidenCommunityDetector())
    arrays = (neighbours.places, neighbours.cosines, found.memberships, found.strengths)
    target.writelines(array_bytes(array) for array in arrays)
    target.flush()


if __name__ == "__main__":
    limit_blas_threads(1)  # it has no business on a second core
    if hasattr(os, "nice"):
        os.nice(_NICENESS)
    run(sys.stdin.buffer, sys.stdout.buffer)
