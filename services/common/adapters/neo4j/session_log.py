"""The transparency log in Neo4j: each tenant's ``Log`` node holds size and peaks, each ``Leaf`` the subtrees it ends.

Appending locks the ``Log`` node, the last lock of a write, so that indexes have no gaps and no two writers wait for one
another. Reading locks it too: Neo4j shows a commit piece by piece, and behind the lock it is whole.
"""

from collections.abc import Sequence
from typing import Final

from neo4j import AsyncManagedTransaction

from services.common.adapters.neo4j.database import rows_of
from services.common.adapters.neo4j.values import Properties, key, sort_key
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
    before = CompactRange.of_bytes(row["size"], bytes(row["peaks"]))
    after, subtrees = before.extend(leaf.leaf_hash for leaf in leaves)
    rows = [
        _leaf_properties(tenant_id, index, leaf, b"".join(ending))
        for index, (leaf, ending) in enumerate(zip(leaves, subtrees, strict=True), start=before.size)
    ]
    await rows_of(transaction, APPEND, key=log, size=after.size, peaks=after.to_bytes(), leaves=rows)


async def tree_size(transaction: AsyncManagedTransaction, tenant_id: str) -> int:
    """Return the number of leaves."""
    rows = await rows_of(transaction, READ_SIZE, key=key(tenant_id), tenant_id=tenant_id)
    return int(rows[0]["size"]) if rows else 0


async def tree_hashes(transaction: AsyncManagedTransaction, tenant_id: str, places: Sequence[Place]) -> list[bytes]:
    """Return the hashes of full subtrees; ValueError for what is none."""
    check_full(places, await tree_size(transaction, tenant_id))
    keys = [leaf_key(tenant_id, ending_leaf(place)) for place in places]
    rows = await rows_of(transaction, READ_SUBTREES, keys=list(set(keys)))
    found = {row["key"]: bytes(row["subtrees"]) for row in rows}
    return [found[leaf][level * HASH_BYTES :][:HASH_BYTES] for leaf, (level, _) in zip(keys, places, strict=True)]


async def find_leaves(
    transaction: AsyncManagedTransaction, tenant_id: str, session_id: str, records: Sequence[tuple[LeafKind, str]]
) -> list[LogLeaf | None]:
    """Return the leaves of records."""
    keys = [_record_key(tenant_id, session_id, *record) for record in records]
    rows = await rows_of(transaction, FIND_LEAVES, keys=list(set(keys)))
    found = {row["leaf"]["record_key"]: leaf_of(row["leaf"]) for row in rows}
    return [found.get(one) for one in keys]


def leaf_key(tenant_id: str, index: int) -> str:
    """Return what a leaf is found by."""
    return key(tenant_id, str(index))


def _record_key(tenant_id: str, session_id: str, kind: LeafKind, record_id: str) -> str:
    return key(tenant_id, session_id, kind, record_id)


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


def leaf_of(row: Properties) -> LogLeaf:
    """Read what ``_leaf_properties`` wrote."""
    return LogLeaf(
        session_id=row["session_id"],
        record_kind=LeafKind(row["record_kind"]),
        record_id=row["record_id"],
        position=row["position"],
        content_hmac=row["content_hmac"],
        leaf_hash=bytes(row["subtrees"])[:HASH_BYTES],
        leaf_index=row["leaf_index"],
    )
