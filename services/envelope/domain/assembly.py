"""Phases 2 and 3 in one pure step: from candidates to the envelope's facts and everything said about them (§6-§9)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from services.envelope.domain.candidates import Candidate, RankedFact
from services.envelope.domain.communities import communities_by_relevance
from services.envelope.domain.etag import envelope_etag
from services.envelope.domain.freshness import age_days
from services.envelope.domain.ordering import sandwich
from services.envelope.domain.packing import pack
from services.envelope.domain.quality_tier import CRITICAL_IMPORTANCE, TierSignals, TierVerdict, classify
from services.envelope.domain.ranking import RankingTerms, rank
from services.envelope.domain.saturation import is_under_pressure, saturation


@dataclass(frozen=True, slots=True)
class PackingTerms:
    """What phases 2 and 3 depend on beside the candidates."""

    ranking: RankingTerms
    token_budget: int
    time_sensitive: bool = False
    context_strict: bool = False
    etag_salt: str = ""


@dataclass(frozen=True, slots=True)
class Assembly:
    """An envelope in domain terms.

    Attributes:
        facts: in prompt order.
        excluded: ranked facts that did not fit, best first: deferred for the next window (SPEC-003 §10.3).
        communities: labels of the ranked candidates' communities, the primary one first.
        newest_ingested_at: of the included facts of the knowledge fabric; ``None`` when there are none.
    """

    facts: tuple[RankedFact, ...]
    excluded: tuple[RankedFact, ...]
    token_count: int
    saturation: float
    verdict: TierVerdict
    etag: str
    communities: tuple[str, ...]
    newest_ingested_at: datetime | None
    under_pressure: bool


def assemble(candidates: Sequence[Candidate], queries: NDArray[np.float32], terms: PackingTerms) -> Assembly:
    """Rank, pack, order and classify.

    Args:
        candidates: distinct by ``fact_id``, in any order: the result does not depend on it.
        queries: vectors of the sub-queries.
        terms: weights, moment, budget and mode; the budget is positive.
    """
    ranked = rank(candidates, queries, terms.ranking)
    packing = pack(ranked, terms.token_budget)
    share = saturation(packing.token_count, terms.token_budget)
    communities = communities_by_relevance(ranked)
    fabric = [fact.candidate for fact in packing.included if fact.candidate.is_stored]
    newest = max((fact.ingested_at for fact in fabric), default=None)
    signals = TierSignals(
        total_facts_available=len(candidates),
        total_facts_included=len(packing.included),
        saturation=share,
        relevance_scores=[fact.relevance_score for fact in packing.included],
        critical_fact_excluded=any(
            fact.candidate.importance_weight >= CRITICAL_IMPORTANCE for fact in packing.excluded
        ),
        primary_community_included=(
            any(fact.candidate.community == communities[0] for fact in packing.included) if communities else None
        ),
        time_sensitive=terms.time_sensitive,
        newest_age_days=None if newest is None else age_days(terms.ranking.now, newest),
        context_strict=terms.context_strict,
    )
    return Assembly(
        facts=sandwich(packing.included),
        excluded=packing.excluded,
        token_count=packing.token_count,
        saturation=share,
        verdict=classify(signals),
        etag=envelope_etag((fact.candidate.fact_id for fact in packing.included), terms.etag_salt),
        communities=communities,
        newest_ingested_at=newest,
        under_pressure=is_under_pressure(share, len(packing.excluded)),
    )
