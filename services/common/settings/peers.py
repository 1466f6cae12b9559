"""Where the other services are, and how to reach them."""

from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from services.common.settings.addresses import without_credentials


class PeerTlsSettings(BaseModel):
    """The client's side of TLS towards the other services; all PEM."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    ca_file: Path | None = None
    """Authorities that the peers' certificates must lead to; set, peers are dialled with TLS."""
    cert_file: Path | None = None
    """Our client certificate, where the peers ask for one (mTLS)."""
    key_file: Path | None = None
    """The private key of ``cert_file``."""
    server_name: str = ""
    """Name to expect in the peers' certificates instead of the dialled one; empty = the dialled one."""

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if (self.cert_file is None) != (self.key_file is None):
            raise ValueError("cert_file and key_file go together: set both or neither")
        if self.cert_file is not None and self.ca_file is None:
            raise ValueError("a client certificate needs ca_file: without it the peers are dialled in plaintext")
        return self


class PeerSettings(BaseModel):
    """Targets as gRPC writes them: ``host:port``, ``dns:///name:port``, ``unix:/path``. Empty = in this process."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    envelope: str = ""
    """EnvelopeService and KnowledgeService."""
    dpe: str = ""
    """ProvenanceService and GuardService."""
    dag: str = ""
    """SessionService, TransparencyService and RetentionService."""
    ercp: str = ""
    """ErcpService."""
    tls: PeerTlsSettings = PeerTlsSettings()
    """TLS and mTLS towards all of them; unix sockets are always plaintext."""
    timeout_s: float = Field(default=60.0, gt=0, le=3600)
    """Deadline of a call to a peer when our own caller set none, in seconds."""

    @model_validator(mode="after")
    def _addresses_without_secrets(self) -> Self:
        for target in (self.envelope, self.dpe, self.dag, self.ercp):
            if not target.startswith("unix:"):
                without_credentials(target, "peers are called with the caller's own credential")
        return self
