"""Phase 2: scoring and ordering (SPEC-003 §6).

The diversity bonus depends on what was selected before, so the order is found greedily: at each step the bonus of every
community is known, and the candidate with the highest composite score at that moment comes next. Scores are rounded to
six decimals and ties go by content hash, then id: the order of the candidates never matters, nor does the machine.
"""

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from services.common.ports.facts import FactStatus
from services.envelope.domain.candidates import Candidate, RankedFact
from services.envelope.domain.duplicates import StatedValues, differ, stated_values
from services.envelope.domain.freshness import age_days, freshness_score
from services.envelope.domain.weights import RankWeights

Matrix: TypeAlias = NDArray[np.float64]
Places: TypeAlias = NDArray[np.intp]

DUPLICATE_COSINE: Final = 0.95
DOMINANCE_RATIO: Final = 0.40
SCORE_DECIMALS: Final = 6

_SCALE: Final = 10.0**SCORE_DECIMALS
_BLOCK_ROWS: Final = 1_024
_PAIRS_AT_ONCE: Final = 4_096
_SINGLE_PRECISION_ERROR: Final = 1e-4
"""Far above what single precision can move the cosine of two unit vectors by."""


@dataclass(frozen=True, slots=True)
class RankingTerms:
    """What ranking depends on beside the candidates.

    Attributes:
        weights: normalised.
        horizon_days: age at which freshness is 0.
        compare_values: whether similar facts that state different values are both kept (ADR 0063).
    """

    weights: RankWeights
    now: datetime
    horizon_days: float
    compare_values: bool = True


def diversity_bonus(selected: int, total: int) -> float:
    """Return the bonus of a community with ``selected`` of its ``total`` candidates selected (SPEC-003 §6.5)."""
    share = selected / total
    return 0.0 if share > DOMINANCE_RATIO else 1.0 - share


def relevance_scores(queries: NDArray[np.float32], embeddings: NDArray[np.float32]) -> Matrix:
    """Return each embedding's highest cosine over the queries, cut to 0-1 (SPEC-003 §6.3).

    Args:
        queries: unit vectors, shape ``(q, dimension)``, q >= 1.
        embeddings: unit vectors, shape ``(n, dimension)``.
    """
    cosines = embeddings.astype(np.float64) @ queries.astype(np.float64).T
    best: Matrix = np.clip(cosines.max(axis=1), 0.0, 1.0).round(SCORE_DECIMALS)
    return best


def rank(candidates: Sequence[Candidate], queries: NDArray[np.float32], terms: RankingTerms) -> tuple[RankedFact, ...]:
    """Return the candidates by composite score, highest first, without semantic duplicates (SPEC-003 §6.7).

    Args:
        candidates: distinct by ``fact_id``, in any order.
        queries: vectors of the sub-queries.
        terms: weights, moment and horizon.
    """
    if not candidates:
        return ()
    ordered = sorted(candidates, key=lambda fact: (fact.content_hash, fact.fact_id))
    embeddings = np.stack([fact.embedding for fact in ordered])
    scored = _select(ordered, relevance_scores(queries, embeddings), terms)
    scored.sort(key=lambda entry: (-entry[1].composite_score, entry[0]))
    return _without_duplicates(scored, embeddings, compare_values=terms.compare_values)


def _select(ordered: list[Candidate], relevance: Matrix, terms: RankingTerms) -> list[tuple[int, RankedFact]]:
    """Score every candidate at the moment it is selected; return each with its row."""
    weights = terms.weights
    freshness = np.array(
        [
            freshness_score(
                age_days(terms.now, fact.ingested_at), terms.horizon_days, stale=fact.status is FactStatus.STALE
            )
            for fact in ordered
        ]
    )
    importance = np.array([fact.importance_weight for fact in ordered])
    fixed = weights.relevance_weight * relevance + weights.importance_factor * importance
    fixed += weights.freshness_weight * freshness
    relevances, freshnesses = relevance.tolist(), np.round(freshness, SCORE_DECIMALS).tolist()
    return [
        (row, RankedFact(ordered[row], relevances[row], freshnesses[row], bonus, score))
        for row, bonus, score in _selections([fact.diversity_group for fact in ordered], fixed, weights)
    ]


def _selections(groups: list[str], fixed: Matrix, weights: RankWeights) -> Iterator[tuple[int, float, float]]:
    """Yield row, bonus and composite score in the order of selection: O(n log n) (SPEC-003 §6.2, §6.5).

    Within a group everything but the bonus is fixed and the bonus is the same for all, so the group's best is known
    until one of the group is selected; the best of the bests comes next.
    """
    waiting: dict[str, _Group] = {}
    scores = fixed.tolist()
    for row in np.lexsort((np.arange(len(scores)), -fixed)).tolist():
        waiting.setdefault(groups[row], _Group([], [])).add(row, scores[row])
    heap = [group.head(weights.diversity_weight) for group in waiting.values()]
    heapq.heapify(heap)
    while heap:
        negative, row, bonus = heap[0]
        yield row, bonus, -negative
        group = waiting[groups[row]]
        group.take(row)
        if group.rows:
            heapq.heapreplace(heap, group.head(weights.diversity_weight))
        else:
            heapq.heappop(heap)


@dataclass(slots=True)
class _Group:
    """The candidates of one diversity group that wait to be selected, best first, and how many there were."""

    rows: list[int]
    fixed: list[float]
    total: int = 0

    def add(self, row: int, fixed: float) -> None:
        self.rows.append(row)
        self.fixed.append(fixed)
        self.total += 1

    def head(self, diversity_weight: float) -> tuple[float, int, float]:
        """Return the negative score, row and bonus of the best; rounding may make several equally good."""
        bonus = diversity_bonus(self.total - len(self.rows), self.total)
        score = _rounded(self.fixed[0] + diversity_weight * bonus)
        row, before = self.rows[0], self.fixed[0]
        for other, fixed in zip(self.rows, self.fixed, strict=True):
            if fixed != before:
                if _rounded(fixed + diversity_weight * bonus) != score:
                    break
                row, before = min(row, other), fixed
        return -score, row, bonus

    def take(self, row: int) -> None:
        place = self.rows.index(row)
        del self.rows[place], self.fixed[place]


def _rounded(score: float) -> float:
    """Return the score to six decimals, to the bit as ``np.round`` does."""
    return round(score * _SCALE) / _SCALE


def _without_duplicates(
    scored: list[tuple[int, RankedFact]], embeddings: NDArray[np.float32], *, compare_values: bool
) -> tuple[RankedFact, ...]:
    """Drop each fact that is more than 0.95 similar to a kept one; the higher composite score stays (SPEC-003 §6.6).

    A fact that states other values is no duplicate, however similar (ADR 0063).
    """
    vectors = embeddings[[row for row, _ in scored]]
    values = _Values([fact for _, fact in scored]) if compare_values else None
    dropped: set[int] = set()
    for firsts, seconds in similar_pairs(vectors):  # in rank order: whether the first stays is settled when it comes
        for first, second in values.same(firsts, seconds) if values else _pairs(firsts, seconds):
            if not (first in dropped or second in dropped or (values and values.differ(first, second))):
                dropped.add(second)
    return tuple(fact for place, (_, fact) in enumerate(scored) if place not in dropped)


class _Values:
    """What the facts of one ranking state, each read once and only if it is like another."""

    def __init__(self, facts: list[RankedFact]) -> None:
        self._facts = facts
        self._read: dict[int, StatedValues] = {}
        self._codes = np.full(len(facts), -1, dtype=np.int64)
        self._known: dict[tuple[bool, frozenset[str]], int] = {}

    def same(self, firsts: Places, seconds: Places) -> Iterator[tuple[int, int]]:
        """Return the pairs that state the same figures and dates, and are both negated or neither is."""
        for place in np.unique(np.concatenate([firsts, seconds])).tolist():
            if place not in self._read:
                stated = self._read[place] = stated_values(self._facts[place].candidate.content)
                self._codes[place] = self._known.setdefault((stated.negated, stated.values), len(self._known))
        same = self._codes[firsts] == self._codes[seconds]
        return _pairs(firsts[same], seconds[same])

    def differ(self, first: int, second: int) -> bool:
        return differ(self._read[first], self._read[second])


def _pairs(firsts: Places, seconds: Places) -> Iterator[tuple[int, int]]:
    return zip(firsts.tolist(), seconds.tolist(), strict=True)


def similar_pairs(vectors: NDArray[np.float32]) -> Iterator[tuple[Places, Places]]:
    """Yield the pairs ``first < second`` of rows whose cosine is above 0.95, by ``first``, then ``second``.

    They come as arrays of firsts and of seconds. Blocks bound the memory, whatever the number of rows. Where single
    precision does not suffice double decides, so that a pair's verdict depends on its two vectors alone.

    Args:
        vectors: unit vectors, shape ``(n, dimension)``.
    """
    for start in range(0, len(vectors), _BLOCK_ROWS):
        cosines = vectors[start : start + _BLOCK_ROWS] @ vectors[start:].T
        firsts, seconds = np.nonzero(cosines > DUPLICATE_COSINE - _SINGLE_PRECISION_ERROR)
        later = seconds > firsts
        above = cosines[firsts[later], seconds[later]] > DUPLICATE_COSINE + _SINGLE_PRECISION_ERROR
        firsts, seconds = firsts[later] + start, seconds[later] + start
        for part in range(0, len(firsts), _PAIRS_AT_ONCE):
            left, right = firsts[part : part + _PAIRS_AT_ONCE], seconds[part : part + _PAIRS_AT_ONCE]
            kept = above[part : part + _PAIRS_AT_ONCE].copy()
            unsure = np.flatnonzero(~kept)
            one, other = (vectors[places[unsure]].astype(np.float64) for places in (left, right))
            kept[unsure] = np.round(np.einsum("nd,nd->n", one, other), SCORE_DECIMALS) > DUPLICATE_COSINE
            yield left[kept], right[kept]
