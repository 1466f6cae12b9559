"""Neighbours of found facts, by the outlines of their sources (ADR 0110)."""

import asyncio
from collections.abc import Collection, Sequence

from services.common.ports.facts import FactRecord
from services.envelope.domain.adjacency import added, adjacent
from services.envelope.ports import SourceOutlines


class NeighbourFacts:
    """Finds what stands next to facts.

    Args:
        outlines: the facts of a source in reading order.
        each_side: facts before, and facts behind.
    """

    def __init__(self, outlines: SourceOutlines, each_side: int) -> None:
        self._outlines = outlines
        self._each_side = each_side

    async def around(self, facts: Sequence[FactRecord], known: Collection[str]) -> tuple[str, ...]:
        """Return the ids of facts next to these, those of the first fact first, without the known ones.

        Each source's outline is asked for once; a source without one adds nothing.
        """
        sources: dict[tuple[str, str], set[str]] = {}
        for fact in facts:
            sources.setdefault((fact.tenant_id, fact.source_id), set()).add(fact.fact_id)
        outlines = await asyncio.gather(*(self._outlines.in_order(*source) for source in sources))
        around: dict[str, tuple[str, ...]] = {}
        for outline, wanted in zip(outlines, sources.values(), strict=True):
            around |= adjacent(outline, wanted, self._each_side)
        return added((around.get(fact.fact_id, ()) for fact in facts), known, 2 * self._each_side * len(facts))
