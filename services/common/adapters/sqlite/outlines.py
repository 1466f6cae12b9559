"""The outlines of sources in graph.db: one compressed value a version (ADR 0113)."""

import sqlite3
from collections.abc import Sequence
from typing import Any, Final

from services.common.adapters.outline_bytes import unpack
from services.common.adapters.sqlite.values import micros, moment
from services.common.adapters.stored_values import UNREADABLE, shown
from services.common.errors import UnreadableRecordError
from services.common.ports.outline import OutlineVersion, SourceOutline

OUTLINES_SCHEMA: Final = (
    """
    CREATE TABLE outlines (
        tenant_id TEXT NOT NULL,
        source_id TEXT NOT NULL,
        version INTEGER NOT NULL,
        document_hash TEXT NOT NULL,
        ingested_us INTEGER NOT NULL,
        fact_count INTEGER NOT NULL,
        entries BLOB NOT NULL,
        PRIMARY KEY (tenant_id, source_id, version)
    )
    """,
)
_ABOUT: Final = "tenant_id, source_id, version, document_hash, ingested_us, fact_count"
_OF_SOURCE: Final = "WHERE tenant_id = ? AND source_id = ?"


def put_outline(connection: sqlite3.Connection, about: OutlineVersion, packed: bytes, keep: int) -> None:
    """Insert or replace a version's outline, and remove all but the latest."""
    values = (about.tenant_id, about.source_id, about.version, about.document_hash, micros(about.ingested_at))
    connection.execute(
        "INSERT OR REPLACE INTO outlines VALUES (?, ?, ?, ?, ?, ?, ?)", (*values, about.fact_count, packed)
    )
    past = (about.tenant_id, about.source_id, about.version - keep)
    connection.execute(f"DELETE FROM outlines {_OF_SOURCE} AND version <= ?", past)  # noqa: S608


def delete_outline(connection: sqlite3.Connection, tenant_id: str, source_id: str, version: int) -> None:
    """Remove a version's outline."""
    connection.execute(f"DELETE FROM outlines {_OF_SOURCE} AND version = ?", (tenant_id, source_id, version))  # noqa: S608


def delete_outlines(connection: sqlite3.Connection, tenant_id: str, source_id: str) -> None:
    """Remove every outline of a source."""
    connection.execute(f"DELETE FROM outlines {_OF_SOURCE}", (tenant_id, source_id))  # noqa: S608


def get_outline(connection: sqlite3.Connection, tenant_id: str, source_id: str, version: int) -> SourceOutline | None:
    """Return a version's outline or ``None``."""
    statement = f"SELECT {_ABOUT}, entries FROM outlines {_OF_SOURCE} AND version = ?"  # noqa: S608
    row = connection.execute(statement, (tenant_id, source_id, version)).fetchone()
    if row is None:
        return None
    try:
        return SourceOutline(_about(row[:-1]), unpack(row[-1]))
    except UNREADABLE:
        raise UnreadableRecordError("outline", shown(source_id), "cannot be read: its row does not parse") from None


def outline_versions(connection: sqlite3.Connection, tenant_id: str, source_id: str) -> list[OutlineVersion]:
    """Return the versions that are kept, the latest first."""
    statement = f"SELECT {_ABOUT} FROM outlines {_OF_SOURCE} ORDER BY version DESC"  # noqa: S608
    try:
        return [_about(row) for row in connection.execute(statement, (tenant_id, source_id)).fetchall()]
    except UNREADABLE:
        raise UnreadableRecordError("outline", shown(source_id), "cannot be read: its row does not parse") from None


def _about(row: Sequence[Any]) -> OutlineVersion:
    tenant_id, source_id, version, document_hash, ingested_us, fact_count = row
    return OutlineVersion(tenant_id, source_id, version, document_hash, moment(ingested_us), fact_count)
