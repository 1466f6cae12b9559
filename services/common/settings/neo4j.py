"""Settings of the connection to Neo4j, used by each store that ``store`` puts there."""

from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, SecretStr, model_validator


class Neo4jSettings(BaseModel):
    """``GROUNDTRAIL_NEO4J__*`` (ADR 0056)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    uri: str = Field(default="bolt://127.0.0.1:7687", pattern=r"^(bolt|neo4j)(\+s|\+ssc)?://[^\s@/]+$")
    """Where Neo4j listens: ``bolt://`` for one server, ``neo4j://`` for a cluster; with ``+s`` over TLS under the
    system's authorities, with ``+ssc`` over TLS under any certificate."""
    user: str = Field(default="neo4j", min_length=1)
    """User of Neo4j; may read, write and change the schema of the database."""
    password: SecretStr = SecretStr("")
    """Password of that user; empty = Neo4j asks for none."""
    database: str = Field(default="neo4j", min_length=1)
    """Database of Groundtrail's own."""
    tls_root_certificates: Path | None = None
    """PEM file of the authorities that signed Neo4j's certificate, with ``bolt://`` or ``neo4j://``; then TLS is on."""
    pool_size: int = Field(default=64, ge=1, le=1_000)
    """Most connections of this process, so most calls at once; the others wait. 1-1,000."""
    connect_timeout_s: float = Field(default=5.0, gt=0.0, le=60.0)
    """Longest wait for a connection, new or from the pool, in seconds."""
    timeout_s: float = Field(default=10.0, gt=0.0, le=600.0)
    """Longest that one transaction may run, in seconds; Neo4j then ends it and nothing of it is kept."""
    retry_s: float = Field(default=5.0, ge=0.0, le=60.0)
    """How long a transaction that Neo4j did not begin or gave up is tried again, in seconds; 0 = once."""
    start_timeout_s: float = Field(default=60.0, gt=0.0, le=3_600.0)
    """How long a process waits at start for Neo4j to answer, in seconds."""

    @model_validator(mode="after")
    def _one_kind_of_tls(self) -> Self:
        if self.tls_root_certificates is not None and "+" in self.uri:
            msg = "tls_root_certificates goes with bolt:// or neo4j://; +s and +ssc bring their own trust"
            raise ValueError(msg)
        return self
