"""The transparency log in Neo4j: each tenant's ``Log`` node holds size and peaks, each ``Leaf`` the subtrees it ends.

Appending locks the ``Log`` node, the last lock of a write, so that indexes have no gaps and no two writers wait for one
another. Reading locks it too: Neo4j shows a commit piece by piece, and behind the lock it is whole. ``LogHead`` holds
the head that was signed last (ADR 0099).
"""

from collections.abc import Sequence
from typing import Any, Final

from neo4j import AsyncManagedTransaction

from services.common.adapters.log_tips import LogTips
from services.common.adapters.neo4j.database import Neo4jDatabase, rows_of
from services.common.adapters.neo4j.typed_properties import NodeShape, bytes_of, whole_of
from services.common.adapters.neo4j.values import Properties, key, sort_key
from services.common.adapters.stored_values import MAX_NUMBER, word_of
from services.common.errors import LogInconsistentError
from services.common.merkle import HASH_BYTES, CompactRange, Place, check_full, ending_leaf, places
from services.common.ports.transparency_log import KeptHead, LeafKind, LogLeaf, LogRow, LogState

LOCK_LOG: Final = """
MERGE (n:Log {key: $key})
ON CREATE SET n.size = 0, n.peaks = $no_peaks, n.sort_key = $sort_key, n.keyed = true
SET n.tenant_id = $tenant_id
WITH n
OPTIONAL MATCH (h:LogHead {key: $key})
RETURN n.size AS size, n.peaks AS peaks, h {.*} AS head
"""
APPEND: Final = """
MATCH (n:Log {key: $key})
SET n.size = $size, n.peaks = $peaks
WITH n
UNWIND $leaves AS leaf
CREATE (l:Leaf)
SET l = leaf
"""
READ_STATE: Final = """
OPTIONAL MATCH (n:Log {key: $key})
SET n.tenant_id = $tenant_id
WITH n
OPTIONAL MATCH (h:LogHead {key: $key})
RETURN n.size AS size, n.peaks AS peaks, h {.*} AS head
"""
KEEP_HEAD: Final = """
MERGE (h:LogHead {key: $key})
ON CREATE SET h = $head
SET h.tenant_id = $tenant_id
WITH h
WHERE h.size <= $head.size
SET h = $head
"""
READ_SUBTREES: Final = "UNWIND $keys AS key MATCH (l:Leaf {key: key}) RETURN key, l.subtrees AS subtrees"
READ_LEAVES: Final = "UNWIND $keys AS key MATCH (l:Leaf {key: key}) RETURN l {.*} AS leaf"
OF_SESSION: Final = """
MATCH (l:Leaf {session_key: $key})
RETURN l {.*} AS leaf
"""
UNKEYED: Final = """
MATCH (n:Log)
WHERE n.sort_key >= '' AND n.keyed IS NULL
RETURN n.tenant_id AS tenant_id, n.size AS size ORDER BY n.tenant_id LIMIT 1
"""
LOCATE: Final = "UNWIND $keys AS key MATCH (l:Leaf {key: key}) RETURN l.key AS key, l.session_id AS session_id"
KEY_LEAVES: Final = "UNWIND $rows AS row MATCH (l:Leaf {key: row.key}) SET l.session_key = row.session_key"
KEYED: Final = "MATCH (n:Log {key: $key}) SET n.keyed = true"
FIND_LEAVES: Final = "UNWIND $keys AS key MATCH (l:Leaf {record_key: key}) RETURN l {.*} AS leaf"


_BATCH: Final = 1_000
_KINDS: Final[dict[Any, Any]] = {kind.value: kind for kind in LeafKind}
_AS_STORED: Final = ("session_id", "record_kind", "record_id", "position", "content_hmac", "leaf_index")


async def append_leaves(
    transaction: AsyncManagedTransaction, tenant_id: str, leaves: Sequence[LogLeaf], tips: LogTips
) -> int:
    """Append the leaves, give them their indexes and return the log's size, 0 without leaves.

    A record that has a leaf is a ``ConstraintError``.

    Raises:
        LogInconsistentError: LOG_INCONSISTENT: the log does not hold together.
    """
    if not leaves:
        return 0
    log = key(tenant_id)
    new = {"no_peaks": b"", "sort_key": sort_key(tenant_id)}
    (row,) = await rows_of(transaction, LOCK_LOG, key=log, tenant_id=tenant_id, **new)
    before = await _checked(transaction, tenant_id, _state_of(row), tips)
    after, subtrees = before.extend(leaf.leaf_hash for leaf in leaves)
    rows = [
        _leaf_properties(tenant_id, index, leaf, b"".join(ending))
        for index, (leaf, ending) in enumerate(zip(leaves, subtrees, strict=True), start=before.size)
    ]
    peaks = after.to_bytes()
    await rows_of(transaction, APPEND, key=log, size=after.size, peaks=peaks, leaves=rows)
    tips.wrote(tenant_id, after.size, peaks)
    return after.size


async def _checked(
    transaction: AsyncManagedTransaction, tenant_id: str, state: LogState, tips: LogTips
) -> CompactRange:
    """Return the tree that the state describes, if it is the one that the leaves make and nothing was taken from it."""
    before = tips.tree(tenant_id, state)
    if not tips.knows(tenant_id, state):
        if await rows_of(transaction, READ_LEAVES, keys=[leaf_key(tenant_id, state.size)]):
            raise LogInconsistentError.of(f"its size is {state.size}, and there are leaves beyond that")
        if await _stored_hashes(transaction, tenant_id, places((0, state.size))) != list(before.peaks):
            raise LogInconsistentError.of("its peaks are not those that its leaves make")
    return before


async def log_state(transaction: AsyncManagedTransaction, tenant_id: str) -> LogState:
    """Return size, peaks and kept head; takes the log's lock.

    Raises:
        LogInconsistentError: LOG_INCONSISTENT: one of them is of another type.
    """
    rows = await rows_of(transaction, READ_STATE, key=key(tenant_id), tenant_id=tenant_id)
    return _state_of(rows[0]) if rows else LogState()


def _state_of(row: Properties) -> LogState:
    size, peaks, head = row["size"], row["peaks"], row["head"]
    if size is None and peaks is None:
        size, peaks = 0, b""
    if type(size) is not int or not isinstance(peaks, bytes | bytearray) or not 0 <= size <= MAX_NUMBER:
        raise LogInconsistentError.of("its size or its peaks cannot be read")
    if head is None:
        return LogState(size, bytes(peaks))
    values: list[Any] = [head.get(name) for name in ("size", "root", "mac", "key_version")]
    kinds = (int, bytes | bytearray, str, int)
    if not all(map(isinstance, values, kinds)) or not 0 <= values[0] <= MAX_NUMBER:
        raise LogInconsistentError.of("the head that was kept cannot be read")
    return LogState(size, bytes(peaks), KeptHead(values[0], bytes(values[1]), values[2], values[3]))


async def keep_head(transaction: AsyncManagedTransaction, tenant_id: str, head: KeptHead) -> None:
    """Keep the head unless a larger one is kept."""
    log = key(tenant_id)
    properties = {"key": log, "tenant_id": tenant_id, "size": head.size, "root": head.root, "mac": head.mac}
    properties["key_version"] = head.key_version
    await rows_of(transaction, KEEP_HEAD, key=log, tenant_id=tenant_id, head=properties)


async def tree_size(transaction: AsyncManagedTransaction, tenant_id: str) -> int:
    """Return the number of leaves."""
    return (await log_state(transaction, tenant_id)).size


async def tree_hashes(transaction: AsyncManagedTransaction, tenant_id: str, wanted: Sequence[Place]) -> list[bytes]:
    """Return the hashes of full subtrees; ValueError for what is none."""
    check_full(wanted, await tree_size(transaction, tenant_id))
    return await _stored_hashes(transaction, tenant_id, wanted)


async def _stored_hashes(transaction: AsyncManagedTransaction, tenant_id: str, wanted: Sequence[Place]) -> list[bytes]:
    indexes = [ending_leaf(place) for place in wanted]
    keys = {index: leaf_key(tenant_id, index) for index in indexes}
    rows = await rows_of(transaction, READ_SUBTREES, keys=list(keys.values()))
    stored = {row["key"]: row["subtrees"] for row in rows}
    found: list[bytes] = []
    for index, (level, _) in zip(indexes, wanted, strict=True):
        subtrees = stored.get(keys[index])
        if subtrees is None:
            raise LogInconsistentError.of(f"leaf {index} is missing")
        part = subtrees[level * HASH_BYTES :][:HASH_BYTES] if isinstance(subtrees, bytes | bytearray) else b""
        if len(part) != HASH_BYTES:
            raise LogInconsistentError.of(f"leaf {index} was changed: it has no hash of level {level}")
        found.append(bytes(part))
    return found


async def session_leaves(transaction: AsyncManagedTransaction, tenant_id: str, session_id: str) -> tuple[LogLeaf, ...]:
    """Return every leaf that names the session, by index."""
    rows = await rows_of(transaction, OF_SESSION, key=key(tenant_id, session_id))
    return tuple(sorted((_leaf_of(row["leaf"]) for row in rows), key=_index))


async def page_log(transaction: AsyncManagedTransaction, tenant_id: str, after: int, limit: int) -> list[LogRow]:
    """Return leaves as they are stored, by index."""
    keys = [leaf_key(tenant_id, index) for index in range(after + 1, after + 1 + limit)]
    rows = [row["leaf"] for row in await rows_of(transaction, READ_LEAVES, keys=keys)]
    found = [LogRow(_leaf_of(row), row.get("subtrees") or b"") for row in rows]
    return sorted(found, key=lambda row: _index(row.leaf))


async def key_leaves(database: Neo4jDatabase) -> None:
    """Give the leaves of an earlier version the key of their session; does nothing where that was done."""
    while rows := await database.rows(UNKEYED):
        tenant_id, size = rows[0]["tenant_id"], int(rows[0]["size"])
        for start in range(0, size, _BATCH):
            keys = [leaf_key(tenant_id, index) for index in range(start, min(start + _BATCH, size))]
            found = await database.rows(LOCATE, keys=keys)
            keyed = [{"key": row["key"], "session_key": key(tenant_id, str(row["session_id"]))} for row in found]
            await database.rows(KEY_LEAVES, rows=keyed)
        await database.rows(KEYED, key=key(tenant_id))


async def find_leaves(
    transaction: AsyncManagedTransaction, tenant_id: str, session_id: str, records: Sequence[tuple[LeafKind, str]]
) -> list[LogLeaf | None]:
    """Return the leaves of records."""
    keys = [_record_key(tenant_id, session_id, *record) for record in records]
    rows = await rows_of(transaction, FIND_LEAVES, keys=list(set(keys)))
    found = {row["leaf"]["record_key"]: _read_leaf(row["leaf"]) for row in rows}
    return [found.get(one) for one in keys]


def leaf_key(tenant_id: str, index: int) -> str:
    """Return what a leaf is found by."""
    return key(tenant_id, str(index))


def _record_key(tenant_id: str, session_id: str, kind: LeafKind, record_id: str) -> str:
    return key(tenant_id, session_id, kind, record_id)


def _first_hash(subtrees: object) -> bytes:
    found = bytes_of(subtrees)
    if len(found) < HASH_BYTES:
        raise ValueError
    return found[:HASH_BYTES]


def _leaf_properties(tenant_id: str, index: int, leaf: LogLeaf, subtrees: bytes) -> Properties:
    return {
        "key": leaf_key(tenant_id, index),
        "record_key": _record_key(tenant_id, leaf.session_id, leaf.record_kind, leaf.record_id),
        "session_key": key(tenant_id, leaf.session_id),
        "session_id": leaf.session_id,
        "record_kind": leaf.record_kind.value,
        "record_id": leaf.record_id,
        "position": leaf.position,
        "content_hmac": leaf.content_hmac,
        "leaf_index": index,
        "subtrees": subtrees,
    }


_LEAF: Final = NodeShape(
    "leaf",
    ("record_id",),
    plain={"session_id": str, "record_id": str, "content_hmac": str},
    parsed={
        "record_kind": ("record_kind", word_of(LeafKind)),
        "position": ("position", whole_of),
        "leaf_hash": ("subtrees", _first_hash),
        "leaf_index": ("leaf_index", whole_of),
    },
)


def _read_leaf(row: Properties) -> LogLeaf:
    """Return a leaf that is asked for alone; one that does not parse is a fault of its record's leaf (ADR 0101)."""
    return LogLeaf(**_LEAF.read(row))


def _leaf_of(row: Properties) -> LogLeaf:
    """Return the leaf as it is stored, whatever it holds; whoever compares it judges it."""
    subtrees = row.get("subtrees")
    values = {name: _comparable(row.get(name)) for name in _AS_STORED}
    kind = values.pop("record_kind")
    return LogLeaf(
        **values,
        record_kind=_KINDS.get(kind, kind),
        leaf_hash=bytes(subtrees)[:HASH_BYTES] if isinstance(subtrees, bytes | bytearray) else b"",
    )


def _comparable(value: Any) -> Any:
    """Return a stored value as one that can be looked up: Neo4j may hold a list where a text belongs."""
    return tuple(value) if isinstance(value, list) else value


def _index(leaf: LogLeaf) -> int:
    index: Any = leaf.leaf_index
    return index if type(index) is int else -1
