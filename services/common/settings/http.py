"""HTTP in the gateway process: where it listens and how much it takes on (ADR 0075)."""

from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from services.common.settings.server import MEBIBYTE, is_loopback


class HttpSettings(BaseModel):
    """The HTTP server beside the gateway's gRPC server; environment prefix ``GROUNDTRAIL_HTTP__``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    port: int | None = Field(default=None, ge=0, le=65535)
    """TCP port of ``/ercp/v1/*``, ``/healthz``, ``/readyz`` and ``/openapi.json``; 0 takes a free one, unset serves no
    HTTP."""
    host: str = "127.0.0.1"
    """Address to listen on. Default: loopback."""
    tls_cert_file: Path | None = None
    """PEM file of the certificate chain, leaf first; unset = plaintext, for loopback or behind a proxy with TLS."""
    tls_key_file: Path | None = None
    """PEM file of the private key of ``tls_cert_file``."""
    behind_proxy: bool = False
    """Whether a proxy in front ends TLS; only then may plaintext listen beyond loopback: credentials travel here."""
    max_body_bytes: int = Field(default=8 * MEBIBYTE, ge=1024, le=512 * MEBIBYTE)
    """Largest request body, in bytes. Default 8 MiB."""
    max_json_nodes: int = Field(default=100_000, ge=100, le=10_000_000)
    """Most JSON values of one body, each number, text, list and object counted; more are refused with 413 before they
    are read. Default 100,000."""
    max_connections: int = Field(default=512, ge=1, le=65_536)
    """Calls at once; one more is answered 429. Twice as many connections may stand; one more takes the place
    of an idle one of the address that holds most, or is reset. Default 512."""
    max_connections_per_address: int = Field(default=128, ge=1, le=65_536)
    """Connections that one address (of IPv6 a /64) may hold, idle and half-open ones included; one more is reset. Those
    of ``edge.trusted_proxies`` are not counted by address. Default 128."""
    head_timeout_s: float = Field(default=10.0, gt=0, le=300)
    """How long a connection may take to send the head of a request, in seconds; then it is closed. Default 10."""
    body_timeout_s: float = Field(default=30.0, gt=0, le=3_600)
    """How long a request may take to send its body, in seconds; then 408 is answered. Default 30."""
    event_interval_s: float = Field(default=15.0, gt=0, le=300)
    """Longest silence of a streamed run, in seconds: then a comment is sent, so that no proxy takes it for dead. A
    refusal that comes later than this after the request is an event, not a status. Default 15."""
    call_timeout_s: float = Field(default=60.0, gt=0, le=3_600)
    """Longest time that a single operator may take, in seconds. Default 60."""
    run_timeout_s: float = Field(default=900.0, gt=0, le=7_200)
    """Longest time that a whole run may take, in seconds; the run's own bound should be lower. Default 900."""
    drain_grace_s: float = Field(default=10.0, ge=0, le=600)
    """How long requests in flight may go on at the end of the process, in seconds. Default 10."""

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if (self.tls_cert_file is None) != (self.tls_key_file is None):
            raise ValueError("tls_cert_file and tls_key_file go together: set both or neither")
        if self.tls_cert_file is None and not self.behind_proxy and not is_loopback(self.host):
            raise ValueError(
                f"plaintext on {self.host!r} would send credentials in the open: set tls_cert_file and tls_key_file, "
                "or behind_proxy when a proxy in front ends TLS"
            )
        return self
