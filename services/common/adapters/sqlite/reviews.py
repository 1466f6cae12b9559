"""``ReviewStore`` on SQLite, in a file of its own: it is written to while every process reads API keys elsewhere."""

import sqlite3
from dataclasses import replace
from typing import Any, Final

from pydantic import TypeAdapter

from services.common.adapters.review_faults import reused_decision, stale_review
from services.common.adapters.sqlite.fetching import fetch, fetch_one
from services.common.adapters.sqlite.oversight_schema import OVERSIGHT_SCHEMA
from services.common.adapters.sqlite.single_file import SingleFileStore
from services.common.adapters.sqlite.values import micros
from services.common.adapters.sqlite.writer import WriteTraits
from services.common.ports.reviews import ReviewFilter, ReviewPlace, ReviewRecord, ReviewStatus

_RECORD: Final = TypeAdapter(ReviewRecord)
_SCRUBS: Final = WriteTraits(scrubs=True)
"""What was sealed before a change is overwritten, in the log too."""


class SqliteReviewStore(SingleFileStore):
    """Reviews in one file."""

    schema = OVERSIGHT_SCHEMA

    async def add(self, review: ReviewRecord) -> ReviewRecord:
        """Keep the review, or return the one that stands."""

        def job(connection: sqlite3.Connection) -> ReviewRecord:
            known = _get(connection, review.tenant_id, review.review_id)
            if known is not None:
                return known
            connection.execute("INSERT INTO reviews VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", _row(review))
            return review

        return await self._database.write(job)

    async def get(self, tenant_id: str, review_id: str) -> ReviewRecord | None:
        """Return the review or ``None``."""
        return await self._database.read(lambda c: _get(c, tenant_id, review_id))

    async def find_decision(self, tenant_id: str, decision_id: str) -> ReviewRecord | None:
        """Return the review that this request decided about."""
        statement = "SELECT record, held FROM reviews WHERE tenant_id = ? AND decision_id = ?"
        row = await self._database.read(lambda c: fetch_one(c, statement, (tenant_id, decision_id)))
        return None if row is None else _read(row)

    async def change(self, review: ReviewRecord) -> None:
        """Replace the review."""

        def job(connection: sqlite3.Connection) -> None:
            place = (review.tenant_id, review.review_id)
            present = fetch_one(connection, "SELECT version FROM reviews WHERE tenant_id = ? AND review_id = ?", place)
            if present is None or present[0] != review.version - 1:
                raise stale_review(review.review_id)
            try:
                connection.execute(
                    "INSERT INTO reviews VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT "
                    "(tenant_id, review_id) DO UPDATE SET status = excluded.status, version = excluded.version, "
                    "decision_id = excluded.decision_id, record = excluded.record, held = excluded.held",
                    _row(review),
                )
            except sqlite3.IntegrityError:
                raise reused_decision(review.decision_id) from None

        await self._database.write(job, _SCRUBS)

    async def page(
        self, tenant_id: str, wanted: ReviewFilter, *, after: ReviewPlace | None, limit: int
    ) -> list[ReviewRecord]:
        """Return the next reviews."""
        conditions, values = ["tenant_id = ?"], list[Any]((tenant_id,))
        if after is not None:
            conditions.append("(created_us, review_id) > (?, ?)")
            values += [micros(after.created_at), after.review_id]
        if wanted.session_id:
            conditions.append("session_id = ?")
            values.append(wanted.session_id)
        if wanted.status is ReviewStatus.PENDING:
            conditions.append("status = 'PENDING' AND expires_us > ?")
            values.append(micros(wanted.now))
        elif wanted.status is ReviewStatus.EXPIRED:
            conditions.append("(status = 'EXPIRED' OR (status = 'PENDING' AND expires_us <= ?))")
            values.append(micros(wanted.now))
        elif wanted.status is not None:
            conditions.append("status = ?")
            values.append(wanted.status.value)
        statement = (
            f"SELECT record, x'' FROM reviews WHERE {' AND '.join(conditions)} "  # noqa: S608 - of constants alone
            "ORDER BY created_us, review_id LIMIT ?"
        )
        rows = await self._database.read(lambda c: fetch(c, statement, (*values, limit)))
        return [_read(row) for row in rows]


def _get(connection: sqlite3.Connection, tenant_id: str, review_id: str) -> ReviewRecord | None:
    statement = "SELECT record, held FROM reviews WHERE tenant_id = ? AND review_id = ?"
    row = fetch_one(connection, statement, (tenant_id, review_id))
    return None if row is None else _read(row)


def _row(review: ReviewRecord) -> tuple[Any, ...]:
    return (
        review.tenant_id,
        review.review_id,
        review.session_id,
        review.status.value,
        review.version,
        micros(review.created_at),
        micros(review.expires_at),
        review.decision_id or None,
        _RECORD.dump_json(review, exclude={"held"}).decode(),
        review.held,
    )


def _read(row: tuple[Any, ...]) -> ReviewRecord:
    return replace(_RECORD.validate_json(row[0]), held=bytes(row[1]))
