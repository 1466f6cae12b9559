"""The embedded stores: one SQLite file each, durable and shared between processes."""

from services.common.adapters.sqlite.credentials import SqliteCredentialStore
from services.common.adapters.sqlite.facts import SqliteFactStore
from services.common.adapters.sqlite.graph import SqliteKnowledgeGraph
from services.common.adapters.sqlite.sessions import SqliteSessionStore

__all__ = ["SqliteCredentialStore", "SqliteFactStore", "SqliteKnowledgeGraph", "SqliteSessionStore"]
