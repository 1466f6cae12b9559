"""Finishing or undoing what a crash, a full disk or a cancelled call left half-written (architecture §4)."""

from services.common.clock import Clock
from services.common.ports.facts import FactStatus, FactStore
from services.common.ports.graph import KnowledgeGraph, SourceRecord, SourceStatus
from services.envelope.outbox import activated, former_version
from services.envelope.state_hashes import StateHashes


class Recovery:
    """Brings INGESTING and ERASING sources to a settled state. Idempotent: it may itself be interrupted."""

    def __init__(self, facts: FactStore, graph: KnowledgeGraph, states: StateHashes, clock: Clock) -> None:
        self._facts = facts
        self._graph = graph
        self._states = states
        self._clock = clock

    async def recover(self) -> int:
        """Settle every unfinished source of all tenants; call it before serving. Returns how many there were."""
        unfinished = await self._graph.unfinished_sources()
        for record in unfinished:
            await self.settle(record)
        return len(unfinished)

    async def settle(self, record: SourceRecord) -> None:
        """Finish the write if its facts are all there, undo it otherwise; an erasure is always finished."""
        self._states.written(record.tenant_id)
        if record.status is SourceStatus.ERASING:
            await self.finish_erasure(record)
        elif await self._is_written(record):
            await self._facts.set_status(
                record.tenant_id, record.stale_on_activation, FactStatus.STALE, at=self._clock.now()
            )
            await self._graph.put_source(activated(record))
        else:
            await self.undo(record)
        self._states.written(record.tenant_id)

    async def finish_erasure(self, record: SourceRecord) -> int:
        """Destroy the content of an ERASING source's facts; returns how many. The record is the caller's to write."""
        erased = await self._facts.erase_source(record.tenant_id, record.source_id, at=self._clock.now())
        await self._graph.put_source(erased_record(record))
        return erased

    async def undo(self, record: SourceRecord) -> None:
        """Take back an INGESTING version that was never acknowledged: the former one stands again."""
        former, revived = former_version(record)
        kept, now = set(revived), self._clock.now()
        await self._facts.set_status(record.tenant_id, record.stale_on_activation, FactStatus.ACTIVE, at=now)
        await self._facts.set_status(record.tenant_id, revived, FactStatus.STALE, at=now)
        await self._facts.delete(record.tenant_id, [fact for fact in record.fact_ids_pending if fact not in kept])
        if former is None:
            await self._graph.delete_source(record.tenant_id, record.source_id)
        else:
            await self._graph.put_source(former)
            await self._graph.delete_outline(record.tenant_id, record.source_id, record.version)

    async def _is_written(self, record: SourceRecord) -> bool:
        found = await self._facts.get(record.tenant_id, record.fact_ids_pending)
        return len(found) == len(record.fact_ids_pending) and all(fact.status is FactStatus.ACTIVE for fact in found)


def erased_record(record: SourceRecord) -> SourceRecord:
    """Return what remains of an erased source: that it was there; no title and no metadata (SPEC-003 §17.2)."""
    return SourceRecord(
        tenant_id=record.tenant_id,
        source_id=record.source_id,
        title="",
        uri=record.uri,
        source_type=record.source_type,
        media_type=record.media_type,
        document_hash=record.document_hash,
        ingested_at=record.ingested_at,
        fact_count=0,
        status=SourceStatus.ERASED,
    )
