"""Settings of the stores: which stands where; of the embedded ones where they live and how durable a commit is."""

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class StoreSettings(BaseModel):
    """Section ``store`` (``GROUNDTRAIL_STORE__…``). ADR 0030 and ADR 0031 give the reasons for the defaults."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    sessions: Literal["sqlite", "neo4j"] = "sqlite"
    """Where sessions, windows, audit events and reports are kept: sessions.db under ``data_dir``, or the Neo4j of
    GROUNDTRAIL_NEO4J__URI (ADR 0056). Nothing moves from one to the other when this changes."""

    graph: Literal["sqlite", "neo4j"] = "sqlite"
    """Where sources and communities are kept: graph.db under ``data_dir``, or the Neo4j of GROUNDTRAIL_NEO4J__URI
    (ADR 0061). Nothing moves from one to the other when this changes; `groundtrail stores copy` does it."""

    facts: Literal["sqlite", "milvus"] = "sqlite"
    """Where facts and vectors are kept: knowledge.db under ``data_dir``, or the Milvus of GROUNDTRAIL_MILVUS__URI
    (ADR 0060). Nothing moves from one to the other when this changes; `groundtrail stores copy` does it."""

    text_stemming: Literal["english", "none"] = "english"
    """What keyword search makes of endings (ADR 0082). english: reports is found by report; codes are left as they are.
    none: words as written, for facts in other languages. A change builds the index of words anew at the next start;
    all processes on one store need the same value."""

    data_dir: Path = Path(".groundtrail")
    """Directory of the databases, relative to the working directory unless absolute; created on first use."""

    synchronous: Literal["FULL", "NORMAL"] = "FULL"
    """When a commit counts as done. FULL: after fsync, so it survives a power loss. NORMAL: after the write to the
    operating system, so it survives ``kill -9`` but the last commits can be lost with the power (ADR 0030)."""

    group_commit_max: int = Field(default=256, ge=1, le=4096)
    """Most concurrent writes that share one commit; 1-4096."""

    busy_timeout_ms: int = Field(default=5_000, ge=0, le=60_000)
    """How long a write waits for another process's write, in milliseconds; 0-60,000."""

    reader_connections: int = Field(default=4, ge=1, le=64)
    """Connections, and threads, that serve reads of one database; 1-64."""

    disk_reserve_bytes: int = Field(default=64 * 1024 * 1024, ge=0)
    """Free space below which new content is refused with STORAGE_FULL, so that erasure and recovery always have room;
    bytes, 0 = no reserve."""

    exact_search_below: int = Field(default=10_000, ge=0)
    """Facts per tenant below which every vector is compared; from this number on the HNSW index proposes candidates."""

    hnsw_connectivity: int = Field(default=16, ge=4, le=128)
    """Edges per node of the HNSW graph (M); 4-128."""

    hnsw_ef_construction: int = Field(default=200, ge=16, le=2_000)
    """Candidates kept while a vector is inserted; 16-2,000."""

    hnsw_ef_search: int = Field(default=100, ge=16, le=4_096)
    """Candidates kept while searching; 16-4,096. Higher finds more of the true neighbours and is slower."""

    index_build_threads: int = Field(default=1, ge=1, le=64)
    """Threads that build an index in the background; 1-64. With 1 the same facts always give the same graph."""

    index_on_disk: bool = True
    """Keep built indexes beside knowledge.db, so that a restart only has to catch up."""

    vector_cache_bytes: int = Field(default=2 * 1024**3, ge=16 * 1024**2)
    """Memory for the vectors of all tenants together, in bytes; at least 16 MiB. Above it the tenants that were
    searched longest ago are dropped from memory and read again when needed."""
