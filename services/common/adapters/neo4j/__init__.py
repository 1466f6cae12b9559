"""The stores on Neo4j; the only package that imports its driver (ADR 0056)."""

from services.common.adapters.neo4j.sessions import Neo4jSessionStore

__all__ = ["Neo4jSessionStore"]
