"""Reading facts and sources by what they are called: all of it that needs no search and no model."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from services.common.clock import Clock
from services.common.errors import ErrorReason, NotFoundError
from services.common.ports.facts import FactFilter, FactRecord
from services.common.ports.graph import KnowledgeGraph, SourceRecord
from services.common.ports.outline import OutlineVersion
from services.envelope.domain import holding
from services.envelope.domain.outlines import Standing
from services.envelope.outlines import Outlines, present_version
from services.envelope.readable_facts import ReadableFacts
from services.envelope.readable_sources import ReadableSources

UUID_CHARS: Final = 36


class StoredKnowledge:
    """What KnowledgeService tells of stored facts and sources.

    Args:
        facts: gives what callers may read; asked when a fact is wanted, for its store is the dearer one to open.
        sources: what they may read of documents.
        graph: the store of sources.
        outlines: how facts stand in their sources.
        clock: says which facts hold now.
    """

    def __init__(
        self,
        facts: Callable[[], Awaitable[ReadableFacts]],
        sources: ReadableSources,
        graph: KnowledgeGraph,
        outlines: Outlines,
        clock: Clock,
    ) -> None:
        self._facts = facts
        self._sources = sources
        self._graph = graph
        self._outlines = outlines
        self._clock = clock

    async def fact(self, tenant_id: str, fact_id: str) -> FactRecord:
        """Return one fact.

        Raises:
            NotFoundError: FACT_NOT_FOUND, unknown or erased.
        """
        found = await (await self._facts()).get(tenant_id, [fact_id])
        if not found:
            raise NotFoundError(ErrorReason.FACT_NOT_FOUND, f"fact {fact_id} does not exist", fact_id=fact_id)
        return self.shown(found)[0]

    async def facts(
        self, tenant_id: str, where: FactFilter, after: str, limit: int, prefix: str = ""
    ) -> list[FactRecord]:
        """Return up to ``limit`` facts after ``after``, by id, of those whose ids begin with ``prefix``."""
        # Ids are in order: those with the prefix lie together, right behind what is below it.
        start = max(after, _just_below(prefix)) if prefix else after
        found = await (await self._facts()).page(tenant_id, where, after=start, limit=limit)
        return self.shown([fact for fact in found if fact.fact_id.startswith(prefix)])

    async def source(self, tenant_id: str, source_id: str) -> SourceRecord:
        """Return one source, of the tenant's own or of a shared namespace that it reads.

        Raises:
            NotFoundError: SOURCE_NOT_FOUND.
        """
        found = await self._sources.get(tenant_id, source_id)
        if found is None:
            raise no_source(source_id)
        return found

    async def sources(self, tenant_id: str, after: str, limit: int) -> list[SourceRecord]:
        """Return up to ``limit`` sources after ``after``, by id."""
        return await self._graph.page_sources(tenant_id, after=after, limit=limit)

    async def standing(self, fact: FactRecord) -> Standing | None:
        """Return how a fact stands in the present version of its source, with the facts right before and behind it."""
        found = await self._outlines.neighbours([fact], 1, within_section=False)
        return found.get(fact.fact_id)

    async def versions(self, source: SourceRecord) -> list[OutlineVersion]:
        """Return the versions of a source of which the order is kept, the latest first."""
        kept = await self._graph.outline_versions(source.tenant_id, source.source_id)
        return [one for one in kept if one.version <= present_version(source)]

    def shown(self, facts: Sequence[FactRecord]) -> list[FactRecord]:
        """Return the facts with the status that they have now, and why (``holding``)."""
        now = self._clock.now()
        return [holding.shown(fact, now) for fact in facts]


def no_source(source_id: str) -> NotFoundError:
    """Return the error about a source that is not there."""
    return NotFoundError(ErrorReason.SOURCE_NOT_FOUND, f"source {source_id} does not exist", source_id=source_id)


def _just_below(prefix: str) -> str:
    """Return a text below every id that begins so, and above every other id below those: the last of a whole id cut."""
    return prefix[:-1] if len(prefix) == UUID_CHARS else prefix
