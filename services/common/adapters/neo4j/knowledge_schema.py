"""Constraints and indexes of the knowledge graph (ADR 0061).

A property that is absent is in no index: only a source that is being written or erased has ``unfinished``, and only one
that is not erased has ``uri_key``.
"""

from typing import Final

from services.common.adapters.neo4j.migrations import GraphSchema

KNOWLEDGE_SCHEMA: Final = GraphSchema(
    store="knowledge",
    migrations=(
        (
            "CREATE CONSTRAINT source_key IF NOT EXISTS FOR (n:Source) REQUIRE n.key IS UNIQUE",
            "CREATE INDEX sources_by_id IF NOT EXISTS FOR (n:Source) ON (n.tenant_key, n.sort_key)",
            "CREATE INDEX sources_by_uri IF NOT EXISTS FOR (n:Source) ON (n.uri_key)",
            "CREATE INDEX sources_unfinished IF NOT EXISTS FOR (n:Source) ON (n.unfinished)",
            "CREATE CONSTRAINT clustering_key IF NOT EXISTS FOR (n:Clustering) REQUIRE n.key IS UNIQUE",
            "CREATE INDEX clusterings_by_age IF NOT EXISTS FOR (n:Clustering) ON (n.clustered_us)",
            "CREATE CONSTRAINT community_key IF NOT EXISTS FOR (n:Community) REQUIRE n.key IS UNIQUE",
            "CREATE INDEX communities_by_label IF NOT EXISTS FOR (n:Community) ON (n.tenant_key, n.sort_key)",
            "CREATE CONSTRAINT knowledge_receipt_key IF NOT EXISTS FOR (n:KnowledgeReceipt) REQUIRE n.key IS UNIQUE",
            "CREATE INDEX knowledge_receipts_by_age IF NOT EXISTS FOR (n:KnowledgeReceipt) ON (n.created_us)",
        ),
        (
            "DROP INDEX sources_by_uri IF EXISTS",
            "CREATE CONSTRAINT source_uri IF NOT EXISTS FOR (n:Source) REQUIRE n.uri_key IS UNIQUE",
            "CREATE INDEX knowledge_receipts_by_source IF NOT EXISTS FOR (n:KnowledgeReceipt) ON (n.source_key)",
            "MATCH (n:Source {status: 'ERASED'}) SET n.uri = '', n.document_hash = ''",
        ),
        (
            "CREATE CONSTRAINT outline_key IF NOT EXISTS FOR (n:Outline) REQUIRE n.key IS UNIQUE",
            "CREATE INDEX outlines_by_source IF NOT EXISTS FOR (n:Outline) ON (n.source_key, n.version)",
        ),
        (
            # Earlier programs left there what they quote of an erased source, and Cypher looks into no bytes: these
            # requests are done anew.
            """
            MATCH (n:Source {status: 'ERASED'})
            WITH collect(DISTINCT n.tenant_id) AS tenants
            MATCH (r:KnowledgeReceipt {rpc: 'IngestSource'})
            WHERE r.tenant_id IN tenants AND r.body_hash <> ''
            DELETE r
            """,
        ),
    ),
)
