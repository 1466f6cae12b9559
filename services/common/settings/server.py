"""Where a process listens, how the wire is protected, and how much it takes on."""

import ipaddress
from pathlib import Path
from typing import Final, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

MEBIBYTE: Final = 1024 * 1024


def is_loopback(host: str) -> bool:
    """Say whether ``host`` can be reached from this machine alone."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


class TlsSettings(BaseModel):
    """Files of the server's side of TLS; all PEM. Nothing set means plaintext (loopback, or behind a mesh)."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    cert_file: Path | None = None
    """The server's certificate chain, leaf first."""
    key_file: Path | None = None
    """The private key of ``cert_file``."""
    client_ca_file: Path | None = None
    """Authorities whose client certificates are accepted; set, every client must present one (mTLS)."""

    @property
    def enabled(self) -> bool:
        """Say whether the server speaks TLS."""
        return self.cert_file is not None

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if (self.cert_file is None) != (self.key_file is None):
            raise ValueError("cert_file and key_file go together: set both or neither")
        if self.client_ca_file is not None and self.cert_file is None:
            raise ValueError("client_ca_file (mTLS) needs cert_file and key_file")
        return self


class ServerSettings(BaseModel):
    """The gRPC server of a process."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    host: str = "127.0.0.1"
    """Address to listen on; ``0.0.0.0`` or ``[::]`` for every interface. Default: loopback."""
    port: int = Field(default=50051, ge=0, le=65535)
    """TCP port; 0 takes a free one."""
    unix_socket: Path | None = None
    """Listen on this socket as well; at most 100 bytes long."""
    tls: TlsSettings = TlsSettings()
    """TLS and mTLS of the TCP port."""
    insecure_local: bool = False
    """Serve every call as an administrator of the tenant ``local``, without a credential. Loopback only."""
    reflection: bool = True
    """Whether clients may list services by gRPC reflection."""
    reflection_needs_credential: bool = False
    """Whether reflection asks for a credential with the role ``reader``."""
    max_message_bytes: int = Field(default=32 * MEBIBYTE, ge=1024, le=512 * MEBIBYTE)
    """Largest request or response message, in bytes of its protobuf form."""
    max_concurrent_calls: int = Field(default=256, ge=1)
    """Calls in flight in this process, over all tenants."""
    max_concurrent_calls_per_tenant: int = Field(default=128, ge=1)
    """Calls in flight of one tenant."""
    overload_retry_s: float = Field(default=0.5, gt=0, le=60)
    """What RetryInfo suggests to a caller that met a concurrency limit, in seconds."""
    min_deadline_ms: int = Field(default=2, ge=0, le=60_000)
    """A call that arrives with less time left is refused at once, in milliseconds; 0 = only when it is over."""
    deadline_margin_ms: int = Field(default=50, ge=0, le=10_000)
    """How long before its deadline a call is ended, so that its caller is told what was done, in milliseconds; at most
    a tenth of the call's time."""
    computing_threads: int = Field(default=2, ge=1, le=16)
    """Threads that compute beside the event loop, at most; the interpreter lets one compute at a time."""
    health_interval_s: float = Field(default=5.0, gt=0, le=300)
    """How often readiness polls the backends, in seconds."""
    health_timeout_s: float = Field(default=2.0, gt=0, le=60)
    """How long one readiness check may take, in seconds."""
    drain_grace_s: float = Field(default=20.0, ge=0, le=600)
    """How long calls in flight may go on after SIGTERM, in seconds."""

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if self.insecure_local and not is_loopback(self.host):
            raise ValueError(f"insecure_local serves without credentials and needs a loopback host, not {self.host!r}")
        if self.max_concurrent_calls_per_tenant > self.max_concurrent_calls:
            raise ValueError("max_concurrent_calls_per_tenant is larger than max_concurrent_calls")
        if self.unix_socket is not None and len(str(self.unix_socket).encode()) > 100:  # noqa: PLR2004 - sockaddr_un
            raise ValueError("unix_socket is longer than 100 bytes, which the system does not take")
        return self
