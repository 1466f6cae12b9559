"""Settings of the connection to Milvus, used when ``store.facts`` puts the facts there."""

from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, SecretStr, model_validator


class MilvusSettings(BaseModel):
    """``GROUNDTRAIL_MILVUS__*`` (ADR 0060)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    uri: str = Field(default="http://127.0.0.1:19530", pattern=r"^https?://[^\s@/]+$")
    """Where Milvus listens: ``http://host:port``, or ``https://host:port`` over TLS."""
    token: SecretStr = SecretStr("")
    """``user:password`` or an API key; empty = Milvus asks for none."""
    database: str = Field(default="", pattern=r"^[A-Za-z0-9_]*$", max_length=255)
    """Database of Milvus that holds the collections; empty = its default one. It must exist."""
    collection_prefix: str = Field(default="groundtrail", pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=64)
    """Start of the collections' names; installations that share a Milvus need one each. 1-64 letters, digits, _."""
    tls_root_certificates: Path | None = None
    """PEM file of the authorities that signed Milvus's certificate, with ``https://``; unset = the system's."""
    consistency: Literal["session", "strong"] = "session"
    """``session``: this process alone writes the collections; its reads see all its writes, and wait for Milvus only
    when something was written just before. ``strong``: several processes write them; every read waits until Milvus has
    everything that was written before it began, and looks twice (ADR 0060)."""
    partitions: int = Field(default=16, ge=1, le=1_024)
    """Partitions that tenants are spread over, in collections that are created; 1-1,024."""
    search_ef: int = Field(default=256, ge=16, le=4_096)
    """Candidates kept while searching the HNSW graph; 16-4,096. Higher finds more of the true neighbours, slower."""
    text_candidates: int = Field(default=10_000, ge=1, le=16_384)
    """Most facts whose words are fetched for one keyword search; 1-16,384. Up to here results are exact (ADR 0060)."""
    connections: int = Field(default=16, ge=1, le=256)
    """Threads of this process that talk to Milvus, so most requests at once; the others wait. 1-256."""
    timeout_s: float = Field(default=10.0, gt=0.0, le=600.0)
    """Longest that one request may take, retries included, in seconds; then the store counts as unavailable."""
    start_timeout_s: float = Field(default=60.0, gt=0.0, le=3_600.0)
    """How long a process waits at start for Milvus to answer and to load the collections, in seconds."""

    @model_validator(mode="after")
    def _certificates_go_with_tls(self) -> Self:
        if self.tls_root_certificates is not None and not self.uri.startswith("https://"):
            msg = "tls_root_certificates goes with https://"
            raise ValueError(msg)
        return self
