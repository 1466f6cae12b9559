"""Writing one version of a source.

Everything slow or refusable (entities, vectors) happens before the first write. The writes then follow the order of
``outbox`` in a task of their own, which a cancelled call does not interrupt; what fails is undone, and ``Recovery``
settles what a crash leaves.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final

import numpy as np

from services.common.concurrency import uninterrupted
from services.common.encoding import sha256_hex
from services.common.errors import CrpError
from services.common.ports.embedding import EmbeddingModel
from services.common.ports.facts import FactFilter, FactRecord, FactStatus
from services.common.ports.graph import SourceRecord
from services.common.ports.outline import OutlineEntry, OutlineVersion, SourceOutline
from services.common.ports.recognition import EntityRecognizer
from services.common.ports.tokens import TokenCounter
from services.common.progress import at, stored
from services.envelope.comparison import compare
from services.envelope.domain.ingestion_report import DocumentReport
from services.envelope.domain.subjects import Stated
from services.envelope.domain.supersession import (
    StoredFact,
    VersionChange,
    begins_at,
    ends_of,
    joined_validity,
    version_change,
)
from services.envelope.domain.validity import ALWAYS, Validity
from services.envelope.knowledge_stores import KnowledgeStores
from services.envelope.outbox import activated, ends_in, ingesting
from services.envelope.requests import IngestOutcome, WriteTicket
from services.envelope.text_reading import read_texts

KEPT_VERSIONS: Final = 10
"""Versions of a document of which the order of the facts is kept; ``sources diff`` compares them."""
KEPT_ADDITIONS: Final = 2
"""Of a source that facts are added to: the present one, and the one before until the present one is written."""


@dataclass(frozen=True, slots=True)
class TextModels:
    """What reads text."""

    embedding: EmbeddingModel
    entities: EntityRecognizer
    tokens: TokenCounter


@dataclass(frozen=True, slots=True)
class NewFact:
    """A fact of the new version."""

    fact_id: str
    content: str
    location: str
    importance_weight: float
    ttl: timedelta | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)
    validity: Validity = ALWAYS
    quarantined: bool = False


@dataclass(frozen=True, slots=True)
class SourceVersion:
    """A version of a source, ready to be compared with what is stored.

    Attributes:
        former: the version before; ``None`` for a new source.
        facts: in reading order; equal ids may occur twice.
        replaces_all: the version is the whole document, so what it lacks is superseded.
        superseded: facts, of any source, that are superseded as well.
        replaced: other sources of which nothing stands any more.
        outline: the facts in reading order, each once; empty where nobody knows it.
        report: how the document was read; ``None`` for facts that a caller has cut.
    """

    record: SourceRecord
    former: SourceRecord | None
    facts: tuple[NewFact, ...]
    replaces_all: bool
    superseded: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    replaced: tuple[SourceRecord, ...] = ()
    outline: tuple[OutlineEntry, ...] = field(default=(), repr=False)
    report: DocumentReport | None = field(default=None, repr=False)


class VersionWriter:
    """Compares, embeds and writes.

    Args:
        stores: where the knowledge goes.
        models: what reads the text.
        batch: facts embedded in one call.
        compares: whether a document's facts are compared with those of other sources.
    """

    def __init__(self, stores: KnowledgeStores, models: TextModels, batch: int, *, compares: bool = True) -> None:
        self._stores = stores
        self._models = models
        self._batch = batch
        self._compares = compares

    async def write(self, version: SourceVersion, ticket: WriteTicket[IngestOutcome]) -> IngestOutcome:
        """Write the version and return what it did; the caller holds the source's lock."""
        stored = await self._stored(version)
        now, begins = version.record.ingested_at, begins_at(fact.validity for fact in version.facts)
        is_to_come = begins is not None and begins > now
        version = replace(_going_on(version, stored, begins), replaced=() if is_to_come else version.replaced)
        asked = {fact.fact_id: fact for fact in reversed(version.facts)}
        change = version_change(
            {fact_id: _stored_fact(version, fact, asked.get(fact_id)) for fact_id, fact in stored.items()},
            [fact.fact_id for fact in version.facts],
            self._models.embedding.fingerprint,
            replaces_all=version.replaces_all,
        )
        change = replace(change, stale=tuple(sorted({*change.stale, *version.superseded} - set(change.written))))
        leaving = await self._stores.facts.get(version.record.tenant_id, change.stale)
        ends = ends_of(leaving, begins, now)
        version = _told(version, [*_told_ends(ends, now), *_told_former(version, stored, now)])
        records = await self._records(version, change, stored)
        count = await self._present(version, change, stored)
        number = 1 + (version.former.version if version.former is not None else 0)
        version = replace(version, record=replace(version.record, fact_count=count, version=number))
        version = replace(version, report=await self._report(version, records))
        ended = {fact.fact_id: fact.superseded_at for fact in (*stored.values(), *leaving)}
        pending = ingesting(version.record, version.former, change, ended, ends)
        at("writing")
        return await uninterrupted(self._commit(version, change, pending, records, ticket))

    async def _stored(self, version: SourceVersion) -> dict[str, FactRecord]:
        """Return what is stored of the source: all of it to compare a whole document with, else what may change."""
        tenant_id, source_id = version.record.tenant_id, version.record.source_id
        if version.replaces_all:
            ids = await self._stores.facts.fact_ids_of_source(tenant_id, source_id)
        else:  # ten facts more for a source of 100,000 are ten facts to read
            ids = list(dict.fromkeys((*(fact.fact_id for fact in version.facts), *version.superseded)))
        found = await self._stores.facts.get(tenant_id, ids)
        return {fact.fact_id: fact for fact in found if fact.source_id == source_id}

    async def _present(self, version: SourceVersion, change: VersionChange, stored: Mapping[str, FactRecord]) -> int:
        """Return how many facts the source has once the change is made."""
        active = {fact_id for fact_id, fact in stored.items() if fact.status is FactStatus.ACTIVE}
        present = (active | {fact.fact_id for fact in version.facts}) - set(change.stale)
        if version.replaces_all:
            return len(present)
        source = FactFilter(source_ids=(version.record.source_id,), statuses=(FactStatus.ACTIVE,))
        return await self._stores.facts.count(version.record.tenant_id, source) - len(active) + len(present)

    async def _records(
        self, version: SourceVersion, change: VersionChange, stored: Mapping[str, FactRecord]
    ) -> list[FactRecord]:
        """Find entities and vectors of the facts to write."""
        wanted = set(change.written)
        first = {fact.fact_id: fact for fact in reversed(version.facts) if fact.fact_id in wanted}
        facts = [first[fact_id] for fact_id in change.written]
        at("embedding the facts")
        texts = [fact.content for fact in facts]
        vectors, entities = await read_texts(self._models.embedding, self._models.entities, texts, self._batch)
        now = self._stores.clock.now()
        return [
            FactRecord(
                tenant_id=version.record.tenant_id,
                fact_id=fact.fact_id,
                content=fact.content,
                content_hash=sha256_hex(fact.content),
                source_id=version.record.source_id,
                source_location=fact.location,
                importance_weight=fact.importance_weight,
                ingested_at=now,
                modified_at=now,
                status=_status(fact, stored.get(fact.fact_id)),
                embedding=vector,
                embedding_model=self._models.embedding.fingerprint,
                community_label=before.community_label if (before := stored.get(fact.fact_id)) else "",
                ttl=fact.ttl,
                entities=found,
                metadata=fact.metadata,
                valid_from=fact.validity.valid_from,
                valid_to=fact.validity.valid_to,
            )
            for fact, vector, found in zip(facts, vectors, entities, strict=True)
        ]

    async def _report(self, version: SourceVersion, records: list[FactRecord]) -> DocumentReport | None:
        """Return the document's report, its facts compared with those of other sources."""
        if version.report is None or not self._compares or not records:
            return version.report
        at("comparing with other sources")
        facts = [Stated(record.fact_id, record.source_id, record.content, record.source_location) for record in records]
        vectors = np.stack([record.embedding for record in records])
        source = version.record
        stores = self._stores
        others = await compare(stores.facts, stores.subjects, source.tenant_id, source.source_id, facts, vectors)
        return replace(version.report, others=others)

    async def _commit(
        self,
        version: SourceVersion,
        change: VersionChange,
        pending: SourceRecord,
        records: list[FactRecord],
        ticket: WriteTicket[IngestOutcome],
    ) -> IngestOutcome:
        stores, tenant_id = self._stores, version.record.tenant_id
        outcome = IngestOutcome(
            source=activated(pending),
            facts_created=len(change.written),
            facts_stale=len(change.stale),
            facts_unchanged=len(change.unchanged),
            warnings=version.warnings,
            fact_ids=tuple(fact.fact_id for fact in version.facts),
            created_fact_ids=tuple(change.written),
            report=version.report,
        )
        receipt = ticket.receipt(tenant_id, outcome, stores.clock.now())
        stores.states.written(tenant_id)
        try:
            await stores.graph.put_source(pending)
            await self._put_outline(version)
            await stores.facts.upsert(records)
            now = stores.clock.now()
            for ended_at, fact_ids in ends_in(pending).items():
                await stores.facts.supersede(tenant_id, fact_ids, ended_at=ended_at, at=now)
            if change.reinstated:
                await stores.facts.reinstate(tenant_id, change.reinstated, at=now)
            await stores.graph.put_source(outcome.source, receipt)
        except Exception:
            with suppress(CrpError):  # what cannot be undone now is settled by the next call or the next start
                await stores.recovery.undo(pending)
            raise
        finally:
            stores.states.written(tenant_id)
        stored()
        with suppress(CrpError):  # a number for people; their facts have ended
            for source in version.replaced:
                await stores.graph.put_source(replace(source, fact_count=0))
        return outcome

    async def _put_outline(self, version: SourceVersion) -> None:
        """Write the order of the version's facts; the one before stays until this version counts, and longer."""
        if version.outline:
            source, entries = version.record, version.outline
            about = OutlineVersion(
                source.tenant_id,
                source.source_id,
                source.version,
                source.document_hash,
                source.ingested_at,
                len(entries),
            )
            keep = KEPT_VERSIONS if version.replaces_all else KEPT_ADDITIONS
            await self._stores.graph.put_outline(SourceOutline(about, entries), keep=keep)


def _going_on(version: SourceVersion, stored: Mapping[str, FactRecord], begins: datetime | None) -> SourceVersion:
    """Return a version of a changed document in which facts that stood before hold from then on."""
    if version.former is None or version.former.document_hash == version.record.document_hash:
        return version
    now = version.record.ingested_at
    facts = tuple(
        replace(fact, validity=joined_validity(fact.validity, stored.get(fact.fact_id), begins, now))
        for fact in version.facts
    )
    going_on = sum(old.validity != new.validity for old, new in zip(version.facts, facts, strict=True))
    told = f"{going_on} of its facts stood in the version before as well, and hold without a break"
    return _told(replace(version, facts=facts), [told] if going_on else [])


def _told(version: SourceVersion, warnings: Sequence[str]) -> SourceVersion:
    told = (*version.warnings, *warnings)
    report = None if version.report is None else replace(version.report, warnings=told)
    return replace(version, warnings=told, report=report)


def _told_ends(ends: Mapping[datetime, Sequence[str]], now: datetime) -> list[str]:
    """Return what people should know of facts of the version before that stand for some time."""
    return [
        f"before {end:%Y-%m-%d} the version before holds, and of it "
        f"{'one fact' if len(fact_ids) == 1 else f'{len(fact_ids)} facts'} that this one lacks"
        for end, fact_ids in ends.items()
        if end > now
    ]


def _told_former(version: SourceVersion, stored: Mapping[str, FactRecord], now: datetime) -> list[str]:
    """Return what people should know of what the same address named before: another document, or a replaced one."""
    former = version.former
    if former is None or not stored or not version.replaces_all:
        return []
    if all(fact.superseded_at is not None and fact.superseded_at <= now for fact in stored.values()):
        text = "all facts of this document had been superseded, as by a document under another name; they hold again"
        return [f"{text}: where that is not meant, take this one away and the other in again with supersedes"]
    another = bool(former.title) and former.title != version.record.title
    # Under another heading a fact has another id, and may begin with that heading.
    before = {fact.content.rpartition(": ")[2] for fact in stored.values()}
    if another and not any(fact.content.rpartition(": ")[2] in before for fact in version.facts):
        text = f"nothing is left of what had this address before, “{former.title}”: if that is another document"
        return [f"{text}, take both in under addresses of their own, as by naming a folder above both files"]
    return []


def _stored_fact(version: SourceVersion, fact: FactRecord, asked: NewFact | None) -> StoredFact:
    validity, ended_at, now = Validity(fact.valid_from, fact.valid_to), fact.superseded_at, version.record.ingested_at
    weighs_otherwise = version.replaces_all and asked is not None and asked.importance_weight != fact.importance_weight
    return StoredFact(
        fact.status,
        fact.embedding_model,
        is_superseded=ended_at is not None and ended_at <= now,
        is_to_be_superseded=ended_at is not None and ended_at > now,
        has_other_terms=asked is not None and (asked.validity != validity or weighs_otherwise),
    )


def _status(fact: NewFact, before: FactRecord | None) -> FactStatus:
    """Return the status of a fact that is written; one that somebody restored is not quarantined again."""
    restored = before is not None and before.status is FactStatus.ACTIVE
    return FactStatus.QUARANTINED if fact.quarantined and not restored else FactStatus.ACTIVE
