"""``SessionStore`` on Neo4j: each step of a session is one transaction behind a lock and a version guard (ADR 0056)."""

import asyncio
import secrets
from collections.abc import Sequence
from typing import Any, Final, Self
from weakref import WeakValueDictionary

from neo4j import AsyncManagedTransaction

from services.common.adapters.log_tips import LogTips
from services.common.adapters.neo4j import (
    published_log,
    session_list_statements,
    session_log,
    session_records,
    session_statements,
)
from services.common.adapters.neo4j.database import Neo4jDatabase, rows_of
from services.common.adapters.neo4j.event_feed import Neo4jEventFeed
from services.common.adapters.neo4j.failures import race
from services.common.adapters.neo4j.migrations import open_migrated
from services.common.adapters.neo4j.receipts import Neo4jReceipts, ReceiptStatements
from services.common.adapters.neo4j.session_lists import Neo4jSessionLists
from services.common.adapters.neo4j.session_records import (
    edge_of,
    event_of,
    listed_report_of,
    report_of,
    session_of,
    window_of,
)
from services.common.adapters.neo4j.session_schema import SESSIONS_SCHEMA
from services.common.adapters.neo4j.values import Properties, key, sort_key
from services.common.adapters.stored_values import shown
from services.common.errors import UnreadableRecordError
from services.common.merkle import Place
from services.common.ports.receipts import Receipt
from services.common.ports.sessions import (
    STORE_ID_BYTES,
    AuditEventRecord,
    LoadedSession,
    LoggedSession,
    ReportRecord,
    SessionChange,
    SessionSnapshot,
    WindowRecord,
    check_whole,
)
from services.common.ports.transparency_log import KeptHead, LeafKind, LogLeaf, LogRow, LogState
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
        self._tips = LogTips()
        self._receipts = Neo4jReceipts(database, _RECEIPTS)
        self._turns: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    @classmethod
    async def open(cls, settings: Neo4jSettings) -> Self:
        """Connect, and bring the database to the present schema.

        Raises:
            UnavailableError: STORE_UNAVAILABLE.
            StartupError: the file of root certificates cannot be read.
        """
        database = await open_migrated(settings, SESSIONS_SCHEMA)
        try:
            await session_log.key_leaves(database)
        except BaseException:
            await database.close()
            raise
        return cls(database)

    async def store_id(self) -> str:
        """Return this database's id, drawn when it is first asked for; processes that ask at once get the same."""
        rows = await self._rows(session_statements.STORE_ID, fresh=secrets.token_hex(STORE_ID_BYTES))
        return str(rows[0]["store_id"])

    async def key_checks(self) -> dict[int, bytes]:
        """Return the kept values by version, without those that are none."""
        rows = await self._rows(session_statements.KEY_CHECKS)
        return {row["version"]: row["value"] for row in rows if isinstance(row["value"], bytes)}

    async def keep_key_check(self, version: int, value: bytes) -> None:
        """Keep the value, unless one is kept for the version."""
        await self._rows(session_statements.KEEP_KEY_CHECK, version=version, value=value)

    async def write(self, *changes: SessionChange) -> None:
        """Apply the changes if nobody came first to any of their sessions; all or nothing.

        Raises:
            ConflictError: COMMIT_RACE.
            LogInconsistentError: LOG_INCONSISTENT.
            ValueError: the changes are of one session or of several tenants, or hold records of others; or an edge
                leads to a window that is not there.
        """
        check_whole(changes)
        for tenant_id in {change.session.tenant_id for change in changes}:  # one, unless there is nothing to write
            async with self._turns.setdefault(tenant_id, asyncio.Semaphore(_WRITING_AT_ONCE)):
                size = await self._database.run(lambda transaction: self._write(transaction, changes))
            self._tips.settle(tenant_id, size)
        for change in changes:
            if change.receipt is not None:
                await self._receipts.forget(change.receipt.created_at)

    async def snapshot(self, tenant_id: str, session_id: str) -> SessionSnapshot | None:
        """Return a consistent view."""
        return await self._database.run(lambda transaction: _snapshot(transaction, tenant_id, session_id))

    async def logged(self, tenant_id: str, session_id: str) -> LoggedSession:
        """Return the session with its leaves; the session's lock keeps its writers out between the two."""
        return await self._database.run(lambda transaction: _logged(transaction, tenant_id, session_id))

    async def load(self, tenant_id: str, session_id: str, *, limit: int) -> LoadedSession:
        """Return the session with its leaves and the first of its events and reports; behind the lock as ``logged``."""
        whose = key(tenant_id, session_id)

        async def job(transaction: AsyncManagedTransaction) -> LoadedSession:
            logged = await _logged(transaction, tenant_id, session_id)
            if logged.snapshot is None:
                return LoadedSession(logged)
            page = {"key": whose, "limit": limit}
            events = await rows_of(transaction, session_statements.PAGE_EVENTS, after=-1, **page)
            first = {"sort_key": sort_key(""), "after": ""}
            reports = await rows_of(transaction, session_statements.PAGE_REPORTS_OF_SESSION, **page, **first)
            return LoadedSession(logged, tuple(_events_of(events)), tuple(_reports_of(reports)))

        return await self._database.run(job)

    async def find_continuation(self, tenant_id: str, continuation_id: str) -> WindowRecord | None:
        """Return the window that issued the continuation id."""
        rows = await self._rows(session_statements.FIND_CONTINUATION, key=key(tenant_id, continuation_id))
        return window_of(rows[0]["window"]) if rows else None

    async def page_events(
        self, tenant_id: str, session_id: str, *, after_sequence: int, limit: int
    ) -> list[AuditEventRecord]:
        """Return the next events of the session."""
        whose = key(tenant_id, session_id)
        rows = await self._rows(session_statements.PAGE_EVENTS, key=whose, after=after_sequence, limit=limit)
        return _events_of(rows)

    async def get_report(self, tenant_id: str, report_id: str) -> ReportRecord | None:
        """Return a report or ``None``."""
        rows = await self._rows(session_statements.GET_REPORT, key=key(tenant_id, report_id))
        return report_of(rows[0]["report"]) if rows else None

    async def page_reports(
        self, tenant_id: str, session_id: str, *, after: str, limit: int, with_inputs: bool = True
    ) -> list[ReportRecord | UnreadableRecordError]:
        """Return the next reports by id."""
        whole, brief = session_statements.PAGE_REPORTS_OF_TENANT, session_statements.PAGE_BRIEF_REPORTS_OF_TENANT
        whose = key(tenant_id)
        if session_id:
            whole, brief = session_statements.PAGE_REPORTS_OF_SESSION, session_statements.PAGE_BRIEF_REPORTS_OF_SESSION
            whose = key(tenant_id, session_id)
        statement = whole if with_inputs else brief
        rows = await self._rows(statement, key=whose, sort_key=sort_key(after), after=after, limit=limit)
        return _reports_of(rows)

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

    async def log_state(self, tenant_id: str) -> LogState:
        """Return size, peaks and kept head."""
        return await self._database.run(lambda transaction: session_log.log_state(transaction, tenant_id))

    async def page_log(self, tenant_id: str, *, after: int, limit: int) -> list[LogRow]:
        """Return the next leaves by index."""
        return await self._database.run(lambda transaction: session_log.page_log(transaction, tenant_id, after, limit))

    async def keep_head(self, tenant_id: str, head: KeptHead) -> None:
        """Keep the head unless a larger one is kept."""
        await self._database.run(lambda transaction: session_log.keep_head(transaction, tenant_id, head))

    def event_feed(self) -> Neo4jEventFeed:
        """Return the positions of consumers in the log, in the same database."""
        return Neo4jEventFeed(self._database)

    async def read_leaves(self, tenant_id: str, *, first: int, limit: int) -> list[LogLeaf]:
        """Return leaves by index."""
        return await self._database.run(
            lambda transaction: published_log.read_leaves(transaction, tenant_id, first, limit)
        )

    async def keep_cosigned(self, tenant_id: str, size: int, note: str) -> None:
        """Keep a checkpoint that witnesses cosigned."""
        kept = {"size": size, "note": note}
        await self._rows(published_log.KEEP_COSIGNED, key=key(tenant_id), tenant_id=tenant_id, **kept)

    async def cosigned(self, tenant_id: str) -> str:
        """Return the kept checkpoint."""
        rows = await self._rows(published_log.COSIGNED, key=key(tenant_id))
        return str(rows[0]["note"]) if rows else ""

    async def check(self) -> None:
        """Return when Neo4j answers."""
        await self._database.check()

    async def close(self) -> None:
        """Close the connections; idempotent."""
        await self._database.close()

    async def _rows(self, statement: str, **parameters: Any) -> list[Properties]:
        return await self._database.rows(statement, **parameters)

    async def _write(self, transaction: AsyncManagedTransaction, changes: Sequence[SessionChange]) -> int:
        """Write the changes and return the size of the tenant's log, 0 when nothing was added to it."""
        # Sessions are locked in one order whoever writes, then receipts, then the log: nobody waits in a circle.
        ordered = sorted(changes, key=lambda change: change.session.session_id)
        for change in ordered:
            await _lock(transaction, change, key(change.session.tenant_id, change.session.session_id))
        for change in ordered:
            await self._apply(transaction, change)
        leaves = [leaf for change in changes for leaf in change.leaves]
        return await session_log.append_leaves(transaction, changes[0].session.tenant_id, leaves, self._tips)

    async def _apply(self, transaction: AsyncManagedTransaction, change: SessionChange) -> None:
        tenant_id, session_id = change.session.tenant_id, change.session.session_id
        whose = key(tenant_id, session_id)
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


async def _snapshot(transaction: AsyncManagedTransaction, tenant_id: str, session_id: str) -> SessionSnapshot | None:
    rows = await rows_of(transaction, session_statements.SNAPSHOT, key=key(tenant_id, session_id))
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


async def _logged(transaction: AsyncManagedTransaction, tenant_id: str, session_id: str) -> LoggedSession:
    snapshot = await _snapshot(transaction, tenant_id, session_id)
    return LoggedSession(snapshot, await session_log.session_leaves(transaction, tenant_id, session_id))


def _events_of(rows: Sequence[Properties]) -> list[AuditEventRecord]:
    return sorted((event_of(row["event"]) for row in rows), key=lambda one: one.sequence)


def _reports_of(rows: Sequence[Properties]) -> list[ReportRecord | UnreadableRecordError]:
    found = [row["report"] for row in rows if _is_text(row["report"], "report_id")]
    return [listed_report_of(row) for row in sorted(found, key=lambda one: str(one["report_id"]))]


def _is_text(row: Properties, name: str) -> bool:
    """Say whether a list can name the record, and go on from it."""
    return isinstance(row.get(name), str)


def _stored_number(row: Properties, name: str, whose: tuple[str, str], session_id: str) -> int:
    value = row[name]
    if type(value) is not int:
        raise UnreadableRecordError.of_field(*whose, name, session_id=session_id)
    return value


async def _lock(transaction: AsyncManagedTransaction, change: SessionChange, whose: str) -> None:
    """Lock the session, made now if it is new, and check that the change continues what is stored."""
    session = change.session
    expected = 0
    if session.version == 1:
        properties = session_records.session_properties(session)
        await rows_of(transaction, session_statements.CREATE_SESSION, session=properties)
    else:
        statement = session_statements.LOCK_SESSION
        rows = await rows_of(transaction, statement, key=whose)
        whose = session.session_id
        if not rows or session.version != _stored_number(rows[0], "version", ("session", whose), whose) + 1:
            raise race("the session's version moved on")
        last = rows[0]["last_sequence"]
        expected = 0 if last is None else _stored_number(rows[0], "last_sequence", ("event", shown(last)), whose) + 1
    if [event.sequence for event in change.events] != list(range(expected, expected + len(change.events))):
        raise race("the audit events do not continue the stored chain")
    if change.erased_events and [event.sequence for event in change.erased_events] != list(range(expected)):
        raise race("the erased events are not those that are stored")
