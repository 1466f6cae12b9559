"""Phase 3: where in the prompt each fact stands: the sandwich (SPEC-003 §7.4; ADR 0005)."""

from collections.abc import Sequence
from typing import Final

from services.envelope.domain.candidates import RankedFact

CRITICAL_SCORE: Final = 0.80
IMPORTANT_SCORE: Final = 0.50


def sandwich(packed: Sequence[RankedFact]) -> tuple[RankedFact, ...]:
    """Return the packed facts, given in rank order, in prompt order; each exactly once.

    The list expression of §7.4 as written: first and last critical fact, supporting, important, then the critical
    ones between.
    """
    critical = [fact for fact in packed if fact.composite_score >= CRITICAL_SCORE]
    important = [fact for fact in packed if IMPORTANT_SCORE <= fact.composite_score < CRITICAL_SCORE]
    supporting = [fact for fact in packed if fact.composite_score < IMPORTANT_SCORE]
    head = critical[:1] + critical[1:][-1:]  # with one critical fact, first and last are the same: it stands once
    return tuple(head + supporting + important + critical[1:-1])
