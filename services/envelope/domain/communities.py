"""Which communities the candidates belong to, and which is the primary one (SPEC-003 §8.3, §12.3)."""

from collections import defaultdict
from collections.abc import Iterable

from services.envelope.domain.candidates import RankedFact


def communities_by_relevance(ranked: Iterable[RankedFact]) -> tuple[str, ...]:
    """Return the labels of the facts' communities; first the primary one, which holds most of their relevance.

    Ties go by label. Facts of no community name none.
    """
    relevance: defaultdict[str, float] = defaultdict(float)
    for fact in ranked:
        if fact.candidate.community:
            relevance[fact.candidate.community] += fact.relevance_score
    return tuple(sorted(relevance, key=lambda label: (-round(relevance[label], 6), label)))
