"""The process that holds the log's key (ADR 0100)."""

from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator


class LogSignerSettings(BaseModel):
    """``GROUNDTRAIL_LOG_SIGNER__*``: heads of the log are signed by a process of its own, ``groundtrail log-signer``.

    Without ``socket`` the dag service signs them itself, with a key that is derived from the master key (ADR 0053).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    socket: Path | None = None
    """Unix socket of the process. Default: none. The log's public key changes with this setting: hand the new one to
    whoever holds the old one."""

    credential_file: Path | None = None
    """File with the credential that the process knows too: at least 32 characters, readable by its owner alone. Needed
    with ``socket``; read at every call."""

    timeout_s: float = Field(default=5.0, gt=0.0, le=60.0)
    """Longest wait for an answer, in seconds, up to 60."""

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if (self.socket is None) != (self.credential_file is None):
            raise ValueError("socket and credential_file go together: set both or neither")
        return self
