"""Phase 3: greedy packing (SPEC-003 §7.3)."""

from collections.abc import Sequence
from dataclasses import dataclass

from services.envelope.domain.candidates import RankedFact


@dataclass(frozen=True, slots=True)
class Packing:
    """What fits and what does not, both in rank order."""

    included: tuple[RankedFact, ...]
    excluded: tuple[RankedFact, ...]
    token_count: int


def pack(ranked: Sequence[RankedFact], token_budget: int) -> Packing:
    """Insert facts in rank order; after one that does not fit, smaller ones are still tried."""
    included: list[RankedFact] = []
    excluded: list[RankedFact] = []
    used = 0
    for fact in ranked:
        if used + fact.candidate.token_count <= token_budget:
            included.append(fact)
            used += fact.candidate.token_count
        else:
            excluded.append(fact)
    return Packing(tuple(included), tuple(excluded), used)
