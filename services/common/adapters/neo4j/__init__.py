"""The stores on Neo4j; the only package that imports its driver (ADR 0056, ADR 0061)."""

from services.common.adapters.neo4j.knowledge import Neo4jKnowledgeGraph
from services.common.adapters.neo4j.sessions import Neo4jSessionStore

__all__ = ["Neo4jKnowledgeGraph", "Neo4jSessionStore"]
