"""The file of what people have to look at: answers that wait, reports that nobody took, feedback."""

from typing import Final

from services.common.adapters.sqlite.connections import Schema

_REVIEWS: Final = (
    """
    CREATE TABLE reviews (
        tenant_id TEXT NOT NULL,
        review_id TEXT NOT NULL,
        session_id TEXT NOT NULL,
        status TEXT NOT NULL,
        version INTEGER NOT NULL,
        created_us INTEGER NOT NULL,
        expires_us INTEGER NOT NULL,
        decision_id TEXT,
        record TEXT NOT NULL,
        held BLOB NOT NULL,
        PRIMARY KEY (tenant_id, review_id)
    )
    """,
    "CREATE INDEX reviews_by_age ON reviews (tenant_id, created_us, review_id)",
    "CREATE UNIQUE INDEX reviews_by_decision ON reviews (tenant_id, decision_id) WHERE decision_id IS NOT NULL",
)
_REPORTS: Final = (
    """
    CREATE TABLE violation_reports (
        tenant_id TEXT NOT NULL,
        report_id TEXT NOT NULL,
        url TEXT NOT NULL,
        host TEXT NOT NULL,
        body BLOB NOT NULL,
        created_us INTEGER NOT NULL,
        due_us INTEGER NOT NULL,
        state TEXT NOT NULL,
        attempts INTEGER NOT NULL,
        problem TEXT NOT NULL,
        PRIMARY KEY (tenant_id, report_id)
    )
    """,
    "CREATE INDEX violation_reports_due ON violation_reports (state, due_us)",
)
_FEEDBACK: Final = (
    """
    CREATE TABLE feedback (
        tenant_id TEXT NOT NULL,
        feedback_id TEXT NOT NULL,
        report_id TEXT NOT NULL,
        session_id TEXT NOT NULL,
        claim_id TEXT NOT NULL,
        verdict TEXT NOT NULL,
        judged_right INTEGER NOT NULL,
        expected TEXT NOT NULL,
        given_by TEXT NOT NULL,
        given_us INTEGER NOT NULL,
        PRIMARY KEY (tenant_id, feedback_id)
    )
    """,
    "CREATE INDEX feedback_by_report ON feedback (tenant_id, report_id, feedback_id)",
)
OVERSIGHT_SCHEMA: Final = Schema(application_id=0x47544F56, migrations=(_REVIEWS, _REPORTS, _FEEDBACK))  # "GTOV"
