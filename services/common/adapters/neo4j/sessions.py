"""``SessionStore`` on Neo4j: each step of a session is one transaction behind a lock and a version guard (ADR 0056)."""

import asyncio
from collections.abc import Sequence
from typing import Any, Final, Self
from weakref import WeakValueDictionary

from neo4j import AsyncManagedTransaction

from services.common.adapters.neo4j import session_list_statements, session_log, session_records, session_statements
from services.common.adapters.neo4j.database import Neo4jDatabase, rows_of
from services.common.adapters.neo4j.event_feed import Neo4jEventFeed
from services.common.adapters.neo4j.failures import race
from services.common.adapters.neo4j.migrations import open_migrated
from services.common.adapters.neo4j.receipts import Neo4jReceipts, ReceiptStatements
from services.common.adapters.neo4j.session_lists import Neo4jSessionLists
from services.common.adapters.neo4j.session_records import edge_of, event_of, report_of, session_of, window_of
from services.common.adapters.neo4j.session_schema import SESSIONS_SCHEMA
from services.common.adapters.neo4j.values import Properties, key, sort_key
from services.common.merkle import Place
from services.common.ports.receipts import Receipt
from services.common.ports.sessions import (
    AuditEventRecord,
    LeafKind,
    LogLeaf,
    ReportRecord,
    SessionChange,
    SessionSnapshot,
    WindowRecord,
)
from services.common.settings.neo4j import Neo4jSettings

_WRITING_AT_ONCE: Final = 4
"""Transactions of one tenant that this process has open: one commits while the next ones get ready. All of them end at
the lock of the tenant's log; whoever waits there has a running transaction and is overtaken, here it waits in turn."""
_RECEIPTS: Final = ReceiptStatements(
    session_statements.REMEMBER, session_statements.GET_RECEIPT, session_statements.FORGET_RECEIPTS
)


class Neo4jSessionStore(Neo4jSessionLists):
    """Sessions of all tenants in one database.

    Args:
        database: open, with the schema of sessions.
    """

    def __init__(self, database: Neo4jDatabase) -> None:
        self._database = database
        self._receipts = Neo4jReceipts(database, _RECEIPTS)
        self._turns: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    @classmethod
    async def open(cls, settings: Neo4jSettings) -> Self:
        """Connect, and bring the database to the present schema.

        Raises:
            UnavailableError: STORE_UNAVAILABLE.
            StartupError: the file of root certificates cannot be read.
        """
        return cls(await open_migrated(settings, SESSIONS_SCHEMA))

    async def write(self, change: SessionChange) -> None:
        """Apply the change if nobody came first; all or nothing.

        Raises:
            ConflictError: COMMIT_RACE.
            ValueError: the change holds records of another session or tenant, or an edge to a window that is not there.
        """
        _check_whole(change)
        async with self._turns.setdefault(change.session.tenant_id, asyncio.Semaphore(_WRITING_AT_ONCE)):
            await self._database.run(lambda transaction: self._write(transaction, change))
        if change.receipt is not None:
            await self._receipts.forget(change.receipt.created_at)

    async def snapshot(self, tenant_id: str, session_id: str) -> SessionSnapshot | None:
        """Return a consistent view."""
        rows = await self._rows(session_statements.SNAPSHOT, key=key(tenant_id, session_id), session_id=session_id)
        if not rows:
            return None
        (row,) = rows
        windows = sorted(map(window_of, row["windows"]), key=lambda one: (one.window_number, one.window_id))
        edges = (edge_of(session_id, edge) for edge in row["edges"])
        return SessionSnapshot(
            session=session_of(row["session"]),
            windows=tuple(windows),
            edges=tuple(sorted(edges, key=lambda edge: (edge.target_id, edge.source_id))),
            last_event=next(map(event_of, row["last_events"]), None),
        )

    async def find_continuation(self, tenant_id: str, continuation_id: str) -> WindowRecord | None:
        """Return the window that issued the continuation id."""
        rows = await self._rows(session_statements.FIND_CONTINUATION, key=key(tenant_id, continuation_id))
        return window_of(rows[0]["window"]) if rows else None

    async def page_events(
        self, tenant_id: str, session_id: str, *, after_sequence: int, limit: int
    ) -> list[AuditEventRecord]:
        """Return the next events of the session."""
        whose = {"key": key(tenant_id, session_id), "session_id": session_id}
        rows = await self._rows(session_statements.PAGE_EVENTS, **whose, after=after_sequence, limit=limit)
        return sorted((event_of(row["event"]) for row in rows), key=lambda one: one.sequence)

    async def get_report(self, tenant_id: str, report_id: str) -> ReportRecord | None:
        """Return a report or ``None``."""
        rows = await self._rows(session_statements.GET_REPORT, key=key(tenant_id, report_id))
        return report_of(rows[0]["report"]) if rows else None

    async def page_reports(self, tenant_id: str, session_id: str, *, after: str, limit: int) -> list[ReportRecord]:
        """Return the next reports by id."""
        statement, whose = session_statements.PAGE_REPORTS_OF_TENANT, key(tenant_id)
        if session_id:
            statement, whose = session_statements.PAGE_REPORTS_OF_SESSION, key(tenant_id, session_id)
        rows = await self._rows(statement, key=whose, sort_key=sort_key(after), after=after, limit=limit)
        return sorted((report_of(row["report"]) for row in rows), key=lambda one: one.report_id)

    async def get_receipt(self, tenant_id: str, rpc: str, request_id: str) -> Receipt | None:
        """Return a remembered answer."""
        return await self._receipts.get(tenant_id, rpc, request_id)

    async def tree_size(self, tenant_id: str) -> int:
        """Return the number of leaves."""
        return await self._database.run(lambda transaction: session_log.tree_size(transaction, tenant_id))

    async def tree_hashes(self, tenant_id: str, places: Sequence[Place]) -> list[bytes]:
        """Return the hashes of full subtrees."""
        return await self._database.run(lambda transaction: session_log.tree_hashes(transaction, tenant_id, places))

    async def find_leaves(
        self, tenant_id: str, session_id: str, records: Sequence[tuple[LeafKind, str]]
    ) -> list[LogLeaf | None]:
        """Return the leaves of records."""
        return await self._database.run(
            lambda transaction: session_log.find_leaves(transaction, tenant_id, session_id, records)
        )

    async def session_leaves(self, tenant_id: str, session_id: str) -> list[LogLeaf]:
        """Return the session's leaves."""
        rows = await self._rows(session_list_statements.SESSION_LEAVES, key=key(tenant_id, session_id))
        leaves = [session_log.leaf_of(row["leaf"]) for row in rows]
        return sorted(leaves, key=lambda leaf: leaf.leaf_index)

    def event_feed(self) -> Neo4jEventFeed:
        """Return the positions of consumers in the log, in the same database."""
        return Neo4jEventFeed(self._database)

    async def check(self) -> None:
        """Return when Neo4j answers."""
        await self._database.check()

    async def close(self) -> None:
        """Close the connections; idempotent."""
        await self._database.close()

    async def _rows(self, statement: str, **parameters: Any) -> list[Properties]:
        return await self._database.rows(statement, **parameters)

    async def _write(self, transaction: AsyncManagedTransaction, change: SessionChange) -> None:
        tenant_id, session_id = change.session.tenant_id, change.session.session_id
        whose = key(tenant_id, session_id)
        await _lock(transaction, change, whose)
        if change.tombstone:
            await rows_of(transaction, session_list_statements.TOMBSTONE, key=whose)
        # Of what a change holds twice the last counts, so that constraints never judge the one before it.
        windows = {one.window_id: session_records.window_properties(tenant_id, one) for one in change.windows}
        edges = {(one.target_id, one.source_id): session_records.edge_row(tenant_id, one) for one in change.edges}
        reports = {one.report_id: session_records.report_properties(tenant_id, one) for one in change.reports}
        (applied,) = await rows_of(
            transaction,
            session_statements.APPLY,
            key=whose,
            session=session_records.session_properties(change.session),
            windows=list(windows.values()),
            edges=list(edges.values()),
            reports=list(reports.values()),
            events=[session_records.event_properties(tenant_id, one) for one in change.events],
            erased_events=[session_records.event_properties(tenant_id, one) for one in change.erased_events],
            erased_sessions=[whose] if change.erased_events else [],
        )
        if applied["edges"] != len(edges):
            raise ValueError("an edge leads to a window that is not there")
        if change.receipt is not None:
            await self._receipts.remember(transaction, change.receipt, session_key=whose)
        await session_log.append_leaves(transaction, tenant_id, change.leaves)


async def _lock(transaction: AsyncManagedTransaction, change: SessionChange, whose: str) -> None:
    """Lock the session, made now if it is new, and check that the change continues what is stored."""
    session = change.session
    expected = 0
    if session.version == 1:
        properties = session_records.session_properties(session)
        await rows_of(transaction, session_statements.CREATE_SESSION, session=properties)
    else:
        statement = session_statements.LOCK_SESSION
        rows = await rows_of(transaction, statement, key=whose, session_id=session.session_id)
        if not rows or session.version != rows[0]["version"] + 1:
            raise race("the session's version moved on")
        last = rows[0]["last_sequence"]
        expected = 0 if last is None else last + 1
    if [event.sequence for event in change.events] != list(range(expected, expected + len(change.events))):
        raise race("the audit events do not continue the stored chain")
    if change.erased_events and [event.sequence for event in change.erased_events] != list(range(expected)):
        raise race("the erased events are not those that are stored")


def _check_whole(change: SessionChange) -> None:
    owners = {window.session_id for window in change.windows} | {edge.session_id for edge in change.edges}
    owners |= {event.session_id for event in change.events} | {report.session_id for report in change.reports}
    owners |= {event.session_id for event in change.erased_events} | {leaf.session_id for leaf in change.leaves}
    if owners - {change.session.session_id}:
        raise ValueError("a change holds records of another session")
    if change.tombstone and (change.windows or change.edges or change.reports or change.erased_events):
        raise ValueError("a tombstone leaves no record but events")
    if change.receipt is not None and change.receipt.tenant_id != change.session.tenant_id:
        raise ValueError("a change holds a receipt of another tenant")
