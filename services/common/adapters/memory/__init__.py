"""Stores in dictionaries: for tests, and the reference that every durable store is compared with."""

from services.common.adapters.memory.credentials import MemoryCredentialStore
from services.common.adapters.memory.facts import MemoryFactStore
from services.common.adapters.memory.graph import MemoryKnowledgeGraph
from services.common.adapters.memory.sessions import MemorySessionStore
from services.common.adapters.memory.vectors import MemoryVectorEngine

__all__ = [
    "MemoryCredentialStore",
    "MemoryFactStore",
    "MemoryKnowledgeGraph",
    "MemorySessionStore",
    "MemoryVectorEngine",
]
