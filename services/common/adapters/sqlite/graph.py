"""``KnowledgeGraph`` on SQLite: sources, communities, clustering states (ADR 0030)."""

import json
import logging
import sqlite3
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from services.common.adapters.outline_bytes import pack
from services.common.adapters.sqlite.connections import Schema
from services.common.adapters.sqlite.fetching import fetch
from services.common.adapters.sqlite.outlines import (
    OUTLINES_SCHEMA,
    delete_outline,
    delete_outlines,
    get_outline,
    outline_versions,
    put_outline,
)
from services.common.adapters.sqlite.receipts import (
    QUOTATIONS_OF_ERASED,
    RECEIPTS_OF_SOURCES,
    RECEIPTS_SCHEMA,
    get_receipt,
    put_receipt,
    scrub_receipts,
    unquote_receipts,
)
from services.common.adapters.sqlite.single_file import SingleFileStore
from services.common.adapters.sqlite.values import (
    json_list,
    json_object,
    marks,
    micros,
    moment,
    optional_micros,
    optional_moment,
    strings,
)
from services.common.adapters.sqlite.writer import WriteTraits
from services.common.adapters.stored_values import UNREADABLE, number_of, shown
from services.common.computing import compute
from services.common.errors import UnreadableRecordError
from services.common.ports.graph import ClusteringRecord, CommunityRecord, SourceRecord, SourceStatus, uri_taken
from services.common.ports.outline import OutlineVersion, SourceOutline
from services.common.ports.receipts import Receipt
from services.common.quotations import quoted_sources, unquoted

_LOG: Final = logging.getLogger(__name__)
_IDS_AT_ONCE: Final = 500
_UNDOING: Final = WriteTraits(reclaims=True)
_ERASURE: Final = WriteTraits(reclaims=True, scrubs=True)

_SCHEMA: Final = Schema(
    application_id=0x47544752,  # "GTGR"
    migrations=(
        (
            """
            CREATE TABLE sources (
                tenant_id TEXT NOT NULL,
                source_id TEXT NOT NULL,
                status TEXT NOT NULL,
                uri TEXT NOT NULL,
                title TEXT NOT NULL,
                source_type TEXT NOT NULL,
                media_type TEXT NOT NULL,
                document_hash TEXT NOT NULL,
                ingested_us INTEGER NOT NULL,
                fact_count INTEGER NOT NULL,
                fact_ids_pending TEXT NOT NULL,
                stale_on_activation TEXT NOT NULL,
                metadata TEXT NOT NULL,
                PRIMARY KEY (tenant_id, source_id)
            )
            """,
            "CREATE INDEX sources_by_uri ON sources (tenant_id, uri, ingested_us, source_id)",
            "CREATE INDEX sources_unfinished ON sources (status) WHERE status IN ('INGESTING', 'ERASING')",
            """
            CREATE TABLE clusterings (
                tenant_id TEXT PRIMARY KEY,
                epoch INTEGER NOT NULL,
                clustered_us INTEGER,
                facts_at_clustering INTEGER NOT NULL,
                embedding_model TEXT NOT NULL
            )
            """,
            """
            CREATE TABLE communities (
                tenant_id TEXT NOT NULL REFERENCES clusterings ON DELETE CASCADE,
                label TEXT NOT NULL,
                fact_count INTEGER NOT NULL,
                epoch INTEGER NOT NULL,
                PRIMARY KEY (tenant_id, label)
            ) WITHOUT ROWID
            """,
            *RECEIPTS_SCHEMA,
        ),
        (*RECEIPTS_OF_SOURCES, "UPDATE sources SET uri = '', document_hash = '' WHERE status = 'ERASED'"),
        ("ALTER TABLE sources ADD COLUMN version INTEGER NOT NULL DEFAULT 0", *OUTLINES_SCHEMA),
        (QUOTATIONS_OF_ERASED,),
    ),
)
_COLUMNS: Final = (
    "tenant_id, source_id, status, uri, title, source_type, media_type, document_hash, ingested_us, fact_count, "
    "fact_ids_pending, stale_on_activation, metadata, version"
)
_PUT_SOURCE: Final = f"INSERT OR REPLACE INTO sources ({_COLUMNS}) VALUES ({marks(_COLUMNS.split(','))})"  # noqa: S608
_SOURCES: Final = f"SELECT {_COLUMNS} FROM sources "  # noqa: S608


class SqliteKnowledgeGraph(SingleFileStore):
    """Sources and communities of all tenants in one file."""

    schema = _SCHEMA

    async def put_source(self, source: SourceRecord, receipt: Receipt | None = None) -> None:
        """Insert or replace, with the receipt in the same transaction."""
        erasing = source.status in (SourceStatus.ERASING, SourceStatus.ERASED)

        def job(connection: sqlite3.Connection) -> None:
            _require_alone(connection, source)
            if source.status is SourceStatus.ERASED:
                scrub_receipts(connection, source.tenant_id, source.source_id)
                unquote_receipts(connection, source.tenant_id, source.source_id)
            put_receipt(connection, _standing(connection, receipt), source_id=source.source_id)
            connection.execute(_PUT_SOURCE, _source_values(source))
            if erasing:
                delete_outlines(connection, source.tenant_id, source.source_id)

        await self._database.write(job, _ERASURE if erasing else WriteTraits())

    async def delete_source(self, tenant_id: str, source_id: str) -> None:
        """Remove the record and its outlines."""

        def job(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM sources WHERE tenant_id = ? AND source_id = ?", (tenant_id, source_id))
            delete_outlines(connection, tenant_id, source_id)

        await self._database.write(job, _UNDOING)

    async def get_source(self, tenant_id: str, source_id: str) -> SourceRecord | None:
        """Return the source or ``None``."""
        found = await self._select("WHERE tenant_id = ? AND source_id = ?", tenant_id, source_id)
        return found[0] if found else None

    async def get_sources(self, tenant_id: str, source_ids: Sequence[str]) -> list[SourceRecord]:
        """Return those of the sources that there are."""
        wanted = list(dict.fromkeys(source_ids))

        def select(connection: sqlite3.Connection) -> list[Any]:
            rows: list[Any] = []
            for start in range(0, len(wanted), _IDS_AT_ONCE):
                some = wanted[start : start + _IDS_AT_ONCE]
                condition = f"WHERE tenant_id = ? AND source_id IN ({', '.join('?' * len(some))})"
                rows += connection.execute(_SOURCES + condition, (tenant_id, *some)).fetchall()
            return rows

        return [_source(row) for row in await self._database.read(select)] if wanted else []

    async def find_source(self, tenant_id: str, uri: str) -> SourceRecord | None:
        """Return the newest source of this URI that is not ERASED."""
        condition = "WHERE tenant_id = ? AND uri = ? AND status <> 'ERASED' ORDER BY ingested_us DESC, source_id DESC"
        found = await self._select(condition + " LIMIT 1", tenant_id, uri)
        return found[0] if found else None

    async def page_sources(self, tenant_id: str, *, after: str, limit: int) -> list[SourceRecord]:
        """Return the next sources by id."""
        condition = "WHERE tenant_id = ? AND source_id > ? ORDER BY source_id LIMIT ?"
        return await self._select(condition, tenant_id, after, limit)

    async def unfinished_sources(self) -> list[SourceRecord]:
        """Return INGESTING and ERASING sources of all tenants."""
        statement = f"{_SOURCES}WHERE status IN ('INGESTING', 'ERASING') ORDER BY tenant_id, source_id"
        rows = await self._database.read(lambda c: fetch(c, statement))
        return [source for row in rows if (source := _readable(row)) is not None]

    async def put_outline(self, outline: SourceOutline, *, keep: int) -> None:
        """Insert or replace a version's outline; keep the latest."""
        packed = await compute(pack, outline.entries)
        await self._database.write(lambda c: put_outline(c, outline.about, packed, keep))

    async def delete_outline(self, tenant_id: str, source_id: str, version: int) -> None:
        """Remove a version's outline."""
        await self._database.write(lambda c: delete_outline(c, tenant_id, source_id, version), _UNDOING)

    async def get_outline(self, tenant_id: str, source_id: str, version: int) -> SourceOutline | None:
        """Return a version's outline or ``None``."""
        return await self._database.read(lambda c: get_outline(c, tenant_id, source_id, version))

    async def outline_versions(self, tenant_id: str, source_id: str) -> list[OutlineVersion]:
        """Return the versions that are kept, the latest first."""
        return await self._database.read(lambda c: outline_versions(c, tenant_id, source_id))

    async def replace_communities(
        self, clustering: ClusteringRecord, communities: Sequence[CommunityRecord], receipt: Receipt | None = None
    ) -> None:
        """Replace the tenant's communities in one transaction.

        Raises:
            ValueError: a community is of another tenant.
        """
        if any(community.tenant_id != clustering.tenant_id for community in communities):
            raise ValueError("communities of another tenant")

        def job(connection: sqlite3.Connection) -> None:
            put_receipt(connection, receipt)
            connection.execute("DELETE FROM communities WHERE tenant_id = ?", (clustering.tenant_id,))
            connection.execute(
                "INSERT OR REPLACE INTO clusterings VALUES (?, ?, ?, ?, ?)",
                (
                    clustering.tenant_id,
                    clustering.epoch,
                    optional_micros(clustering.clustered_at),
                    clustering.facts_at_clustering,
                    clustering.embedding_model,
                ),
            )
            rows = ((one.tenant_id, one.label, one.fact_count, one.epoch) for one in communities)
            connection.executemany("INSERT INTO communities VALUES (?, ?, ?, ?)", rows)

        await self._database.write(job)

    async def page_communities(self, tenant_id: str, *, after: str, limit: int) -> list[CommunityRecord]:
        """Return the next communities by label."""
        statement = (
            "SELECT tenant_id, label, fact_count, epoch FROM communities "
            "WHERE tenant_id = ? AND label > ? ORDER BY label LIMIT ?"
        )
        rows = await self._database.read(lambda c: c.execute(statement, (tenant_id, after, limit)).fetchall())
        return [CommunityRecord(*row) for row in rows]

    async def clustering(self, tenant_id: str) -> ClusteringRecord:
        """Return the clustering state; epoch 0 when there is none."""
        statement = (
            "SELECT epoch, clustered_us, facts_at_clustering, embedding_model FROM clusterings WHERE tenant_id = ?"
        )
        row = await self._database.read(lambda c: c.execute(statement, (tenant_id,)).fetchone())
        if row is None:
            return ClusteringRecord(tenant_id, 0, None, 0, "")
        return ClusteringRecord(tenant_id, row[0], optional_moment(row[1]), row[2], row[3])

    async def clusterings_before(self, moment: datetime, limit: int) -> list[ClusteringRecord]:
        """Return the oldest clusterings before a moment."""
        statement = (
            "SELECT tenant_id, epoch, clustered_us, facts_at_clustering, embedding_model FROM clusterings "
            "WHERE clustered_us < ? ORDER BY clustered_us, tenant_id LIMIT ?"
        )
        rows = await self._database.read(lambda c: c.execute(statement, (micros(moment), limit)).fetchall())
        return [ClusteringRecord(row[0], row[1], optional_moment(row[2]), *row[3:]) for row in rows]

    async def get_receipt(self, tenant_id: str, rpc: str, request_id: str) -> Receipt | None:
        """Return a remembered answer."""
        return await self._database.read(lambda c: get_receipt(c, tenant_id, rpc, request_id))

    async def _select(self, condition: str, *values: Any) -> list[SourceRecord]:
        rows = await self._database.read(lambda c: c.execute(_SOURCES + condition, values).fetchall())
        return [_source(row) for row in rows]


def _require_alone(connection: sqlite3.Connection, source: SourceRecord) -> None:
    """Refuse a second source of one URI: two processes that bring a new document at once must not both have it."""
    if source.status is SourceStatus.ERASED:
        return
    statement = (
        "SELECT 1 FROM sources WHERE tenant_id = ? AND uri = ? AND status <> 'ERASED' AND source_id <> ? LIMIT 1"
    )
    if connection.execute(statement, (source.tenant_id, source.uri, source.source_id)).fetchone():
        raise uri_taken()


def _standing(connection: sqlite3.Connection, receipt: Receipt | None) -> Receipt | None:
    """Return the receipt without the words of sources that were erased since it was made."""
    quoted = sorted(quoted_sources(receipt)) if receipt is not None else []
    if receipt is None or not quoted:
        return receipt
    condition = f"tenant_id = ? AND status IN ('ERASING', 'ERASED') AND source_id IN ({marks(quoted)})"
    statement = f"SELECT source_id FROM sources WHERE {condition}"  # noqa: S608
    rows = connection.execute(statement, (receipt.tenant_id, *quoted)).fetchall()
    return unquoted(receipt, {source_id for (source_id,) in rows})


def _source_values(source: SourceRecord) -> tuple[Any, ...]:
    return (
        source.tenant_id,
        source.source_id,
        source.status,
        source.uri,
        source.title,
        source.source_type,
        source.media_type,
        source.document_hash,
        micros(source.ingested_at),
        source.fact_count,
        json_list(source.fact_ids_pending),
        json_list(source.stale_on_activation),
        json_object(source.metadata),
        source.version,
    )


def _readable(row: Sequence[Any]) -> SourceRecord | None:
    """Read a source of any tenant; one that does not parse keeps nobody else's from being finished (ADR 0101)."""
    try:
        return _source(row)
    except UnreadableRecordError as error:
        _LOG.warning("an unfinished source is left as it is: %s", error.message)
        return None


def _source(row: Sequence[Any]) -> SourceRecord:
    try:
        return _read_source(row)
    except UNREADABLE:
        raise UnreadableRecordError("source", shown(row[1]), "cannot be read: its row does not parse") from None


def _read_source(row: Sequence[Any]) -> SourceRecord:
    tenant_id, source_id, status, uri, title, source_type, media_type, document_hash, *rest = row
    ingested, fact_count, pending, stale, metadata, version = rest
    return SourceRecord(
        tenant_id=tenant_id,
        source_id=source_id,
        title=title,
        uri=uri,
        source_type=source_type,
        media_type=media_type,
        document_hash=document_hash,
        ingested_at=moment(ingested),
        fact_count=fact_count,
        status=SourceStatus(status),
        fact_ids_pending=strings(pending),
        stale_on_activation=strings(stale),
        metadata=json.loads(metadata),
        version=number_of(version),
    )
