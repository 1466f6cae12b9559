"""Reciprocal rank fusion of rankings whose scores cannot be compared (ADR 0066)."""

from collections.abc import Sequence
from typing import Final

RANK_CONSTANT: Final = 60
"""Added to every rank, counted from 1: how little the very first places stand out from those behind them."""


def fuse(rankings: Sequence[Sequence[str]], *, constant: int = RANK_CONSTANT) -> list[tuple[str, float]]:
    """Return every id of the rankings with the sum of ``1 / (constant + rank)``, best first, ties by id.

    Args:
        rankings: ids, best first, each at most once in a ranking; a ranking that lacks an id adds nothing to it.
        constant: at least 0.
    """
    scores: dict[str, float] = {}
    for ranking in rankings:
        for rank, key in enumerate(ranking, start=1):
            scores[key] = scores.get(key, 0.0) + 1.0 / (constant + rank)
    return sorted(scores.items(), key=lambda scored: (-scored[1], scored[0]))
