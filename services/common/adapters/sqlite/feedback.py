"""``FeedbackStore`` on SQLite, in the file of the reviews."""

from typing import Any, Final

from services.common.adapters.sqlite.fetching import fetch
from services.common.adapters.sqlite.oversight_schema import OVERSIGHT_SCHEMA
from services.common.adapters.sqlite.single_file import SingleFileStore
from services.common.adapters.sqlite.values import micros, moment
from services.common.ports.feedback import FeedbackRecord

_SELECT: Final = (
    "SELECT tenant_id, feedback_id, report_id, session_id, claim_id, verdict, judged_right, expected, given_by, "
    "given_us FROM feedback WHERE tenant_id = ? AND feedback_id > ? "
)


class SqliteFeedbackStore(SingleFileStore):
    """Feedback in one file."""

    schema = OVERSIGHT_SCHEMA

    async def put(self, feedback: FeedbackRecord) -> None:
        """Keep it."""
        values: tuple[Any, ...] = (
            feedback.tenant_id,
            feedback.feedback_id,
            feedback.report_id,
            feedback.session_id,
            feedback.claim_id,
            feedback.verdict,
            int(feedback.right),
            feedback.expected,
            feedback.given_by,
            micros(feedback.given_at),
        )
        statement = "INSERT OR REPLACE INTO feedback VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        await self._database.write(lambda c: c.execute(statement, values).rowcount)

    async def page(self, tenant_id: str, report_id: str, *, after: str, limit: int) -> list[FeedbackRecord]:
        """Return the next by id."""
        condition, named = ("AND report_id = ? ", (report_id,)) if report_id else ("", ())
        statement = f"{_SELECT}{condition}ORDER BY feedback_id LIMIT ?"
        rows = await self._database.read(lambda c: fetch(c, statement, (tenant_id, after, *named, limit)))
        return [_read(*row) for row in rows]


def _read(*row: Any) -> FeedbackRecord:
    tenant_id, feedback_id, report_id, session_id, claim_id, verdict, right, expected, given_by, given_us = row
    said = (bool(right), expected, given_by, moment(given_us))
    return FeedbackRecord(tenant_id, feedback_id, report_id, session_id, claim_id, verdict, *said)
