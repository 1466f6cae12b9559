"""Settings of the connection to NVIDIA Triton, used when ``inference.backend`` is ``triton``."""

from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from services.common.settings.addresses import without_credentials


class TritonSettings(BaseModel):
    """``GROUNDTRAIL_INFERENCE__TRITON__*``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    target: str = Field(default="127.0.0.1:8001", min_length=1)
    """``host:port`` of Triton's gRPC endpoint."""
    tls_root_certificates: Path | None = None
    """PEM file of the authorities that signed Triton's certificate; ``None`` = no TLS."""
    timeout_s: float = Field(default=10.0, gt=0.0, le=600.0)
    """Longest wait for one inference, in seconds; a caller's nearer deadline wins."""
    attempts: int = Field(default=3, ge=1, le=10)
    """How often an inference is tried while Triton is unavailable."""
    backoff_s: float = Field(default=0.1, gt=0.0, le=10.0)
    """Wait before the second attempt, in seconds; doubled for each further one."""
    start_timeout_s: float = Field(default=30.0, gt=0.0, le=3600.0)
    """How long a process waits at start for Triton to have its models ready, in seconds."""
    requests_in_flight: int = Field(default=16, ge=1, le=1024)
    """Requests per model that are with Triton at once; it forms its batches from these."""
    shared_memory: bool = False
    """Pass input tensors through POSIX shared memory; only for a Triton on the same machine."""

    @model_validator(mode="after")
    def _address_without_secrets(self) -> Self:
        without_credentials(self.target, "target is host:port alone")
        return self
