"""``ViolationReportStore`` on SQLite, in the file of the reviews."""

import sqlite3
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any, Final

from services.common.adapters.sqlite.fetching import fetch, fetch_one
from services.common.adapters.sqlite.oversight_schema import OVERSIGHT_SCHEMA
from services.common.adapters.sqlite.single_file import SingleFileStore
from services.common.adapters.sqlite.values import chunks, marks, micros, moment
from services.common.ports.receipts import RECEIPT_RETENTION
from services.common.ports.violation_reports import OutgoingReport, ReportState

_COLUMNS: Final = "tenant_id, report_id, url, host, body, created_us, due_us, state, attempts, problem"
_SELECT: Final = f"SELECT {_COLUMNS} FROM violation_reports "  # noqa: S608 - of constants alone


class SqliteViolationReportStore(SingleFileStore):
    """Reports in one file."""

    schema = OVERSIGHT_SCHEMA

    async def file(self, reports: Collection[OutgoingReport], most: int) -> int:
        """Queue what is new and fits."""
        if not reports:
            return 0
        now = max(report.created_at for report in reports)

        def job(connection: sqlite3.Connection) -> int:
            statement = "DELETE FROM violation_reports WHERE state = 'SENT' AND created_us <= ?"
            connection.execute(statement, (micros(now - RECEIPT_RETENTION),))
            row = fetch_one(connection, "SELECT count(*) FROM violation_reports WHERE state <> 'SENT'")
            room, left_out = most - (row[0] if row else 0), 0
            for report in reports:
                place = (report.tenant_id, report.report_id)
                if fetch_one(connection, _SELECT + "WHERE tenant_id = ? AND report_id = ?", place) is not None:
                    continue
                if room <= 0:
                    left_out += 1
                    continue
                connection.execute("INSERT INTO violation_reports VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", _row(report))
                room -= 1
            return left_out

        return await self._database.write(job)

    async def take(self, now: datetime, until: datetime, limit: int, without: Collection[str]) -> list[OutgoingReport]:
        """Take what is due."""
        busy = list(without)
        # Beside min() SQLite gives the other columns of the row that has the minimum.
        chosen = (
            f"SELECT {_COLUMNS}, min(due_us) FROM violation_reports WHERE state = 'QUEUED' AND due_us <= ? "  # noqa: S608
            f"AND host NOT IN ({marks(busy)}) GROUP BY host ORDER BY due_us, report_id LIMIT ?"
        )

        def look(connection: sqlite3.Connection) -> list[OutgoingReport]:
            return [_read(row[:-1]) for row in fetch(connection, chosen, (micros(now), *busy, limit))]

        def job(connection: sqlite3.Connection) -> list[OutgoingReport]:
            due = look(connection)
            for report in due:
                statement = "UPDATE violation_reports SET due_us = ? WHERE tenant_id = ? AND report_id = ?"
                connection.execute(statement, (micros(until), report.tenant_id, report.report_id))
            return due

        return await self._database.write(job) if await self._database.read(look) else []

    async def settle(self, report: OutgoingReport) -> None:
        """Keep what became of an attempt."""
        statement = (
            "UPDATE violation_reports SET due_us = ?, state = ?, attempts = ?, problem = ? "
            "WHERE tenant_id = ? AND report_id = ?"
        )
        values = (micros(report.due_at), report.state.value, report.attempts, report.problem)
        place = (report.tenant_id, report.report_id)
        await self._database.write(lambda c: c.execute(statement, (*values, *place)).rowcount)

    async def page_dead(self, tenant_id: str, *, after: str, limit: int) -> list[OutgoingReport]:
        """Return the next dead reports."""
        statement = _SELECT + "WHERE tenant_id = ? AND state = 'DEAD' AND report_id > ? ORDER BY report_id LIMIT ?"
        rows = await self._database.read(lambda c: fetch(c, statement, (tenant_id, after, limit)))
        return [_read(row) for row in rows]

    async def replay(self, tenant_id: str, report_ids: Collection[str], now: datetime) -> int:
        """Queue dead reports anew."""
        statement = (
            "UPDATE violation_reports SET state = 'QUEUED', attempts = 0, due_us = ? "
            "WHERE tenant_id = ? AND state = 'DEAD'"
        )

        def job(connection: sqlite3.Connection) -> int:
            if not report_ids:
                return connection.execute(statement, (micros(now), tenant_id)).rowcount
            changed = 0
            for some in chunks(list(report_ids)):
                named = f"{statement} AND report_id IN ({marks(some)})"
                changed += connection.execute(named, (micros(now), tenant_id, *some)).rowcount
            return changed

        return await self._database.write(job)

    async def counts(self) -> tuple[int, int]:
        """Count those that wait, and the dead."""
        statement = "SELECT state, count(*) FROM violation_reports GROUP BY state"
        counted = {str(row[0]): int(row[1]) for row in await self._database.read(lambda c: fetch(c, statement))}
        return counted.get("QUEUED", 0), counted.get("DEAD", 0)


def _row(report: OutgoingReport) -> tuple[Any, ...]:
    return (
        report.tenant_id,
        report.report_id,
        report.url,
        report.host,
        report.body,
        micros(report.created_at),
        micros(report.due_at),
        report.state.value,
        report.attempts,
        report.problem,
    )


def _read(row: Sequence[Any]) -> OutgoingReport:
    tenant_id, report_id, url, host, body, created, due, state, attempts, problem = row
    return OutgoingReport(
        tenant_id, report_id, url, host, body, moment(created), moment(due), ReportState(state), attempts, problem
    )
