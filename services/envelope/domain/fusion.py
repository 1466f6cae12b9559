"""One ranking of two: by what the vectors and the words say of each fact, not by its places alone (ADR 0110).

Ranks forget how far apart two facts are: a fact that holds the only rare word of a query is first by words, and a
hundred facts of nearly one cosine drown it. Scores, each brought to 0 to 1 within its own list, keep the distance.
``fuse`` adds reciprocal ranks, which need no scale (ADR 0066).
"""

from collections.abc import Mapping, Sequence
from typing import Final

RANK_CONSTANT: Final = 60
"""Added to every rank, counted from 1: how little the very first places stand out from those behind them."""

FLOOR_SHARE: Final = 0.5
"""Of the cosine of the vectors' last fact: what counts as nothing by vectors."""


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


def blend(
    nearest: Sequence[str], cosines: Mapping[str, float], by_words: Mapping[str, float], *, words_weight: float
) -> dict[str, float]:
    """Return for every fact of the two lists a score in [0, 1]: the weighted mean of what vectors and words say.

    The best of a list has 1. By words the last has 0, and so has a fact that they did not find. By vectors half the
    last one's cosine is 0: the last of a hundred neighbours is still near; a fact that only the words found has the
    share of its own cosine. Where one list is empty, the other counts alone.

    Args:
        nearest: ids of the vectors' list.
        cosines: of all facts of both lists, in [-1, 1].
        by_words: BM25 of the words' list, above 0.
        words_weight: 0 to 1.
    """
    if not nearest:
        words_weight = 1.0
    elif not by_words:
        words_weight = 0.0
    keys = list(dict.fromkeys((*nearest, *by_words)))
    of_list = [cosines[key] for key in nearest]
    floor = min(of_list, default=0.0)
    near = scaled([cosines[key] for key in keys], min(floor, floor * FLOOR_SHARE), max(of_list, default=0.0))
    scores = list(by_words.values())
    words = dict(zip(by_words, scaled(scores, min(scores, default=0.0), max(scores, default=0.0)), strict=True))
    return {
        key: words_weight * words.get(key, 0.0) + (1.0 - words_weight) * share
        for key, share in zip(keys, near, strict=True)
    }


def scaled(scores: Sequence[float], lowest: float, highest: float) -> list[float]:
    """Return scores brought to 0 to 1 between two of them; 1 for what is no lower than both where they are equal."""
    span = highest - lowest
    if span <= 0.0:
        return [float(score >= lowest) for score in scores]
    return [min(max((score - lowest) / span, 0.0), 1.0) for score in scores]
