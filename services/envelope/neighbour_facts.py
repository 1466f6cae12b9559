"""Neighbours of found facts, by the outlines of their sources (ADR 0110, ADR 0113)."""

from collections.abc import Collection, Sequence

from services.common.ports.facts import FactRecord
from services.envelope.domain.adjacency import added, nearest_first
from services.envelope.ports import SourceOutlines


class NeighbourFacts:
    """Finds what stands next to facts.

    Args:
        outlines: where facts stand in their sources.
        each_side: facts before, and facts behind.
    """

    def __init__(self, outlines: SourceOutlines, each_side: int) -> None:
        self._outlines = outlines
        self._each_side = each_side

    async def around(self, facts: Sequence[FactRecord], known: Collection[str]) -> tuple[str, ...]:
        """Return the ids of facts next to these, those of the first fact first, without the known ones.

        A source without an outline adds nothing.
        """
        standing = await self._outlines.neighbours(facts, self._each_side)
        around = (nearest_first(standing[fact.fact_id]) for fact in facts if fact.fact_id in standing)
        return added(around, known, 2 * self._each_side * len(facts))
