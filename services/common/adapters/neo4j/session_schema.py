"""Constraints and indexes of the session store.

The graph is that of sessions and windows; events, reports, receipts and leaves are found by index. Community edition
has uniqueness constraints and no others, and each of them is also the second line behind the version guard: one node
per window, continuation and report id of a tenant, one event per place in a session's chain, one leaf per record, one
living root per session (SPEC-004 §3.3). A property that is absent is in no constraint: only a living root has
``root_key``, only a window that can be continued has ``continuation_key``.
"""

from typing import Final

from services.common.adapters.neo4j.migrations import GraphSchema

_REPEAT_THE_TRAIL: Final = """
MATCH (s:Session)
WHERE s.updated_us IS NULL
CALL (s) {
  MATCH (e:AuditEvent {session_key: s.key})
  WHERE e.sequence >= 0
  WITH s, e ORDER BY e.sequence
  WITH s, collect(e) AS events
  WITH s, last(events).timestamp_us AS updated_us,
    last([e IN events WHERE e.event_type IN ['SESSION_TERMINATED', 'SESSION_ERASED'] | e.timestamp_us]) AS ended_us
  SET s.updated_us = updated_us, s.status_us = coalesce(ended_us, updated_us), s.legal_hold = false
} IN TRANSACTIONS OF 500 ROWS
"""
"""Of sessions from before ADR 0104: type and time of an event are never erased."""
SESSIONS_SCHEMA: Final = GraphSchema(
    store="sessions",
    migrations=(
        (
            "CREATE CONSTRAINT session_key IF NOT EXISTS FOR (n:Session) REQUIRE n.key IS UNIQUE",
            "CREATE INDEX sessions_by_age IF NOT EXISTS FOR (n:Session) ON (n.tenant_key, n.created_us)",
            "CREATE CONSTRAINT window_key IF NOT EXISTS FOR (n:Window) REQUIRE n.key IS UNIQUE",
            "CREATE CONSTRAINT window_id_key IF NOT EXISTS FOR (n:Window) REQUIRE n.id_key IS UNIQUE",
            "CREATE CONSTRAINT window_continuation IF NOT EXISTS FOR (n:Window) REQUIRE n.continuation_key IS UNIQUE",
            "CREATE CONSTRAINT window_root IF NOT EXISTS FOR (n:Window) REQUIRE n.root_key IS UNIQUE",
            "CREATE CONSTRAINT event_key IF NOT EXISTS FOR (n:AuditEvent) REQUIRE n.key IS UNIQUE",
            "CREATE INDEX events_of_session IF NOT EXISTS FOR (n:AuditEvent) ON (n.session_key, n.sequence)",
            "CREATE CONSTRAINT report_key IF NOT EXISTS FOR (n:Report) REQUIRE n.key IS UNIQUE",
            "CREATE CONSTRAINT report_id_key IF NOT EXISTS FOR (n:Report) REQUIRE n.id_key IS UNIQUE",
            "CREATE INDEX reports_of_session IF NOT EXISTS FOR (n:Report) ON (n.session_key, n.sort_key)",
            "CREATE INDEX reports_of_tenant IF NOT EXISTS FOR (n:Report) ON (n.tenant_key, n.sort_key)",
            "CREATE CONSTRAINT receipt_key IF NOT EXISTS FOR (n:Receipt) REQUIRE n.key IS UNIQUE",
            "CREATE INDEX receipts_of_session IF NOT EXISTS FOR (n:Receipt) ON (n.session_key)",
            "CREATE INDEX receipts_by_age IF NOT EXISTS FOR (n:Receipt) ON (n.created_us)",
            "CREATE CONSTRAINT log_key IF NOT EXISTS FOR (n:Log) REQUIRE n.key IS UNIQUE",
            "CREATE INDEX logs_by_tenant IF NOT EXISTS FOR (n:Log) ON (n.sort_key)",
            "CREATE CONSTRAINT leaf_key IF NOT EXISTS FOR (n:Leaf) REQUIRE n.key IS UNIQUE",
            "CREATE CONSTRAINT leaf_record IF NOT EXISTS FOR (n:Leaf) REQUIRE n.record_key IS UNIQUE",
            "CREATE CONSTRAINT consumer_key IF NOT EXISTS FOR (n:Consumer) REQUIRE n.key IS UNIQUE",
        ),
        (
            "CREATE INDEX leaves_of_session IF NOT EXISTS FOR (n:Leaf) ON (n.session_key)",
            "CREATE CONSTRAINT log_head_key IF NOT EXISTS FOR (n:LogHead) REQUIRE n.key IS UNIQUE",
        ),
        ("CREATE CONSTRAINT store_identity IF NOT EXISTS FOR (n:StoreIdentity) REQUIRE n.store IS UNIQUE",),
        (
            "CREATE INDEX sessions_by_status IF NOT EXISTS FOR (n:Session) ON (n.tenant_key, n.status, n.status_us)",
            _REPEAT_THE_TRAIL,
        ),
        ("CREATE CONSTRAINT key_check IF NOT EXISTS FOR (n:KeyCheck) REQUIRE n.key_version IS UNIQUE",),
    ),
)
