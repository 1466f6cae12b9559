"""The transparency log's tables in sessions.db, and appending and reading them.

A leaf's row also holds the hashes of the full subtrees that end with it, so that a tree of n leaves costs n rows and
2n hashes, and any of them is one lookup by primary key. ``trees`` holds each tenant's size and peaks: appending reads
and writes that one row, whatever the size, under the lock that SQLite's writer holds anyway.
"""

import sqlite3
from collections.abc import Sequence
from typing import Final

from services.common.merkle import HASH_BYTES, CompactRange, Place, check_full, ending_leaf
from services.common.ports.sessions import LeafKind, LogLeaf

LOG_SCHEMA: Final = (
    """
    CREATE TABLE leaves (
        tenant_id TEXT NOT NULL,
        leaf_index INTEGER NOT NULL,
        session_id TEXT NOT NULL,
        record_kind TEXT NOT NULL,
        record_id TEXT NOT NULL,
        position INTEGER NOT NULL,
        content_hmac TEXT NOT NULL,
        subtrees BLOB NOT NULL,
        PRIMARY KEY (tenant_id, leaf_index)
    ) WITHOUT ROWID
    """,
    "CREATE UNIQUE INDEX leaf_of_record ON leaves (tenant_id, session_id, record_kind, record_id)",
    "CREATE TABLE trees (tenant_id TEXT PRIMARY KEY, size INTEGER NOT NULL, peaks BLOB NOT NULL) WITHOUT ROWID",
)

_ADD_LEAF: Final = "INSERT INTO leaves VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
_GROW_TREE: Final = "UPDATE trees SET size = ?, peaks = ? WHERE tenant_id = ?"
_PLANT_TREE: Final = "INSERT INTO trees (size, peaks, tenant_id) VALUES (?, ?, ?)"
_SUBTREE: Final = "SELECT substr(subtrees, ?, ?) FROM leaves WHERE tenant_id = ? AND leaf_index = ?"
_LEAF: Final = (
    "SELECT position, content_hmac, substr(subtrees, 1, 32), leaf_index FROM leaves "
    "WHERE tenant_id = ? AND session_id = ? AND record_kind = ? AND record_id = ?"
)
_OF_SESSION: Final = (
    "SELECT record_kind, record_id, position, content_hmac, substr(subtrees, 1, 32), leaf_index FROM leaves "
    "WHERE tenant_id = ? AND session_id = ? ORDER BY +leaf_index"
)


def append_leaves(connection: sqlite3.Connection, tenant_id: str, leaves: Sequence[LogLeaf]) -> None:
    """Append the leaves and give them their indexes; a record that has a leaf is an ``IntegrityError``."""
    if not leaves:
        return
    row = connection.execute("SELECT size, peaks FROM trees WHERE tenant_id = ?", (tenant_id,)).fetchone()
    before = CompactRange.of_bytes(*row) if row else CompactRange()
    after, subtrees = before.extend(leaf.leaf_hash for leaf in leaves)
    rows = (
        (
            tenant_id,
            index,
            leaf.session_id,
            leaf.record_kind,
            leaf.record_id,
            leaf.position,
            leaf.content_hmac,
            b"".join(ending),
        )
        for index, (leaf, ending) in enumerate(zip(leaves, subtrees, strict=True), start=before.size)
    )
    connection.executemany(_ADD_LEAF, rows)
    connection.execute(_GROW_TREE if row else _PLANT_TREE, (after.size, after.to_bytes(), tenant_id))


def tree_size(connection: sqlite3.Connection, tenant_id: str) -> int:
    """Return the number of leaves."""
    row = connection.execute("SELECT size FROM trees WHERE tenant_id = ?", (tenant_id,)).fetchone()
    return int(row[0]) if row else 0


def tree_hashes(connection: sqlite3.Connection, tenant_id: str, places: Sequence[Place]) -> list[bytes]:
    """Return the hashes of full subtrees; ValueError for what is none."""
    check_full(places, tree_size(connection, tenant_id))
    found: list[bytes] = []
    for level, index in places:
        key = (level * HASH_BYTES + 1, HASH_BYTES, tenant_id, ending_leaf((level, index)))
        found.append(bytes(connection.execute(_SUBTREE, key).fetchone()[0]))
    return found


def find_leaves(
    connection: sqlite3.Connection, tenant_id: str, session_id: str, records: Sequence[tuple[LeafKind, str]]
) -> list[LogLeaf | None]:
    """Return the leaves of records."""
    found: list[LogLeaf | None] = []
    for kind, record_id in records:
        row = connection.execute(_LEAF, (tenant_id, session_id, kind, record_id)).fetchone()
        found.append(LogLeaf(session_id, kind, record_id, *row) if row else None)
    return found


def session_leaves(connection: sqlite3.Connection, tenant_id: str, session_id: str) -> list[LogLeaf]:
    """Return the session's leaves by index."""
    rows = connection.execute(_OF_SESSION, (tenant_id, session_id)).fetchall()
    return [LogLeaf(session_id, LeafKind(kind), *rest) for kind, *rest in rows]
