"""Settings of the check that the installed code is the one that was released (SPEC-005 §21.1, ADR 0043)."""

from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator


class IntegritySettings(BaseModel):
    """``GROUNDTRAIL_INTEGRITY__*``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    public_key: str = Field(default="", pattern=r"^([0-9a-f]{64})?$")
    """Ed25519 public key of whoever signs builds: 64 lower-case hex digits, got by another way than the build itself.
    Set, a build manifest that is missing, altered or signed by another key stops the process; empty = not checked."""
    manifest_file: Path | None = None
    """A build manifest of the operator's own, for a checkout or other weights; ``None`` = the one inside the wheel."""
    require_signature: bool = False
    """Stop the process unless the build is signed and the signature was checked; needs ``public_key``."""

    @model_validator(mode="after")
    def _checkable(self) -> Self:
        if self.require_signature and not self.public_key:
            raise ValueError("require_signature needs public_key: without it no signature can be checked")
        return self
