"""``EventFeed`` on Neo4j: a ``Consumer`` node holds the claim, a ``READ`` relationship to each ``Log`` the position."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from neo4j import AsyncManagedTransaction

from services.common.adapters.neo4j.database import Neo4jDatabase, rows_of
from services.common.adapters.neo4j.session_log import leaf_key, tree_size
from services.common.adapters.neo4j.values import Properties, key, micros
from services.common.ports.event_feed import NOTHING_READ, Behind, FedEvent, FeedPage
from services.common.ports.transparency_log import LeafKind

CLAIM: Final = """
MERGE (c:Consumer {key: $key})
ON CREATE SET c.holder = '', c.until_us = $now_us
SET c.name = $consumer
WITH c
WHERE c.holder = $holder OR c.until_us <= $now_us
SET c.holder = $holder, c.until_us = $until_us
RETURN c.holder AS holder
"""
RELEASE: Final = """
MATCH (c:Consumer {key: $key})
SET c.name = $consumer
WITH c
WHERE c.holder = $holder
SET c.holder = '', c.until_us = 0
"""
BEHIND: Final = """
MATCH (n:Log)
WHERE n.sort_key >= ''
OPTIONAL MATCH (c:Consumer {key: $key})-[r:READ]->(n)
WITH n, coalesce(r.through, $nothing) AS through
WHERE n.size > through + 1
RETURN n.tenant_id AS tenant_id, through, n.size AS size ORDER BY n.sort_key, n.tenant_id LIMIT $limit
"""
BEHIND_AMONG: Final = """
UNWIND $among AS tenant
MATCH (n:Log {key: tenant})
OPTIONAL MATCH (c:Consumer {key: $key})-[r:READ]->(n)
WITH n, coalesce(r.through, $nothing) AS through
WHERE n.size > through + 1
RETURN n.tenant_id AS tenant_id, through, n.size AS size ORDER BY n.tenant_id LIMIT $limit
"""
PAGE: Final = """
UNWIND $keys AS key
MATCH (l:Leaf {key: key})
RETURN l.record_kind AS kind, l.session_id AS session_id, l.position AS position, l.leaf_index AS leaf_index
ORDER BY leaf_index
"""
ADVANCE: Final = """
MATCH (c:Consumer {key: $key})
SET c.name = $consumer
WITH c
WHERE c.holder = $holder
MATCH (n:Log {key: $log})
MERGE (c)-[r:READ]->(n)
SET r.through = CASE WHEN r.through > $through THEN r.through ELSE $through END
RETURN r.through AS through
"""


class Neo4jEventFeed:
    """Positions of consumers beside the log that they read.

    Args:
        database: the session store's, which the store closes.
    """

    def __init__(self, database: Neo4jDatabase) -> None:
        self._database = database

    async def claim(self, consumer: str, holder: str, now: datetime, until: datetime) -> bool:
        """Take or prolong the claim."""
        whose = {"key": key(consumer), "consumer": consumer, "holder": holder}
        return bool(await self._database.rows(CLAIM, **whose, now_us=micros(now), until_us=micros(until)))

    async def release(self, consumer: str, holder: str) -> None:
        """Give the claim up."""
        await self._database.rows(RELEASE, key=key(consumer), consumer=consumer, holder=holder)

    async def behind(self, consumer: str, limit: int, among: Sequence[str] = ()) -> list[Behind]:
        """Return tenants with leaves beyond the position."""
        whose = {"key": key(consumer), "nothing": NOTHING_READ, "limit": limit}
        if among:
            rows = await self._database.rows(BEHIND_AMONG, **whose, among=sorted({key(tenant) for tenant in among}))
        else:
            rows = await self._database.rows(BEHIND, **whose)
        return [Behind(row["tenant_id"], row["through"], row["size"]) for row in rows]

    async def page(self, tenant_id: str, *, after: int, limit: int) -> FeedPage:
        """Return the events among the next leaves."""

        async def job(transaction: AsyncManagedTransaction) -> FeedPage:
            size = await tree_size(transaction, tenant_id)  # locks: what is counted is there
            indexes = range(after + 1, min(after + 1 + limit, size))
            rows = await rows_of(transaction, PAGE, keys=[leaf_key(tenant_id, index) for index in indexes])
            events = [_fed(row) for row in rows if row["kind"] != LeafKind.WINDOW]
            return FeedPage(events, rows[-1]["leaf_index"] if rows else after)

        return await self._database.run(job)

    async def advance(self, consumer: str, holder: str, tenant_id: str, through: int) -> bool:
        """Move the position forward."""
        whose = {"key": key(consumer), "consumer": consumer, "holder": holder}
        return bool(await self._database.rows(ADVANCE, **whose, log=key(tenant_id), through=through))


def _fed(row: Properties) -> FedEvent:
    """Return the event that a leaf names; one that does not parse names none, and is counted as missing (ADR 0101)."""
    session_id, position = row["session_id"], row["position"]
    if row["kind"] == LeafKind.EVENT and isinstance(session_id, str) and isinstance(position, int):
        return FedEvent(session_id, position, row["leaf_index"])
    return FedEvent("", NOTHING_READ, row["leaf_index"])
