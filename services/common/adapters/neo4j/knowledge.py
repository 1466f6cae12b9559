"""``KnowledgeGraph`` on Neo4j: sources, communities, clusterings (ADR 0061)."""

import json
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from typing import Final, Self

from neo4j import AsyncManagedTransaction

from services.common.adapters.neo4j import knowledge_statements as statements
from services.common.adapters.neo4j.database import Neo4jDatabase, rows_of
from services.common.adapters.neo4j.knowledge_schema import KNOWLEDGE_SCHEMA
from services.common.adapters.neo4j.migrations import open_migrated
from services.common.adapters.neo4j.receipts import Neo4jReceipts, ReceiptStatements
from services.common.adapters.neo4j.values import Properties, key, micros, moment, sort_key
from services.common.adapters.outline_bytes import pack, unpack
from services.common.computing import compute
from services.common.ports.graph import ClusteringRecord, CommunityRecord, SourceRecord, SourceStatus
from services.common.ports.outline import OutlineVersion, SourceOutline
from services.common.ports.receipts import ERASING_RPC, Receipt
from services.common.quotations import QUOTING_RPC, quoted_sources, unquoted, without_words_of
from services.common.settings.neo4j import Neo4jSettings

_RECEIPTS: Final = ReceiptStatements(statements.REMEMBER, statements.GET_RECEIPT, statements.FORGET_RECEIPTS)
_FORGET_EVERY: Final = timedelta(0)
"""Beside each write: documents are ingested far less often than windows are committed."""
_GONE: Final = (SourceStatus.ERASING, SourceStatus.ERASED)
_UNFINISHED: Final = (SourceStatus.INGESTING, SourceStatus.ERASING)


class Neo4jKnowledgeGraph:
    """Sources and communities of all tenants in one database.

    Args:
        database: open, with the schema of knowledge.
    """

    def __init__(self, database: Neo4jDatabase) -> None:
        self._database = database
        self._receipts = Neo4jReceipts(database, _RECEIPTS, forget_every=_FORGET_EVERY)

    @classmethod
    async def open(cls, settings: Neo4jSettings) -> Self:
        """Connect, and bring the database to the present schema.

        Raises:
            UnavailableError: STORE_UNAVAILABLE.
            StartupError: the file of root certificates cannot be read.
        """
        return cls(await open_migrated(settings, KNOWLEDGE_SCHEMA))

    async def put_source(self, source: SourceRecord, receipt: Receipt | None = None) -> None:
        """Insert or replace, with the receipt in the same transaction.

        Raises:
            ConflictError: COMMIT_RACE: the request was answered otherwise, or another source has the URI.
            UnavailableError: STORE_UNAVAILABLE.
        """
        properties = source_properties(source)

        async def job(transaction: AsyncManagedTransaction) -> None:
            await rows_of(transaction, statements.PUT_SOURCE, key=properties["key"], source=properties)
            if source.status in _GONE:
                await rows_of(transaction, statements.DELETE_OUTLINES, source_key=properties["key"])
            if source.status is SourceStatus.ERASED:
                scrubbed = {"key": properties["key"], "erasing": ERASING_RPC, "nothing": b""}
                await rows_of(transaction, statements.SCRUB_RECEIPTS, **scrubbed)
                await _unquote(transaction, source)
            if receipt is not None:
                kept = await _standing(transaction, receipt)
                quotes = sorted(quoted_sources(kept))
                await self._receipts.remember(transaction, kept, source_key=properties["key"], quotes=quotes)

        await self._write(job, receipt)

    async def delete_source(self, tenant_id: str, source_id: str) -> None:
        """Remove the record and its outlines."""
        whose = key(tenant_id, source_id)

        async def job(transaction: AsyncManagedTransaction) -> None:
            await rows_of(transaction, statements.DELETE_SOURCE, key=whose)
            await rows_of(transaction, statements.DELETE_OUTLINES, source_key=whose)

        await self._database.run(job)

    async def get_source(self, tenant_id: str, source_id: str) -> SourceRecord | None:
        """Return the source or ``None``."""
        rows = await self._database.rows(statements.GET_SOURCE, key=key(tenant_id, source_id))
        return source_of(rows[0]["source"]) if rows else None

    async def get_sources(self, tenant_id: str, source_ids: Sequence[str]) -> list[SourceRecord]:
        """Return those of the sources that there are."""
        keys = [key(tenant_id, source_id) for source_id in dict.fromkeys(source_ids)]
        rows = await self._database.rows(statements.GET_SOURCES, keys=keys) if keys else []
        return [source_of(row["source"]) for row in rows]

    async def find_source(self, tenant_id: str, uri: str) -> SourceRecord | None:
        """Return the newest source of this URI that is not ERASED."""
        rows = await self._database.rows(statements.FIND_SOURCE, key=key(tenant_id, uri))
        return source_of(rows[0]["source"]) if rows else None

    async def page_sources(self, tenant_id: str, *, after: str, limit: int) -> list[SourceRecord]:
        """Return the next sources by id."""
        whose = {"key": key(tenant_id), "sort_key": sort_key(after)}
        rows = await self._database.rows(statements.PAGE_SOURCES, **whose, after=after, limit=limit)
        return sorted((source_of(row["source"]) for row in rows), key=lambda one: one.source_id)

    async def unfinished_sources(self) -> list[SourceRecord]:
        """Return INGESTING and ERASING sources of all tenants."""
        rows = await self._database.rows(statements.UNFINISHED_SOURCES)
        return sorted((source_of(row["source"]) for row in rows), key=lambda one: (one.tenant_id, one.source_id))

    async def put_outline(self, outline: SourceOutline, *, keep: int) -> None:
        """Insert or replace a version's outline; keep the latest."""
        properties = outline_properties(outline.about, await compute(pack, outline.entries))
        last = outline.about.version - keep

        async def job(transaction: AsyncManagedTransaction) -> None:
            await rows_of(transaction, statements.PUT_OUTLINE, key=properties["key"], outline=properties)
            await rows_of(transaction, statements.FORGET_OUTLINES, source_key=properties["source_key"], last=last)

        await self._database.run(job)

    async def delete_outline(self, tenant_id: str, source_id: str, version: int) -> None:
        """Remove a version's outline."""
        await self._database.rows(statements.DELETE_OUTLINE, key=_outline_key(tenant_id, source_id, version))

    async def get_outline(self, tenant_id: str, source_id: str, version: int) -> SourceOutline | None:
        """Return a version's outline or ``None``."""
        rows = await self._database.rows(statements.GET_OUTLINE, key=_outline_key(tenant_id, source_id, version))
        if not rows:
            return None
        found = rows[0]["outline"]
        return SourceOutline(_outline_version(found), await compute(unpack, bytes(found["entries"])))

    async def outline_versions(self, tenant_id: str, source_id: str) -> list[OutlineVersion]:
        """Return the versions that are kept, the latest first."""
        rows = await self._database.rows(statements.OUTLINE_VERSIONS, source_key=key(tenant_id, source_id))
        found = (_outline_version(row["outline"]) for row in rows)
        return sorted(found, key=lambda one: one.version, reverse=True)

    async def replace_communities(
        self, clustering: ClusteringRecord, communities: Sequence[CommunityRecord], receipt: Receipt | None = None
    ) -> None:
        """Replace the tenant's communities in one transaction.

        Raises:
            ConflictError: COMMIT_RACE: the request was answered otherwise.
            UnavailableError: STORE_UNAVAILABLE.
            ValueError: a community is of another tenant.
        """
        if any(community.tenant_id != clustering.tenant_id for community in communities):
            raise ValueError("communities of another tenant")
        properties = _clustering_properties(clustering)
        rows = [_community_properties(community) for community in communities]

        async def job(transaction: AsyncManagedTransaction) -> None:
            statement, whose = statements.REPLACE_COMMUNITIES, properties["key"]
            await rows_of(transaction, statement, key=whose, clustering=properties, communities=rows)
            if receipt is not None:
                await self._receipts.remember(transaction, receipt)

        await self._write(job, receipt)

    async def page_communities(self, tenant_id: str, *, after: str, limit: int) -> list[CommunityRecord]:
        """Return the next communities by label."""
        whose = {"key": key(tenant_id), "tenant_id": tenant_id, "sort_key": sort_key(after)}
        rows = await self._database.rows(statements.PAGE_COMMUNITIES, **whose, after=after, limit=limit)
        found = (row["community"] for row in rows)
        records = (CommunityRecord(one["tenant_id"], one["label"], one["fact_count"], one["epoch"]) for one in found)
        return sorted(records, key=lambda one: one.label)

    async def clustering(self, tenant_id: str) -> ClusteringRecord:
        """Return the clustering state; epoch 0 when there is none."""
        rows = await self._database.rows(statements.GET_CLUSTERING, key=key(tenant_id))
        if not rows:
            return ClusteringRecord(tenant_id, 0, None, 0, "")
        return _clustering_of(rows[0]["clustering"])

    async def clusterings_before(self, moment: datetime, limit: int) -> list[ClusteringRecord]:
        """Return the oldest clusterings before a moment."""
        rows = await self._database.rows(statements.CLUSTERINGS_BEFORE, moment_us=micros(moment), limit=limit)
        found = [(row["clustering"]["clustered_us"], _clustering_of(row["clustering"])) for row in rows]
        return [record for _, record in sorted(found, key=lambda one: (one[0], one[1].tenant_id))]

    async def get_receipt(self, tenant_id: str, rpc: str, request_id: str) -> Receipt | None:
        """Return a remembered answer."""
        return await self._receipts.get(tenant_id, rpc, request_id)

    async def check(self) -> None:
        """Return when Neo4j answers."""
        await self._database.check()

    async def close(self) -> None:
        """Close the connections; idempotent."""
        await self._database.close()

    async def _write(self, job: Callable[[AsyncManagedTransaction], Awaitable[None]], receipt: Receipt | None) -> None:
        await self._database.run(job)
        if receipt is not None:
            await self._receipts.forget(receipt.created_at)


async def _standing(transaction: AsyncManagedTransaction, receipt: Receipt) -> Receipt:
    """Return the receipt without the words of sources that were erased since it was made."""
    keys = sorted(key(receipt.tenant_id, source_id) for source_id in quoted_sources(receipt))
    rows = await rows_of(transaction, statements.LOCK_QUOTED, keys=keys) if keys else []
    return unquoted(receipt, {row["source_id"] for row in rows if row["status"] in _GONE})


async def _unquote(transaction: AsyncManagedTransaction, source: SourceRecord) -> None:
    """Take the words of an erased source out of what was answered about others; these answers are given again."""
    whose = {"tenant_id": source.tenant_id, "source_id": source.source_id}
    rows = await rows_of(transaction, statements.QUOTING_RECEIPTS, **whose, rpc=QUOTING_RPC)
    held = ((row["key"], bytes(told)) for row in rows if isinstance(told := row["response"], bytes | bytearray))
    changed = [
        {"key": found, "response": without_words_of(response, {source.source_id})}
        for found, response in held
        if source.source_id.encode() in response
    ]
    if changed:
        await rows_of(transaction, statements.UNQUOTE_RECEIPTS, receipts=changed)


def source_properties(source: SourceRecord) -> Properties:
    """Return a source's properties; those that an index is on are absent where it does not apply."""
    values: Properties = {
        "key": key(source.tenant_id, source.source_id),
        "tenant_key": key(source.tenant_id),
        "sort_key": sort_key(source.source_id),
        "tenant_id": source.tenant_id,
        "source_id": source.source_id,
        "status": source.status.value,
        "uri": source.uri,
        "title": source.title,
        "source_type": source.source_type,
        "media_type": source.media_type,
        "document_hash": source.document_hash,
        "ingested_us": micros(source.ingested_at),
        "fact_count": source.fact_count,
        "fact_ids_pending": list(source.fact_ids_pending),
        "stale_on_activation": list(source.stale_on_activation),
        "metadata": json.dumps(dict(source.metadata), ensure_ascii=False),
        "version": source.version,
    }
    if source.status in _UNFINISHED:
        values["unfinished"] = True
    if source.status is not SourceStatus.ERASED:
        values["uri_key"] = key(source.tenant_id, source.uri)
    return values


def source_of(row: Properties) -> SourceRecord:
    """Read what ``source_properties`` wrote."""
    return SourceRecord(
        tenant_id=row["tenant_id"],
        source_id=row["source_id"],
        title=row["title"],
        uri=row["uri"],
        source_type=row["source_type"],
        media_type=row["media_type"],
        document_hash=row["document_hash"],
        ingested_at=moment(row["ingested_us"]),
        fact_count=row["fact_count"],
        status=SourceStatus(row["status"]),
        fact_ids_pending=tuple(row["fact_ids_pending"]),
        stale_on_activation=tuple(row["stale_on_activation"]),
        metadata=json.loads(row["metadata"]),
        version=row.get("version", 0),  # absent where an earlier program wrote it
    )


def outline_properties(about: OutlineVersion, packed: bytes) -> Properties:
    """Return an outline's properties."""
    return {
        "key": _outline_key(about.tenant_id, about.source_id, about.version),
        "source_key": key(about.tenant_id, about.source_id),
        "tenant_id": about.tenant_id,
        "source_id": about.source_id,
        "version": about.version,
        "document_hash": about.document_hash,
        "ingested_us": micros(about.ingested_at),
        "fact_count": about.fact_count,
        "entries": packed,
    }


def _outline_key(tenant_id: str, source_id: str, version: int) -> str:
    return key(tenant_id, source_id, str(version))


def _outline_version(row: Properties) -> OutlineVersion:
    return OutlineVersion(
        tenant_id=row["tenant_id"],
        source_id=row["source_id"],
        version=row["version"],
        document_hash=row["document_hash"],
        ingested_at=moment(row["ingested_us"]),
        fact_count=row["fact_count"],
    )


def _clustering_properties(clustering: ClusteringRecord) -> Properties:
    clustered = clustering.clustered_at
    return {
        "key": key(clustering.tenant_id),
        "tenant_id": clustering.tenant_id,
        "epoch": clustering.epoch,
        "clustered_us": None if clustered is None else micros(clustered),
        "facts_at_clustering": clustering.facts_at_clustering,
        "embedding_model": clustering.embedding_model,
    }


def _clustering_of(row: Properties) -> ClusteringRecord:
    clustered = row.get("clustered_us")
    return ClusteringRecord(
        tenant_id=row["tenant_id"],
        epoch=row["epoch"],
        clustered_at=None if clustered is None else moment(clustered),
        facts_at_clustering=row["facts_at_clustering"],
        embedding_model=row["embedding_model"],
    )


def _community_properties(community: CommunityRecord) -> Properties:
    return {
        "key": key(community.tenant_id, community.label),
        "tenant_key": key(community.tenant_id),
        "sort_key": sort_key(community.label),
        "tenant_id": community.tenant_id,
        "label": community.label,
        "fact_count": community.fact_count,
        "epoch": community.epoch,
    }
