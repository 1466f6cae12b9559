"""What lists and retention need in sessions.db: three columns that repeat the trail, and indexes (ADR 0104).

Of a session that was there before, the columns are filled from its events, whose types and times no erasure takes.
"""

from typing import Final

_LAST: Final = "(SELECT max(sequence) FROM events e WHERE e.tenant_id = s.tenant_id AND e.session_id = s.session_id)"
_ENDINGS: Final = "('SESSION_TERMINATED', 'SESSION_ERASED')"

LISTS_SCHEMA: Final = (
    "ALTER TABLE sessions ADD COLUMN updated_us INTEGER",
    "ALTER TABLE sessions ADD COLUMN status_us INTEGER",
    "ALTER TABLE sessions ADD COLUMN legal_hold INTEGER NOT NULL DEFAULT 0",
    f"""
    UPDATE sessions AS s SET updated_us = (
        SELECT timestamp_us FROM events e
        WHERE e.tenant_id = s.tenant_id AND e.session_id = s.session_id AND e.sequence = {_LAST}
    )
    """,  # noqa: S608 - of constants
    f"""
    UPDATE sessions AS s SET status_us = coalesce((
        SELECT timestamp_us FROM events e
        WHERE e.tenant_id = s.tenant_id AND e.session_id = s.session_id AND e.event_type IN {_ENDINGS}
        ORDER BY e.sequence DESC LIMIT 1
    ), updated_us)
    """,  # noqa: S608 - of constants
    "CREATE INDEX sessions_by_status_age ON sessions (tenant_id, status, created_us DESC, session_id)",
    """
    CREATE INDEX sessions_of_parent ON sessions (tenant_id, parent_session_id, created_us DESC, session_id)
    WHERE parent_session_id <> ''
    """,
    "CREATE INDEX sessions_by_status_time ON sessions (tenant_id, status, status_us, session_id)",
)
