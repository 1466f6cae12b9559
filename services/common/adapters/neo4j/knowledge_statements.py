"""The Cypher of the knowledge graph. Every value is a parameter; no statement is put together from parts.

Communities hang on their clustering, ``(:Clustering)-[:HAS]->(:Community)``. A statement that reads or replaces them
sets a property of the clustering to what it was, so that Neo4j takes the node's lock first and nobody sees a clustering
half replaced (Neo4j reads committed). ``ORDER BY`` begins with what the index begins with, as in the session store.
"""

from typing import Final

PUT_SOURCE: Final = """
MERGE (s:Source {key: $key})
SET s = $source
"""

DELETE_SOURCE: Final = "MATCH (s:Source {key: $key}) DELETE s"

GET_SOURCE: Final = "MATCH (s:Source {key: $key}) RETURN s {.*} AS source"

GET_SOURCES: Final = "UNWIND $keys AS key MATCH (s:Source {key: key}) RETURN s {.*} AS source"

FIND_SOURCE: Final = """
MATCH (s:Source {uri_key: $key})
WITH s ORDER BY s.ingested_us DESC, s.source_id DESC LIMIT 1
RETURN s {.*} AS source
"""

PAGE_SOURCES: Final = """
MATCH (s:Source {tenant_key: $key})
WHERE s.sort_key >= $sort_key AND s.source_id > $after
WITH s ORDER BY s.tenant_key, s.sort_key, s.source_id LIMIT $limit
RETURN s {.*} AS source
"""

UNFINISHED_SOURCES: Final = "MATCH (s:Source {unfinished: true}) RETURN s {.*} AS source"

PUT_OUTLINE: Final = """
MERGE (o:Outline {key: $key})
SET o = $outline
"""

FORGET_OUTLINES: Final = """
MATCH (o:Outline {source_key: $source_key})
WHERE o.version <= $last
DELETE o
"""

DELETE_OUTLINE: Final = "MATCH (o:Outline {key: $key}) DELETE o"

DELETE_OUTLINES: Final = "MATCH (o:Outline {source_key: $source_key}) WHERE o.version >= 0 DELETE o"
"""Without its second property a composite index is not used, and every outline of every tenant would be read."""

GET_OUTLINE: Final = "MATCH (o:Outline {key: $key}) RETURN o {.*} AS outline"

OUTLINE_VERSIONS: Final = """
MATCH (o:Outline {source_key: $source_key})
WHERE o.version >= 0
RETURN o {.tenant_id, .source_id, .version, .document_hash, .ingested_us, .fact_count} AS outline
"""

REPLACE_COMMUNITIES: Final = """
MERGE (c:Clustering {key: $key})
SET c = $clustering
WITH c
CALL (c) {
  MATCH (c)-[:HAS]->(old:Community)
  DETACH DELETE old
}
CALL (c) {
  UNWIND $communities AS row
  CREATE (c)-[:HAS]->(new:Community)
  SET new = row
}
RETURN c.epoch AS epoch
"""

PAGE_COMMUNITIES: Final = """
MATCH (c:Clustering {key: $key})
SET c.tenant_id = $tenant_id
WITH c
CALL (c) {
  MATCH (n:Community {tenant_key: c.key})
  WHERE n.sort_key >= $sort_key AND n.label > $after
  WITH n ORDER BY n.tenant_key, n.sort_key, n.label LIMIT $limit
  RETURN n
}
RETURN n {.*} AS community
"""

GET_CLUSTERING: Final = "MATCH (c:Clustering {key: $key}) RETURN c {.*} AS clustering"

CLUSTERINGS_BEFORE: Final = """
MATCH (c:Clustering)
WHERE c.clustered_us < $moment_us
WITH c ORDER BY c.clustered_us, c.tenant_id LIMIT $limit
RETURN c {.*} AS clustering
"""

REMEMBER: Final = """
MERGE (r:KnowledgeReceipt {key: $key})
ON CREATE SET r = $receipt
WITH r
FOREACH (past IN CASE WHEN r.created_us < $oldest THEN [r] ELSE [] END | SET past = $receipt)
SET r.created_us = $receipt.created_us
RETURN r.body_hash AS body_hash, r.response AS response
"""
"""A receipt that is past its retention binds nobody; any other stays, and the caller compares."""

SCRUB_RECEIPTS: Final = """
MATCH (r:KnowledgeReceipt {source_key: $key})
WHERE r.rpc <> $erasing
SET r.body_hash = '', r.response = $nothing
"""

LOCK_QUOTED: Final = """
UNWIND $keys AS key
MATCH (s:Source {key: key})
SET s.tenant_id = s.tenant_id
RETURN s.source_id AS source_id, s.status AS status
"""
"""Until the receipt is written nobody erases the sources that it quotes."""

QUOTING_RECEIPTS: Final = """
MATCH (r:KnowledgeReceipt)
WHERE r.created_us >= 0 AND r.tenant_id = $tenant_id AND r.rpc = $rpc
  AND (r.quotes IS NULL OR $source_id IN r.quotes)
RETURN r.key AS key, r.response AS response
"""
"""All of a day; those that an earlier program wrote do not say whom they quote."""

UNQUOTE_RECEIPTS: Final = """
UNWIND $receipts AS row
MATCH (r:KnowledgeReceipt {key: row.key})
SET r.response = row.response
"""

GET_RECEIPT: Final = "MATCH (r:KnowledgeReceipt {key: $key}) RETURN r {.*} AS receipt"

FORGET_RECEIPTS: Final = """
MATCH (r:KnowledgeReceipt)
WHERE r.created_us < $oldest
WITH r LIMIT $limit
SET r.forgotten = true
WITH r
WHERE r.created_us < $oldest
DELETE r
RETURN count(r) AS forgotten
"""
"""Locks each receipt and looks again: one that was written anew meanwhile stays."""
