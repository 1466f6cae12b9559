"""The stores that every contract suite runs over, and what a suite may not expect of one.

A new adapter is one line in the tuple of its port. What it cannot do is a ``Lacks``, never a skipped test by name.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, Final

import pytest

from services.common.adapters.memory import (
    MemoryCredentialStore,
    MemoryFactStore,
    MemoryKnowledgeGraph,
    MemorySessionStore,
    MemoryVectorEngine,
)
from services.common.adapters.memory.feedback import MemoryFeedbackStore
from services.common.adapters.memory.reviews import MemoryReviewStore
from services.common.adapters.memory.violation_reports import MemoryViolationReportStore
from services.common.adapters.sqlite import (
    SqliteCredentialStore,
    SqliteFactStore,
    SqliteKnowledgeGraph,
    SqliteSessionStore,
)
from services.common.adapters.sqlite.feedback import SqliteFeedbackStore
from services.common.adapters.sqlite.reviews import SqliteReviewStore
from services.common.adapters.sqlite.violation_reports import SqliteViolationReportStore
from services.common.adapters.vector_engines import open_engine
from services.common.ports.vector_engine import VectorEngine
from services.common.settings.neo4j import Neo4jSettings
from services.common.settings.stores import StoreSettings
from services.common.settings.vectors import VectorSettings
from services.dag.domain.keys import MasterKey
from services.dag.master_keys import FixedMasterKeys
from services.dag.sealed_store import SealedSessionStore
from services.dag.sealing import Sealer
from tests.integration.milvus_target import empty_milvus, milvus_settings
from tests.integration.neo4j_target import empty_neo4j, neo4j_settings
from tools.real_servers import milvus

DIMENSION: Final = 16
MODEL: Final = "model@1+sha256:0123456789abcdef"
"""Fingerprint of the embedding model of every record."""


class Lacks(Enum):
    """What an adapter does not do, with the reason."""

    DURABILITY = "the adapter lives in memory: nothing outlives it"
    SHARING = "the adapter is set up for one process: another one's writes are not seen"


@dataclass(frozen=True)
class Adapter:
    """One implementation of a port: ``open`` gives a store over a directory; the same directory, the same data."""

    name: str
    open: Callable[[Path], Awaitable[Any]]
    lacks: frozenset[Lacks] = frozenset()
    marks: tuple[pytest.MarkDecorator, ...] = ()


def _memory(build: Callable[[], Any]) -> Callable[[Path], Awaitable[Any]]:
    async def open_(_directory: Path) -> Any:
        return build()

    return open_


async def _emptied_neo4j(directory: Path) -> Neo4jSettings:
    """Return how to reach the Neo4j; a directory that is new stands for an empty one."""
    settings = neo4j_settings()
    seen = directory / "neo4j"
    if not seen.exists():
        await empty_neo4j(settings)
        seen.touch()
    return settings


async def _neo4j_sessions(directory: Path) -> Any:
    from services.common.adapters.neo4j import Neo4jSessionStore

    return await Neo4jSessionStore.open(await _emptied_neo4j(directory))


async def _neo4j_knowledge(directory: Path) -> Any:
    from services.common.adapters.neo4j import Neo4jKnowledgeGraph

    return await Neo4jKnowledgeGraph.open(await _emptied_neo4j(directory))


def _milvus_facts(variable: str, **changes: object) -> Callable[[Path], Awaitable[Any]]:
    async def open_(directory: Path) -> Any:
        """Open the facts of a Milvus; a directory that is new stands for an empty one."""
        from services.common.adapters.milvus import MilvusFactStore

        settings = milvus_settings(variable, **changes)
        seen = directory / "milvus"
        if not seen.exists():
            await empty_milvus(settings)
            seen.touch()
        return await MilvusFactStore.open(settings, embedding_model=MODEL, dimension=DIMENSION)

    return open_


PLAIN: Final = StoreSettings(disk_reserve_bytes=0, synchronous="NORMAL")
INDEXED: Final = PLAIN.model_copy(update={"exact_search_below": 8, "hnsw_ef_search": 256})
"""A graph from the ninth fact on, so that the suite also runs through it."""


def _indexed_by(engine: VectorEngine | None, name: str = "") -> Callable[[Path], Awaitable[Any]]:
    """Return what opens facts in SQLite with an engine's proposals from the ninth fact on."""

    async def open_(directory: Path) -> Any:
        settings = VectorSettings(engine=name)
        used = engine or open_engine(settings, directory, DIMENSION)
        return await SqliteFactStore.open(directory / "knowledge.db", INDEXED, dimension=DIMENSION, engine=used)

    return open_


IN_MEMORY: Final = frozenset({Lacks.DURABILITY})
ALONE: Final = frozenset({Lacks.SHARING})
ON_MILVUS: Final = (pytest.mark.needs_milvus, pytest.mark.timeout(300))

FACT_STORES: Final = (
    Adapter("memory", _memory(lambda: MemoryFactStore(DIMENSION)), IN_MEMORY),
    Adapter("sqlite", lambda path: SqliteFactStore.open(path / "knowledge.db", PLAIN, dimension=DIMENSION)),
    Adapter("sqlite-indexed", lambda path: SqliteFactStore.open(path / "knowledge.db", INDEXED, dimension=DIMENSION)),
    Adapter("sqlite-memory-engine", _indexed_by(MemoryVectorEngine())),
    Adapter("sqlite-qdrant", _indexed_by(None, "qdrant"), ALONE),
    Adapter("sqlite-chroma", _indexed_by(None, "chroma")),
    Adapter("milvus", _milvus_facts(milvus.VARIABLE), ALONE, ON_MILVUS),
    Adapter("milvus-shared", _milvus_facts(milvus.VARIABLE, consistency="strong"), marks=ON_MILVUS),
    Adapter("milvus-lite", _milvus_facts(milvus.LITE_VARIABLE), ALONE, ON_MILVUS),
)
KNOWLEDGE_GRAPHS: Final = (
    Adapter("memory", _memory(MemoryKnowledgeGraph), IN_MEMORY),
    Adapter("sqlite", lambda path: SqliteKnowledgeGraph.open(path / "graph.db", PLAIN)),
    Adapter("neo4j", _neo4j_knowledge, marks=(pytest.mark.needs_neo4j,)),
)
SEALER: Final = Sealer(FixedMasterKeys({1: MasterKey(1, bytes(range(32)))}))


async def _sealed_sqlite(directory: Path) -> SealedSessionStore:
    return SealedSessionStore(await SqliteSessionStore.open(directory / "sealed.db", PLAIN), SEALER)


SESSION_STORES: Final = (
    Adapter("memory", _memory(MemorySessionStore), IN_MEMORY),
    Adapter("sqlite", lambda path: SqliteSessionStore.open(path / "sessions.db", PLAIN)),
    Adapter("neo4j", _neo4j_sessions, marks=(pytest.mark.needs_neo4j,)),
)
SEALED_SESSION_STORES: Final = (
    Adapter("memory-sealed", _memory(lambda: SealedSessionStore(MemorySessionStore(), SEALER)), IN_MEMORY),
    Adapter("sqlite-sealed", _sealed_sqlite),
)
"""The same stores as the dag service wraps them: they make the leaves of their events themselves."""
CREDENTIAL_STORES: Final = (
    Adapter("memory", _memory(MemoryCredentialStore), IN_MEMORY),
    Adapter("sqlite", lambda path: SqliteCredentialStore.open(path / "gateway.db", PLAIN)),
)
REVIEW_STORES: Final = (
    Adapter("memory", _memory(MemoryReviewStore), IN_MEMORY),
    Adapter("sqlite", lambda path: SqliteReviewStore.open(path / "oversight.db", PLAIN)),
)
VIOLATION_REPORT_STORES: Final = (
    Adapter("memory", _memory(MemoryViolationReportStore), IN_MEMORY),
    Adapter("sqlite", lambda path: SqliteViolationReportStore.open(path / "oversight.db", PLAIN)),
)
FEEDBACK_STORES: Final = (
    Adapter("memory", _memory(MemoryFeedbackStore), IN_MEMORY),
    Adapter("sqlite", lambda path: SqliteFeedbackStore.open(path / "oversight.db", PLAIN)),
)


def durable(adapters: tuple[Adapter, ...]) -> tuple[Adapter, ...]:
    """Return those whose data outlives them."""
    return tuple(adapter for adapter in adapters if Lacks.DURABILITY not in adapter.lacks)


def shared(adapters: tuple[Adapter, ...]) -> tuple[Adapter, ...]:
    """Return those that several processes may write at once."""
    return tuple(adapter for adapter in durable(adapters) if Lacks.SHARING not in adapter.lacks)


def parameters(adapters: tuple[Adapter, ...]) -> list[Any]:
    """Return the adapters as pytest's parameters, each with its marks."""
    return [pytest.param(adapter, marks=adapter.marks, id=adapter.name) for adapter in adapters]
