"""Phase 2: scoring and ordering (SPEC-003 §6).

The diversity bonus depends on what was selected before, so the order is greedy: at each step the bonus of every
community is known, and the candidate with the highest composite score at that moment comes next. What is selected of
one community does not change the bonus of another, so each community is gone through by itself. Scores are rounded to
six decimals and ties go by content hash, then id: the order of the candidates never matters, nor does the machine.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from operator import attrgetter
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from services.common.envelope_request import BESIDE_THE_BUILD
from services.common.ports.facts import FactStatus
from services.envelope.domain.candidates import Candidate, RankedFact
from services.envelope.domain.duplicates import Statements
from services.envelope.domain.freshness import ages_days, freshness_scores
from services.envelope.domain.similarity import similar_pairs
from services.envelope.domain.weights import RankWeights

Matrix: TypeAlias = NDArray[np.float64]
Places: TypeAlias = NDArray[np.intp]

DOMINANCE_RATIO: Final = 0.40
SCORE_DECIMALS: Final = 6

_BLOCK_ROWS: Final = 4_096
"""Vectors that are in double precision at a time."""
_NEAR_TIE: Final = 2 * 10.0**-SCORE_DECIMALS
"""Scores that differ by more than this are different when rounded, whatever bonus is added to both."""
_BY_CONTENT: Final = attrgetter("content_hash", "fact_id")


@dataclass(frozen=True, slots=True)
class RankingTerms:
    """What ranking depends on beside the candidates.

    Attributes:
        weights: normalised.
        horizon_days: age at which freshness is 0.
        compare_values: whether similar facts that state different values are both kept (ADR 0063).
    """

    weights: RankWeights
    now: datetime = field(metadata=BESIDE_THE_BUILD)
    horizon_days: float
    compare_values: bool = True


def diversity_bonuses(selected: Places, totals: Places) -> Matrix:
    """Return the bonus of communities with ``selected`` of their ``totals`` candidates selected (SPEC-003 §6.5)."""
    shares: Matrix = selected / totals
    return np.where(shares > DOMINANCE_RATIO, 0.0, 1.0 - shares)


def diversity_bonus(selected: int, total: int) -> float:
    """Return the same for one community."""
    return float(diversity_bonuses(np.array([selected]), np.array([total]))[0])


def relevance_scores(queries: NDArray[np.float32], embeddings: NDArray[np.float32]) -> Matrix:
    """Return each embedding's highest cosine over the queries, cut to 0-1 (SPEC-003 §6.3).

    Args:
        queries: unit vectors, shape ``(q, dimension)``, q >= 1.
        embeddings: unit vectors, shape ``(n, dimension)``.
    """
    columns = queries.astype(np.float64).T
    blocks = (embeddings[start : start + _BLOCK_ROWS] for start in range(0, len(embeddings), _BLOCK_ROWS))
    cosines = np.concatenate([(block.astype(np.float64) @ columns).max(axis=1) for block in blocks])
    best: Matrix = np.clip(cosines, 0.0, 1.0).round(SCORE_DECIMALS)
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
    ordered = sorted(candidates, key=_BY_CONTENT)
    embeddings = np.concatenate([fact.embedding for fact in ordered]).reshape(len(ordered), -1)
    relevance = relevance_scores(queries, embeddings)
    freshness = _freshness(ordered, terms)
    bonuses, composites = _selected(ordered, relevance, freshness, terms.weights)
    rows = np.argsort(-composites, kind="stable")
    texts = [ordered[row].content for row in rows] if terms.compare_values else None
    rows = rows[_kept(ordered, rows, embeddings, texts)]
    columns = (relevance, freshness.round(SCORE_DECIMALS), bonuses, composites)
    scores = zip(*(column[rows].tolist() for column in columns), strict=True)
    return tuple(RankedFact(ordered[row], *four) for row, four in zip(rows.tolist(), scores, strict=True))


def _kept(
    facts: Sequence[Candidate], rows: Places, embeddings: NDArray[np.float32], texts: Sequence[str] | None
) -> Places:
    """Return the places in ``rows`` that are no duplicates.

    What does not hold now makes nothing superfluous, nor does what a former window or a tool said make what a document
    says: that is the evidence (ADR 0023, ADR 0160).
    """
    behind = np.array([2 * (not facts[row].is_current) + (not facts[row].is_stored) for row in rows])
    if not behind.any():
        return _without_duplicates(embeddings[rows], texts)
    first = np.argsort(behind, kind="stable")
    some = None if texts is None else [texts[place] for place in first]
    return np.sort(first[_without_duplicates(embeddings[rows[first]], some)])


def _freshness(facts: Sequence[Candidate], terms: RankingTerms) -> Matrix:
    stale = np.array([fact.status is FactStatus.STALE for fact in facts])
    return freshness_scores(ages_days(terms.now, [fact.ingested_at for fact in facts]), terms.horizon_days, stale)


def _selected(
    facts: Sequence[Candidate], relevance: Matrix, freshness: Matrix, weights: RankWeights
) -> tuple[Matrix, Matrix]:
    """Return each candidate's bonus and composite score at the moment it is selected (SPEC-003 §6.2, §6.5).

    Within a group everything but the bonus is fixed and the bonus is the same for all, so the group's best comes first.
    """
    importance = np.array([fact.importance_weight for fact in facts], dtype=np.float64)
    fixed = weights.relevance_weight * relevance + weights.importance_factor * importance
    fixed += weights.freshness_weight * freshness
    codes: dict[str, int] = {}
    groups = np.array([codes.setdefault(fact.diversity_group, len(codes)) for fact in facts])
    rows = np.lexsort((-fixed, groups))  # stable: equal ones stay in the order of the rows
    totals = np.bincount(groups)
    starts = np.cumsum(totals) - totals
    selected = np.arange(len(rows)) - starts[groups[rows]]
    ranked_bonuses = diversity_bonuses(selected, totals[groups[rows]])
    falls = fixed[rows[:-1]] - fixed[rows[1:]]
    near = np.flatnonzero((falls > 0.0) & (falls < _NEAR_TIE) & (selected[1:] > 0))
    for group in sorted(set(groups[rows[near]].tolist())):
        part = slice(starts[group], starts[group] + totals[group])
        rows[part] = _settled(rows[part], fixed, weights.diversity_weight * ranked_bonuses[part])
    bonuses, composites = np.empty(len(rows)), np.empty(len(rows))
    bonuses[rows] = ranked_bonuses
    composites[rows] = (fixed[rows] + weights.diversity_weight * ranked_bonuses).round(SCORE_DECIMALS)
    return bonuses, composites


def _settled(rows: Places, fixed: Matrix, boni: Matrix) -> Places:
    """Return a group in the order of selection where rounding can make several equally good: then the first row comes.

    Args:
        rows: of the group, the highest fixed score first.
        fixed: scores without the bonus, of all rows.
        boni: weighted bonus of the first that is selected, of the second, …
    """
    waiting, falling = rows.copy(), -fixed[rows]
    chosen = rows.copy()
    for turn, bonus in enumerate(boni.tolist()):
        left, scores = waiting[turn:], falling[turn:]
        end = int(np.searchsorted(scores, scores[0] + _NEAR_TIE))
        place = 0
        if scores[0] != scores[end - 1]:
            rounded = (bonus - scores[:end]).round(SCORE_DECIMALS)
            place = int(np.where(rounded == rounded[0], left[:end], len(fixed)).argmin())
        chosen[turn] = left[place]
        if place:  # those before it move up by one
            left[1 : place + 1], scores[1 : place + 1] = left[:place].copy(), scores[:place].copy()
    return chosen


def _without_duplicates(vectors: NDArray[np.float32], texts: Sequence[str] | None) -> Places:
    """Return the places of facts that are not more than 0.95 similar to a kept one before them (SPEC-003 §6.6).

    Args:
        vectors: of the facts, the highest composite score first.
        texts: a fact that states other values is no duplicate, however similar (ADR 0063); ``None`` = by vectors alone.
    """
    kept = np.ones(len(vectors), dtype=np.bool_)
    statements = None if texts is None else Statements(texts)
    for pair in similar_pairs(vectors):  # in rank order: whether the first stays is settled when it comes
        alive = kept[pair[0]] & kept[pair[1]]
        firsts, seconds = pair[0][alive], pair[1][alive]
        if statements is not None:
            same = ~statements.differ(firsts, seconds)
            firsts, seconds = firsts[same], seconds[same]
        starts = np.flatnonzero(np.diff(firsts, prepend=-1)).tolist()
        for start, end in pairwise([*starts, len(firsts)]):
            if kept[firsts[start]]:
                kept[seconds[start:end]] = False
    return np.flatnonzero(kept)
