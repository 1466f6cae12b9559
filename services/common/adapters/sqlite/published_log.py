"""What is shown of the log to the outside: leaves by index, and the checkpoint that witnesses cosigned (ADR 0100)."""

import sqlite3
from typing import Final

from services.common.adapters.leaf_rows import leaf_of
from services.common.adapters.sqlite.fetching import fetch, fetch_one
from services.common.adapters.sqlite.writer import WriteTraits
from services.common.ports.transparency_log import LogLeaf

COSIGNED_SCHEMA: Final = (
    "CREATE TABLE cosigned_heads (tenant_id TEXT PRIMARY KEY, size INTEGER NOT NULL, note TEXT NOT NULL) WITHOUT ROWID",
)
TRAITS: Final = WriteTraits(best_effort=True, reclaims=True)
"""Of keeping a cosigned checkpoint: one that is lost with the power is asked for again."""

_RANGE: Final = (
    "SELECT session_id, record_kind, record_id, position, content_hmac, substr(subtrees, 1, 32), leaf_index "
    "FROM leaves WHERE tenant_id = ? AND leaf_index >= ? AND leaf_index < ? ORDER BY leaf_index"
)
_KEEP: Final = (
    "INSERT INTO cosigned_heads VALUES (?, ?, ?) ON CONFLICT (tenant_id) DO UPDATE "
    "SET size = excluded.size, note = excluded.note WHERE excluded.size >= size"
)
_KEPT: Final = "SELECT note FROM cosigned_heads WHERE tenant_id = ?"


def read_leaves(connection: sqlite3.Connection, tenant_id: str, first: int, limit: int) -> list[LogLeaf]:
    """Return leaves by index, without those that are none."""
    rows = fetch(connection, _RANGE, (tenant_id, first, first + limit))
    return [leaf for row in rows if (leaf := leaf_of(row)) is not None]


def keep_cosigned(connection: sqlite3.Connection, tenant_id: str, size: int, note: str) -> None:
    """Keep a cosigned checkpoint, unless a larger one is held."""
    connection.execute(_KEEP, (tenant_id, size, note))


def cosigned(connection: sqlite3.Connection, tenant_id: str) -> str:
    """Return the cosigned checkpoint; empty without one that is text: it is asked for again."""
    row = fetch_one(connection, _KEPT, (tenant_id,))
    return row[0] if row and isinstance(row[0], str) else ""
