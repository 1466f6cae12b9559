"""Phase 2: scoring and ordering (SPEC-003 §6).

The diversity bonus depends on what was selected before, so the order is found greedily: at each step the bonus of every
community is known, and the candidate with the highest composite score at that moment comes next. Scores are rounded to
six decimals and ties go by content hash, then id: the order of the candidates never matters, nor does the machine.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from services.common.ports.facts import FactStatus
from services.envelope.domain.candidates import Candidate, RankedFact
from services.envelope.domain.freshness import age_days, freshness_score
from services.envelope.domain.weights import RankWeights

Matrix: TypeAlias = NDArray[np.float64]

DUPLICATE_COSINE: Final = 0.95
DOMINANCE_RATIO: Final = 0.40
SCORE_DECIMALS: Final = 6


@dataclass(frozen=True, slots=True)
class RankingTerms:
    """What ranking depends on beside the candidates: normalised weights, the moment, the freshness horizon in days."""

    weights: RankWeights
    now: datetime
    horizon_days: float


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
    return _without_duplicates(scored, embeddings.astype(np.float64))


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
    names = sorted({fact.diversity_group for fact in ordered})
    numbers = {name: number for number, name in enumerate(names)}
    groups = np.array([numbers[fact.diversity_group] for fact in ordered])
    totals = np.bincount(groups, minlength=len(names))
    selected = np.zeros(len(names), dtype=np.int64)
    bonuses = np.ones(len(names))
    waiting = np.ones(len(ordered), dtype=bool)
    result: list[tuple[int, RankedFact]] = []
    for _ in ordered:
        scores = np.round(fixed + weights.diversity_weight * bonuses[groups], SCORE_DECIMALS)
        row = int(np.argmax(np.where(waiting, scores, -1.0)))
        group = int(groups[row])
        result.append(
            (
                row,
                RankedFact(
                    candidate=ordered[row],
                    relevance_score=float(relevance[row]),
                    freshness_score=round(float(freshness[row]), SCORE_DECIMALS),
                    diversity_bonus=float(bonuses[group]),
                    composite_score=float(scores[row]),
                ),
            )
        )
        waiting[row] = False
        selected[group] += 1
        bonuses[group] = diversity_bonus(int(selected[group]), int(totals[group]))
    return result


def _without_duplicates(scored: list[tuple[int, RankedFact]], embeddings: Matrix) -> tuple[RankedFact, ...]:
    """Drop each fact that is more than 0.95 similar to a kept one; the higher composite score stays (SPEC-003 §6.6)."""
    rows = np.array([row for row, _ in scored])
    ordered = embeddings[rows]
    similarity = np.round(ordered @ ordered.T, SCORE_DECIMALS)
    duplicate = np.zeros(len(scored), dtype=bool)
    kept: list[RankedFact] = []
    for index, (_, fact) in enumerate(scored):
        if duplicate[index]:
            continue
        kept.append(fact)
        duplicate |= similarity[index] > DUPLICATE_COSINE
    return tuple(kept)
