"""Where a process listens, how the wire is protected, and how much it takes on."""

import ipaddress
import os
import re
from pathlib import Path
from typing import Final, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from services.common.context import STANDARD_CLASS

MEBIBYTE: Final = 1024 * 1024
_LEAST_HEAVY_CALLS: Final = 4
_MOST_CLASSES: Final = 16
_CLASS: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,31}")


def processors() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


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

    model_config = ConfigDict(frozen=True, extra="forbid")

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

    model_config = ConfigDict(frozen=True, extra="forbid")

    host: str = "127.0.0.1"
    """Address to listen on; ``0.0.0.0`` or ``[::]`` for every interface. Default: loopback."""
    port: int = Field(default=50051, ge=0, le=65535)
    """TCP port; 0 takes a free one."""
    unix_socket: Path | None = None
    """Listen on this socket as well; at most 100 bytes long."""
    tls: TlsSettings = TlsSettings()
    """TLS and mTLS of the TCP port."""
    insecure_local: bool = False
    """Serve every call as an administrator of the tenant ``default``, without a credential. Loopback only."""
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
    max_heavy_calls: int = Field(default=0, ge=0, le=4096)
    """Calls that compute at once, over all tenants; further ones wait in turn. 0 = four times that of a tenant."""
    max_heavy_calls_per_tenant: int = Field(default=0, ge=0, le=4096)
    """Calls of one tenant that compute at once. 0 = twice the processors that the process may use, at least 4."""
    max_admitted_work: int = Field(default=4_000_000, ge=1)
    """Work admitted and not ended, over all tenants, in units (about a character that the models read)."""
    max_admitted_work_per_tenant: int = Field(default=1_000_000, ge=1)
    """Work of one tenant admitted and not ended, in units; a call that is its tenant's only one is always admitted."""
    tenant_classes: dict[str, str] = Field(default={}, max_length=10_000)
    """Class of a tenant by its id, as JSON: ``{"acme": "trial"}``; a label of metrics, at most 16 classes. Others are
    ``standard``."""
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

    @property
    def heavy_calls_per_tenant(self) -> int:
        """Calls of one tenant that compute at once."""
        most = self.max_heavy_calls_per_tenant or max(_LEAST_HEAVY_CALLS, 2 * processors())
        return min(most, self.max_heavy_calls or most)

    @property
    def heavy_calls(self) -> int:
        """Calls that compute at once."""
        return self.max_heavy_calls or 4 * self.heavy_calls_per_tenant

    def class_of(self, tenant_id: str) -> str:
        """Return the class that the tenant is counted under."""
        return self.tenant_classes.get(tenant_id, STANDARD_CLASS)

    @field_validator("tenant_classes")
    @classmethod
    def _few_plain_classes(cls, classes: dict[str, str]) -> dict[str, str]:
        if len(set(classes.values())) > _MOST_CLASSES:
            raise ValueError(f"at most {_MOST_CLASSES} classes: each is a label of metrics")
        for name in classes.values():
            if not _CLASS.fullmatch(name):
                raise ValueError(f"a class is 1 to 32 lower-case letters, digits, - and _: {name!r}")
        return classes

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if self.insecure_local and not is_loopback(self.host):
            raise ValueError(f"insecure_local serves without credentials and needs a loopback host, not {self.host!r}")
        if self.max_concurrent_calls_per_tenant > self.max_concurrent_calls:
            raise ValueError("max_concurrent_calls_per_tenant is larger than max_concurrent_calls")
        if self.max_heavy_calls and self.max_heavy_calls_per_tenant > self.max_heavy_calls:
            raise ValueError("max_heavy_calls_per_tenant is larger than max_heavy_calls")
        if self.max_admitted_work_per_tenant > self.max_admitted_work:
            raise ValueError("max_admitted_work_per_tenant is larger than max_admitted_work")
        if self.unix_socket is not None and len(str(self.unix_socket).encode()) > 100:  # noqa: PLR2004 - sockaddr_un
            raise ValueError("unix_socket is longer than 100 bytes, which the system does not take")
        return self
