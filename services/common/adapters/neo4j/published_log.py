"""What is shown of the log to the outside: leaves by index, and the checkpoint that witnesses cosigned (ADR 0100)."""

from typing import Final

from neo4j import AsyncManagedTransaction

from services.common.adapters.leaf_rows import leaf_of
from services.common.adapters.neo4j.database import rows_of
from services.common.adapters.neo4j.session_log import leaf_key, tree_size
from services.common.ports.transparency_log import LogLeaf

READ_LEAVES: Final = "UNWIND $keys AS key MATCH (l:Leaf {key: key}) RETURN l {.*} AS leaf"
KEEP_COSIGNED: Final = """
MATCH (n:Log {key: $key})
SET n.tenant_id = $tenant_id
WITH n
WHERE coalesce(n.cosigned_size, -1) <= $size
SET n.cosigned_size = $size, n.cosigned = $note
"""
COSIGNED: Final = "MATCH (n:Log {key: $key}) RETURN coalesce(n.cosigned, '') AS note"
_PROPERTIES: Final = (
    "session_id",
    "record_kind",
    "record_id",
    "position",
    "content_hmac",
    "subtrees",
    "leaf_index",
)


async def read_leaves(transaction: AsyncManagedTransaction, tenant_id: str, first: int, limit: int) -> list[LogLeaf]:
    """Return leaves by index, without those that are none."""
    size = await tree_size(transaction, tenant_id)  # locks: what is counted is there
    keys = [leaf_key(tenant_id, index) for index in range(first, min(first + limit, size))]
    rows = [row["leaf"] for row in await rows_of(transaction, READ_LEAVES, keys=keys)]
    found = [leaf for row in rows if (leaf := leaf_of(tuple(map(row.get, _PROPERTIES)))) is not None]
    return sorted(found, key=lambda leaf: leaf.leaf_index)
