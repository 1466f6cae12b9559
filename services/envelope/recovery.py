"""Finishing or undoing what a crash, a full disk or a cancelled call left half-written."""

from collections import defaultdict
from datetime import datetime

from services.common.clock import Clock
from services.common.ports.facts import FactStatus, FactStore
from services.common.ports.graph import KnowledgeGraph, SourceRecord, SourceStatus
from services.envelope.outbox import activated, ends_in, former_version
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
            await self._supersede(record)
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
        before, now = former_version(record), self._clock.now()
        await self._facts.reinstate(record.tenant_id, record.stale_on_activation, at=now)
        by_end: dict[datetime, list[str]] = defaultdict(list)
        for fact_id, ended_at in (*before.revived.items(), *before.ended.items()):
            if ended_at is not None:
                by_end[ended_at].append(fact_id)
        for ended_at, fact_ids in by_end.items():
            await self._facts.supersede(record.tenant_id, fact_ids, ended_at=ended_at, at=now)
        created = [fact_id for fact_id in record.fact_ids_pending if fact_id not in before.revived]
        await self._facts.delete(record.tenant_id, created)
        if before.record is None:
            await self._graph.delete_source(record.tenant_id, record.source_id)
        else:
            await self._graph.put_source(before.record)
            await self._graph.delete_outline(record.tenant_id, record.source_id, record.version)

    async def _supersede(self, record: SourceRecord) -> None:
        """End the facts that the version lacks, when it says."""
        tenant_id, now = record.tenant_id, self._clock.now()
        for ended_at, fact_ids in ends_in(record).items():
            await self._facts.supersede(tenant_id, fact_ids, ended_at=ended_at, at=now)
        returned = [key for key in former_version(record).revived if key not in record.fact_ids_pending]
        if returned:
            await self._facts.reinstate(tenant_id, returned, at=now)

    async def _is_written(self, record: SourceRecord) -> bool:
        found = await self._facts.get(record.tenant_id, record.fact_ids_pending)
        return len(found) == len(record.fact_ids_pending) and all(fact.status is FactStatus.ACTIVE for fact in found)


def erased_record(record: SourceRecord) -> SourceRecord:
    """Return what remains of an erased source: that it was there, and when (SPEC-003 §17.2, ADR 0112).

    No name, no hash that a guess could be held against, and not the key under which the ids of its facts stand.
    """
    return SourceRecord(
        tenant_id=record.tenant_id,
        source_id=record.source_id,
        title="",
        uri="",
        source_type=record.source_type,
        media_type=record.media_type,
        document_hash="",
        ingested_at=record.ingested_at,
        fact_count=0,
        status=SourceStatus.ERASED,
    )
