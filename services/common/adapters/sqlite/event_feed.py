"""``EventFeed`` in sessions.db, over the leaves of the transparency log."""

import sqlite3
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from services.common.adapters.sqlite.database import Database
from services.common.adapters.sqlite.fetching import fetch
from services.common.adapters.sqlite.values import json_list, micros
from services.common.adapters.sqlite.writer import WriteTraits
from services.common.ports.event_feed import NOTHING_READ, Behind, FedEvent, FeedPage
from services.common.ports.transparency_log import LeafKind

FEED_SCHEMA: Final = (
    """
    CREATE TABLE feed_positions (
        consumer TEXT NOT NULL,
        tenant_id TEXT NOT NULL,
        through INTEGER NOT NULL,
        PRIMARY KEY (consumer, tenant_id)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE feed_claims (
        consumer TEXT PRIMARY KEY,
        holder TEXT NOT NULL,
        until_us INTEGER NOT NULL
    ) WITHOUT ROWID
    """,
)

_CLAIM: Final = (
    "INSERT INTO feed_claims VALUES (?1, ?2, ?4) ON CONFLICT (consumer) DO UPDATE "
    "SET holder = ?2, until_us = ?4 WHERE holder = ?2 OR until_us <= ?3"
)
_BEHIND: Final = (
    "SELECT tenant_id, coalesce(through, ?1) AS read, size FROM trees LEFT JOIN "
    "(SELECT tenant_id AS reader, through FROM feed_positions WHERE consumer = ?2 AND typeof(through) = 'integer') "
    "ON reader = tenant_id WHERE typeof(size) = 'integer' AND typeof(tenant_id) = 'text' AND size > read + 1 "
    "AND (?4 = '[]' OR tenant_id IN (SELECT value FROM json_each(?4))) ORDER BY tenant_id LIMIT ?3"
)
_PAGE: Final = (
    "SELECT record_kind, session_id, position, leaf_index FROM leaves "
    "WHERE tenant_id = ? AND leaf_index > ? AND typeof(leaf_index) = 'integer' ORDER BY leaf_index LIMIT ?"
)
_ADVANCE: Final = (
    "INSERT INTO feed_positions SELECT ?1, ?3, ?4 WHERE EXISTS "
    "(SELECT 1 FROM feed_claims WHERE consumer = ?1 AND holder = ?2) "
    "ON CONFLICT (consumer, tenant_id) DO UPDATE SET through = max(through, excluded.through)"
)

_BOOKKEEPING: Final = WriteTraits(best_effort=True, reclaims=True)
"""A position that is lost with the power costs a repetition, so that no commit waits for the disk because of it; and a
nearly full disk must not keep events from leaving."""


class SqliteEventFeed:
    """Positions of consumers beside the log that they read.

    Args:
        database: the session store's open file, which the store closes.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def claim(self, consumer: str, holder: str, now: datetime, until: datetime) -> bool:
        """Take or prolong the claim."""

        def job(connection: sqlite3.Connection) -> bool:
            return connection.execute(_CLAIM, (consumer, holder, micros(now), micros(until))).rowcount > 0

        return await self._database.write(job, _BOOKKEEPING)

    async def release(self, consumer: str, holder: str) -> None:
        """Give the claim up."""

        def job(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM feed_claims WHERE consumer = ? AND holder = ?", (consumer, holder))

        await self._database.write(job, _BOOKKEEPING)

    async def behind(self, consumer: str, limit: int, among: Sequence[str] = ()) -> list[Behind]:
        """Return tenants with leaves beyond the position."""
        values = (NOTHING_READ, consumer, limit, json_list(among))
        rows = await self._database.read(lambda connection: fetch(connection, _BEHIND, values))
        return [Behind(*row) for row in rows if isinstance(row[0], str)]

    async def page(self, tenant_id: str, *, after: int, limit: int) -> FeedPage:
        """Return the events among the next leaves."""
        rows = await self._database.read(lambda connection: fetch(connection, _PAGE, (tenant_id, after, limit)))
        events = [_fed(kind, *place) for kind, *place in rows if kind != LeafKind.WINDOW]
        return FeedPage(events, rows[-1][-1] if rows else after)

    async def advance(self, consumer: str, holder: str, tenant_id: str, through: int) -> bool:
        """Move the position forward."""

        def job(connection: sqlite3.Connection) -> bool:
            return connection.execute(_ADVANCE, (consumer, holder, tenant_id, through)).rowcount > 0

        return await self._database.write(job, _BOOKKEEPING)


def _fed(kind: object, session_id: object, position: object, leaf_index: int) -> FedEvent:
    """Return the event that a leaf names; one that does not parse names none, and is counted as missing (ADR 0101)."""
    if kind == LeafKind.EVENT and isinstance(session_id, str) and isinstance(position, int):
        return FedEvent(session_id, position, leaf_index)
    return FedEvent("", NOTHING_READ, leaf_index)
