"""The transparency log in Neo4j: each tenant's ``Log`` node holds size and peaks, each ``Leaf`` the subtrees it ends.

Appending locks the ``Log`` node, the last lock of a write, so that indexes have no gaps and no two writers wait for one
another. Reading locks it too: Neo4j shows a commit piece by piece, and behind the lock it is whole.
"""

from collections.abc import Sequence
from typing import Final

from neo4j import AsyncManagedTransaction

from services.common.adapters.neo4j.database import rows_of
from services.common.adapters.neo4j.typed_properties import NodeShape, bytes_of, whole_of
from services.common.adapters.neo4j.values import Properties, key, sort_key
from services.common.adapters.stored_values import UNREADABLE, word_of
from services.common.errors import UnreadableRecordError
from services.common.merkle import HASH_BYTES, CompactRange, Place, check_full, ending_leaf
from services.common.ports.sessions import LeafKind, LogLeaf

LOCK_LOG: Final = """
MERGE (n:Log {key: $key})
ON CREATE SET n.size = 0, n.peaks = $no_peaks, n.sort_key = $sort_key
SET n.tenant_id = $tenant_id
WITH n
RETURN n.size AS size, n.peaks AS peaks
"""
APPEND: Final = """
MATCH (n:Log {key: $key})
SET n.size = $size, n.peaks = $peaks
WITH n
UNWIND $leaves AS leaf
CREATE (l:Leaf)
SET l = leaf
"""
READ_SIZE: Final = """
MATCH (n:Log {key: $key})
SET n.tenant_id = $tenant_id
WITH n
RETURN n.size AS size
"""
READ_SUBTREES: Final = "UNWIND $keys AS key MATCH (l:Leaf {key: key}) RETURN key, l.subtrees AS subtrees"
FIND_LEAVES: Final = "UNWIND $keys AS key MATCH (l:Leaf {record_key: key}) RETURN l {.*} AS leaf"


async def append_leaves(transaction: AsyncManagedTransaction, tenant_id: str, leaves: Sequence[LogLeaf]) -> None:
    """Append the leaves and give them their indexes; a record that has a leaf is a ``ConstraintError``."""
    if not leaves:
        return
    log = key(tenant_id)
    new = {"no_peaks": b"", "sort_key": sort_key(tenant_id)}
    (row,) = await rows_of(transaction, LOCK_LOG, key=log, tenant_id=tenant_id, **new)
    try:
        before = CompactRange.of_bytes(whole_of(row["size"]), bytes_of(row["peaks"]))
    except UNREADABLE:
        raise UnreadableRecordError.of_field("log", tenant_id, "peaks") from None
    after, subtrees = before.extend(leaf.leaf_hash for leaf in leaves)
    rows = [
        _leaf_properties(tenant_id, index, leaf, b"".join(ending))
        for index, (leaf, ending) in enumerate(zip(leaves, subtrees, strict=True), start=before.size)
    ]
    await rows_of(transaction, APPEND, key=log, size=after.size, peaks=after.to_bytes(), leaves=rows)


async def tree_size(transaction: AsyncManagedTransaction, tenant_id: str) -> int:
    """Return the number of leaves."""
    rows = await rows_of(transaction, READ_SIZE, key=key(tenant_id), tenant_id=tenant_id)
    try:
        return whole_of(rows[0]["size"]) if rows else 0
    except UNREADABLE:
        raise UnreadableRecordError.of_field("log", tenant_id, "size") from None


async def tree_hashes(transaction: AsyncManagedTransaction, tenant_id: str, places: Sequence[Place]) -> list[bytes]:
    """Return the hashes of full subtrees; ValueError for what is none."""
    check_full(places, await tree_size(transaction, tenant_id))
    keys = [leaf_key(tenant_id, ending_leaf(place)) for place in places]
    rows = await rows_of(transaction, READ_SUBTREES, keys=list(set(keys)))
    found = {row["key"]: row["subtrees"] for row in rows}
    return [_hash_at(found.get(leaf), place) for leaf, place in zip(keys, places, strict=True)]


def _hash_at(subtrees: object, place: Place) -> bytes:
    at = place[0] * HASH_BYTES
    cut = bytes(subtrees[at : at + HASH_BYTES]) if isinstance(subtrees, bytes | bytearray) else b""
    if len(cut) != HASH_BYTES:
        raise UnreadableRecordError.of_field("leaf", str(ending_leaf(place)), "subtrees")
    return cut


async def find_leaves(
    transaction: AsyncManagedTransaction, tenant_id: str, session_id: str, records: Sequence[tuple[LeafKind, str]]
) -> list[LogLeaf | None]:
    """Return the leaves of records."""
    keys = [_record_key(tenant_id, session_id, *record) for record in records]
    rows = await rows_of(transaction, FIND_LEAVES, keys=list(set(keys)))
    found = {row["leaf"]["record_key"]: _leaf_of(row["leaf"]) for row in rows}
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


def _leaf_of(row: Properties) -> LogLeaf:
    return LogLeaf(**_LEAF.read(row))
