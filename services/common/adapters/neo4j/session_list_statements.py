"""The Cypher of lists, retention and tombstones; as in ``session_statements`` every value is a parameter (ADR 0104)."""

from typing import Final

LIST_SESSIONS: Final = """
MATCH (s:Session {tenant_key: $tenant_key})
WHERE s.created_us <= $created_us AND (s.created_us < $created_us OR s.session_id > $after) AND s.session_id >= ''
  AND s.created_us >= $opened_since AND s.created_us < $opened_until
  AND ($status IS NULL OR s.status = $status)
  AND ($updated_since IS NULL OR s.updated_us >= $updated_since)
  AND ($updated_until IS NULL OR s.updated_us < $updated_until)
  AND ($parent = '' OR s.parent_session_id = $parent)
WITH s ORDER BY s.tenant_key DESC, s.created_us DESC, s.session_id LIMIT $limit
RETURN s {.*} AS session,
  COLLECT {
    MATCH (s)-[:HAS]->(w:Window)
    RETURN w {.window_id, .window_number, .status, .report_id, .quality_tier, .risk_level, .safety_budget}
  } AS windows
"""

PAGE_DUE: Final = """
MATCH (s:Session {tenant_key: $tenant_key, status: $status})
WHERE s.status_us >= $status_us AND s.status_us <= $until
  AND (s.status_us > $status_us OR s.session_id > $after) AND s.session_id >= ''
WITH s ORDER BY s.tenant_key, s.status, s.status_us, s.session_id LIMIT $limit
RETURN s {.*} AS session
"""

COUNT_SESSIONS: Final = """
UNWIND $statuses AS status
MATCH (s:Session {tenant_key: $tenant_key, status: status})
WHERE s.status_us IS NOT NULL
RETURN status, count(s) AS sessions
"""
"""An index of several properties serves only a statement that asks for all of them."""

SESSION_TENANTS: Final = """
MATCH (n:Log)
WHERE n.sort_key >= $sort_key AND n.tenant_id > $after
RETURN n.tenant_id AS tenant_id ORDER BY n.sort_key, n.tenant_id LIMIT $limit
"""
"""Whoever has a session has a log: its first event is its first leaf."""

TOMBSTONE: Final = """
MATCH (s:Session {key: $key})
CALL (s) {
  MATCH (s)-[:HAS]->(:Window)-[:PARENT]->(p:Elsewhere)
  DETACH DELETE p
}
CALL (s) {
  MATCH (s)-[:HAS]->(w:Window)
  DETACH DELETE w
}
CALL (s) {
  MATCH (e:AuditEvent {session_key: s.key})
  WHERE e.sequence >= 0
  DELETE e
}
CALL (s) {
  MATCH (r:Report {session_key: s.key})
  WHERE r.sort_key >= ''
  DELETE r
}
CALL (s) {
  MATCH (r:Receipt {session_key: s.key})
  DELETE r
}
"""
"""What another instance keeps of the session's parents stands for nothing once the windows are gone."""
