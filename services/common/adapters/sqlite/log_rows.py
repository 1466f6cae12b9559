"""The transparency log's tables in sessions.db, and appending and reading them.

A leaf's row also holds the hashes of the full subtrees that end with it, so that a tree of n leaves costs n rows and
2n hashes, and any of them is one lookup by primary key. ``trees`` holds each tenant's size and peaks: appending reads
and writes that one row, whatever the size, under the lock that SQLite's writer holds anyway. ``heads`` holds the head
that was signed last (ADR 0099). What is read is what is stored, of whatever type: whoever compares it judges it. A
leaf that is asked for alone must parse (ADR 0101).
"""

import sqlite3
from collections.abc import Sequence
from typing import Any, Final

from services.common.adapters.log_tips import LogTips
from services.common.adapters.sqlite.fetching import Row, fetch, fetch_one
from services.common.adapters.sqlite.typed_rows import RowShape
from services.common.adapters.stored_values import MAX_NUMBER, number_of
from services.common.errors import LogInconsistentError
from services.common.merkle import HASH_BYTES, CompactRange, Place, check_full, ending_leaf, places
from services.common.ports.transparency_log import KeptHead, LeafKind, LogLeaf, LogRow, LogState

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
HEADS_SCHEMA: Final = (
    """
    CREATE TABLE heads (
        tenant_id TEXT PRIMARY KEY,
        size INTEGER NOT NULL,
        root BLOB NOT NULL,
        mac TEXT NOT NULL,
        key_version INTEGER NOT NULL
    ) WITHOUT ROWID
    """,
)

_LOG: Final = "log"
_ADD_LEAF: Final = "INSERT INTO leaves VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
_GROW_TREE: Final = "UPDATE trees SET size = ?, peaks = ? WHERE tenant_id = ?"
_PLANT_TREE: Final = "INSERT INTO trees (size, peaks, tenant_id) VALUES (?, ?, ?)"
_BEYOND: Final = "SELECT 1 FROM leaves WHERE tenant_id = ? AND leaf_index >= ? LIMIT 1"
_SUBTREE: Final = "SELECT substr(subtrees, ?, ?) FROM leaves WHERE tenant_id = ? AND leaf_index = ?"
_LEAF: Final = (
    "SELECT position, content_hmac, substr(subtrees, 1, 32), leaf_index FROM leaves "
    "WHERE tenant_id = ? AND session_id = ? AND record_kind = ? AND record_id = ?"
)
_OF_SESSION: Final = (
    "WITH own AS (SELECT leaf_index AS place FROM leaves WHERE tenant_id = ?1 AND session_id = ?2) "
    "SELECT record_kind, record_id, position, content_hmac, substr(subtrees, 1, 32), leaf_index FROM own "
    "CROSS JOIN leaves ON tenant_id = ?1 AND leaf_index = place ORDER BY +leaf_index"
)
"""The places come out of the index of records, which holds all of them, then each leaf by its key. Asked in one step,
SQLite walks the whole log of the tenant; so it does without the plus."""
_STATE: Final = (
    "SELECT trees.size, trees.peaks, heads.size, heads.root, heads.mac, heads.key_version FROM (SELECT ?1 AS tenant) "
    "LEFT JOIN trees ON trees.tenant_id = tenant LEFT JOIN heads ON heads.tenant_id = tenant"
)
_PAGE: Final = (
    "SELECT session_id, record_kind, record_id, position, content_hmac, substr(subtrees, 1, 32), leaf_index, subtrees "
    "FROM leaves WHERE tenant_id = ? AND leaf_index > ? ORDER BY leaf_index LIMIT ?"
)
_KEEP_HEAD: Final = (
    "INSERT INTO heads VALUES (?, ?, ?, ?, ?) ON CONFLICT (tenant_id) DO UPDATE SET size = excluded.size, "
    "root = excluded.root, mac = excluded.mac, key_version = excluded.key_version WHERE heads.size <= excluded.size"
)
_TENANTS: Final = "SELECT tenant_id FROM trees UNION SELECT tenant_id FROM leaves UNION SELECT tenant_id FROM heads"
_KINDS: Final = {kind.value: kind for kind in LeafKind}


def _hash_of(raw: bytes) -> bytes:
    if len(raw) != HASH_BYTES:
        raise ValueError
    return raw


_LEAF_SHAPE: Final = RowShape.of(
    "leaf",
    "session_id, record_id, position, content_hmac, subtrees, leaf_index",
    named=("record_id",),
    types={"position": int, "subtrees": bytes, "leaf_index": int},
    parsed={"position": number_of, "subtrees": _hash_of, "leaf_index": number_of},
)


def append_leaves(connection: sqlite3.Connection, tenant_id: str, leaves: Sequence[LogLeaf], tips: LogTips) -> int:
    """Append the leaves, give them their indexes and return the log's size.

    A record that has a leaf is an ``IntegrityError``.

    Raises:
        LogInconsistentError: LOG_INCONSISTENT: the log does not hold together.
    """
    state = log_state(connection, tenant_id)
    before = _checked(connection, tenant_id, state, tips)
    if not leaves:
        return before.size
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
    peaks = after.to_bytes()
    # A row of size 0 is never written: where the size is 0 there is none, or a changed one, which was refused above.
    connection.execute(_GROW_TREE if before.size else _PLANT_TREE, (after.size, peaks, tenant_id))
    tips.wrote(tenant_id, after.size, peaks)
    return after.size


def _checked(connection: sqlite3.Connection, tenant_id: str, state: LogState, tips: LogTips) -> CompactRange:
    """Return the tree that the state describes, if it is the one that the leaves make and nothing was taken from it."""
    before = tips.tree(tenant_id, state)
    if not tips.knows(tenant_id, state):
        if fetch_one(connection, _BEYOND, (tenant_id, state.size)) is not None:
            raise LogInconsistentError.of(f"its size is {state.size}, and there are leaves beyond that")
        if _stored_hashes(connection, tenant_id, places((0, state.size))) != list(before.peaks):
            raise LogInconsistentError.of("its peaks are not those that its leaves make")
    return before


def log_state(connection: sqlite3.Connection, tenant_id: str) -> LogState:
    """Return size, peaks and kept head.

    Raises:
        LogInconsistentError: LOG_INCONSISTENT: one of them is of another type.
    """
    size, peaks, *head = fetch(connection, _STATE, (tenant_id,))[0]
    if size is None:
        size, peaks = 0, b""
    elif type(size) is not int or type(peaks) is not bytes or not 0 < size <= MAX_NUMBER:
        raise LogInconsistentError.of("its size or its peaks cannot be read")
    if head[0] is None:
        return LogState(size, peaks)
    if tuple(map(type, head)) != (int, bytes, str, int) or not 0 <= head[0] <= MAX_NUMBER:
        raise LogInconsistentError.of("the head that was kept cannot be read")
    return LogState(size, peaks, KeptHead(*head))


def keep_head(connection: sqlite3.Connection, tenant_id: str, head: KeptHead) -> None:
    """Keep the head unless a larger one is kept."""
    connection.execute(_KEEP_HEAD, (tenant_id, head.size, head.root, head.mac, head.key_version))


def tree_size(connection: sqlite3.Connection, tenant_id: str) -> int:
    """Return the number of leaves."""
    return log_state(connection, tenant_id).size


def tree_hashes(connection: sqlite3.Connection, tenant_id: str, wanted: Sequence[Place]) -> list[bytes]:
    """Return the hashes of full subtrees; ValueError for what is none."""
    check_full(wanted, tree_size(connection, tenant_id))
    return _stored_hashes(connection, tenant_id, wanted)


def _stored_hashes(connection: sqlite3.Connection, tenant_id: str, wanted: Sequence[Place]) -> list[bytes]:
    found: list[bytes] = []
    for level, index in wanted:
        leaf = ending_leaf((level, index))
        row = fetch_one(connection, _SUBTREE, (level * HASH_BYTES + 1, HASH_BYTES, tenant_id, leaf))
        if row is None:
            raise LogInconsistentError.of(f"leaf {leaf} is missing")
        if type(row[0]) is not bytes or len(row[0]) != HASH_BYTES:
            raise LogInconsistentError.of(f"leaf {leaf} was changed: it has no hash of level {level}")
        found.append(row[0])
    return found


def find_leaves(
    connection: sqlite3.Connection, tenant_id: str, session_id: str, records: Sequence[tuple[LeafKind, str]]
) -> list[LogLeaf | None]:
    """Return the leaves of records."""
    found: list[LogLeaf | None] = []
    for kind, record_id in records:
        row = fetch_one(connection, _LEAF, (tenant_id, session_id, kind, record_id))
        found.append(_leaf_of(session_id, kind, record_id, row) if row else None)
    return found


def _stored_kind(stored: Any) -> Any:
    return _KINDS.get(stored, stored)


def _leaf_of(session_id: str, kind: LeafKind, record_id: str, row: Row) -> LogLeaf:
    """Read a row of ``_LEAF``; a leaf that does not parse is a fault of its record's leaf."""
    values = _LEAF_SHAPE.read((session_id, record_id, *row))
    return LogLeaf(session_id, kind, record_id, *values[2:])


def session_leaves(connection: sqlite3.Connection, tenant_id: str, session_id: str) -> tuple[LogLeaf, ...]:
    """Return every leaf that names the session, by index."""
    rows = fetch(connection, _OF_SESSION, (tenant_id, session_id))
    return tuple([LogLeaf(session_id, _stored_kind(kind), *rest) for kind, *rest in rows])


def page_log(connection: sqlite3.Connection, tenant_id: str, after: int, limit: int) -> list[LogRow]:
    """Return leaves as they are stored."""
    rows = fetch(connection, _PAGE, (tenant_id, after, limit))
    return [LogRow(LogLeaf(session, _stored_kind(kind), *rest), sub) for session, kind, *rest, sub in rows]


def logged_tenants(connection: sqlite3.Connection) -> list[str]:
    """Return every tenant that has a log, or what is left of one."""
    return sorted(str(row[0]) for row in fetch(connection, _TENANTS))
