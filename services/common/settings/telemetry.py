"""Logs, traces and metrics."""

from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator


class TelemetrySettings(BaseModel):
    """What a process tells about itself. Content of prompts, facts and claims is never told by default."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    log_format: Literal["json", "console"] = "json"
    """One JSON object per line, or coloured text for people."""
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """The least severe level that is written."""
    log_calls: bool = True
    """Whether each RPC gets an access line (level info)."""
    log_content: bool = False
    """Whether prompts, facts and claims may appear in logs and spans. The only setting that allows it."""
    otlp_endpoint: str = ""
    """``host:port`` of an OTLP gRPC collector; empty = no traces."""
    otlp_insecure: bool = False
    """Whether the collector is reached without TLS."""
    trace_ratio: float = Field(default=1.0, ge=0, le=1)
    """Fraction of root traces that is sampled, 0-1 inclusive; a caller's sampling decision is kept."""
    http_host: str = "127.0.0.1"
    """Address of ``/metrics``, ``/healthz`` and ``/readyz``."""
    http_port: int | None = Field(default=None, ge=0, le=65535)
    """Port of ``/metrics``, ``/healthz`` and ``/readyz``; 0 takes a free one, unset serves none."""
    loop_dead_s: float = Field(default=60.0, gt=0, le=3600)
    """How long the event loop may not turn before ``/healthz`` fails, so that the process is restarted, in seconds."""

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if self.otlp_insecure and not self.otlp_endpoint:
            raise ValueError("otlp_insecure has no meaning without otlp_endpoint")
        return self
