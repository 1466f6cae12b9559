"""The Cypher of the session store. Every value is a parameter; no statement is put together from parts.

A statement that begins with ``SET s.key = $key`` locks the session: the property is what the node was found by, so
nothing changes, and Neo4j takes the node's lock before it looks. No property that a record says will do: reading would
put it right before anybody sees that it was changed. Writers of one session wait for each other there, and readers
see each commit whole or not at all, which Neo4j alone does not promise (read committed).

``ORDER BY`` begins with what the index begins with, though that is one value: only then does Neo4j read the index in
order and stop at the limit.
"""

from typing import Final

STORE_ID: Final = """
MERGE (n:StoreIdentity {store: 'sessions'}) ON CREATE SET n.store_id = $fresh
RETURN n.store_id AS store_id
"""
KEY_CHECKS: Final = "MATCH (n:KeyCheck) RETURN n.key_version AS version, n.value AS value"
KEEP_KEY_CHECK: Final = "MERGE (n:KeyCheck {key_version: $version}) ON CREATE SET n.value = $value"

CREATE_SESSION: Final = "CREATE (s:Session) SET s = $session"

LOCK_SESSION: Final = """
MATCH (s:Session {key: $key})
SET s.key = $key
WITH s
RETURN s.version AS version,
  head(COLLECT {
    MATCH (e:AuditEvent {session_key: $key}) WHERE e.sequence >= 0
    RETURN e.sequence ORDER BY e.session_key DESC, e.sequence DESC LIMIT 1
  }) AS last_sequence
"""

APPLY: Final = """
MATCH (s:Session {key: $key})
SET s = $session
WITH s
CALL (s) {
  UNWIND $windows AS row
  MATCH (w:Window {key: row.key})
  REMOVE w.id_key, w.continuation_key, w.root_key
}
CALL (s) {
  UNWIND $windows AS row
  MERGE (w:Window {key: row.key})
  SET w = row
  REMOVE w:Elsewhere
  MERGE (s)-[:HAS]->(w)
}
CALL (s) {
  UNWIND $edges AS row
  MERGE (p:Window {key: row.source})
  ON CREATE SET p = row.elsewhere, p:Elsewhere
}
CALL (s) {
  UNWIND $edges AS row
  MATCH (p:Window {key: row.source})
  MATCH (w:Window {key: row.target})
  MERGE (w)-[e:PARENT]->(p)
  SET e = row.properties
  RETURN count(e) AS edges
}
CALL (s) {
  UNWIND $reports AS row
  MERGE (r:Report {key: row.key})
  SET r = row
}
CALL (s) {
  UNWIND $erased_events AS row
  MATCH (e:AuditEvent {key: row.key})
  SET e = row
}
CALL (s) {
  UNWIND $events AS row
  CREATE (e:AuditEvent)
  SET e = row
}
CALL (s) {
  UNWIND $erased_sessions AS erased
  MATCH (r:Receipt {session_key: erased})
  DELETE r
}
RETURN edges
"""
"""Windows first lose what constraints are on, so that these judge the state after the change and none on the way."""

REMEMBER: Final = """
MERGE (r:Receipt {key: $key})
ON CREATE SET r = $receipt
WITH r
FOREACH (past IN CASE WHEN r.created_us < $oldest THEN [r] ELSE [] END | SET past = $receipt)
SET r.created_us = $receipt.created_us
RETURN r.body_hash AS body_hash, r.response AS response
"""
"""A receipt that is past its retention binds nobody; any other stays, and the caller compares."""

SNAPSHOT: Final = """
MATCH (s:Session {key: $key})
SET s.key = $key
WITH s
RETURN s {.*} AS session,
  COLLECT { MATCH (s)-[:HAS]->(w:Window) RETURN w {.*} } AS windows,
  COLLECT {
    MATCH (s)-[:HAS]->(w:Window)-[e:PARENT]->(p:Window)
    RETURN e {.*, source_id: p.window_id, target_id: w.window_id}
  } AS edges,
  COLLECT {
    MATCH (e:AuditEvent {session_key: $key}) WHERE e.sequence >= 0
    WITH e ORDER BY e.session_key DESC, e.sequence DESC LIMIT 1
    RETURN e {.*}
  } AS last_events
"""

FIND_CONTINUATION: Final = "MATCH (w:Window {continuation_key: $key}) RETURN w {.*} AS window"

AGE_OF_SESSION: Final = "MATCH (s:Session {key: $key}) RETURN s.created_us AS created_us"

PAGE_EVENTS: Final = """
MATCH (s:Session {key: $key})
SET s.key = $key
WITH s
CALL (s) {
  MATCH (e:AuditEvent {session_key: s.key})
  WHERE e.sequence > $after
  WITH e ORDER BY e.session_key, e.sequence LIMIT $limit
  RETURN e
}
RETURN e {.*} AS event
"""

GET_REPORT: Final = "MATCH (r:Report {id_key: $key}) RETURN r {.*} AS report"

PAGE_REPORTS_OF_SESSION: Final = """
MATCH (r:Report {session_key: $key})
WHERE r.sort_key >= $sort_key AND r.report_id > $after
WITH r ORDER BY r.session_key, r.sort_key, r.report_id LIMIT $limit
RETURN r {.*} AS report
"""

PAGE_REPORTS_OF_TENANT: Final = """
MATCH (r:Report {tenant_key: $key})
WHERE r.sort_key >= $sort_key AND r.report_id > $after
WITH r ORDER BY r.tenant_key, r.sort_key, r.report_id LIMIT $limit
RETURN r {.*} AS report
"""

PAGE_BRIEF_REPORTS_OF_SESSION: Final = """
MATCH (r:Report {session_key: $key})
WHERE r.sort_key >= $sort_key AND r.report_id > $after
WITH r ORDER BY r.session_key, r.sort_key, r.report_id LIMIT $limit
RETURN r {.*, inputs: ''} AS report
"""

PAGE_BRIEF_REPORTS_OF_TENANT: Final = """
MATCH (r:Report {tenant_key: $key})
WHERE r.sort_key >= $sort_key AND r.report_id > $after
WITH r ORDER BY r.tenant_key, r.sort_key, r.report_id LIMIT $limit
RETURN r {.*, inputs: ''} AS report
"""

GET_RECEIPT: Final = "MATCH (r:Receipt {key: $key}) RETURN r {.*} AS receipt"

FORGET_RECEIPTS: Final = """
MATCH (r:Receipt)
WHERE r.created_us < $oldest
WITH r LIMIT $limit
SET r.forgotten = true
WITH r
WHERE r.created_us < $oldest
DELETE r
RETURN count(r) AS forgotten
"""
"""Locks each receipt and looks again: one that was written anew meanwhile stays."""
