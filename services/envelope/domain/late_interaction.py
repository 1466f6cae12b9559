"""Late interaction: a passage is as near as the tokens of the query find tokens like themselves in it (ADR 0067)."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def late_interaction_scores(
    query: NDArray[np.floating], passages: Sequence[NDArray[np.floating]]
) -> NDArray[np.float32]:
    """Return for each passage the mean over the query's tokens of the highest cosine with a token of the passage.

    Args:
        query: unit vectors of the query's tokens, shape ``(m, dimension)``.
        passages: unit vectors of each passage's tokens, shapes ``(n_i, dimension)``.

    Returns:
        Shape ``(len(passages),)``, in [-1, 1]; -1 for a passage without tokens, and for every passage of a query
        without tokens: there is nothing that could be alike.
    """
    scores = np.full(len(passages), -1.0, dtype=np.float32)
    lengths = np.array([len(passage) for passage in passages], dtype=np.int64)
    filled = np.flatnonzero(lengths)
    if not len(filled) or not len(query):
        return scores
    tokens = np.concatenate([passage for passage in passages if len(passage)]).astype(np.float32, copy=False)
    cosines = tokens @ query.T.astype(np.float32, copy=False)
    starts = np.concatenate([[0], np.cumsum(lengths[filled])[:-1]])
    scores[filled] = np.maximum.reduceat(cosines, starts, axis=0).mean(axis=1)
    return scores
