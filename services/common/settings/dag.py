"""Settings of the dag service: limits, tokens, master keys (CRP-SPEC-004 §10-§11; CRP-SPEC-007, -012 facts)."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal, Self

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, SecretStr, field_validator, model_validator

_MASTER_KEY: Final = re.compile("[0-9a-fA-F]{64}")
_NO_KEY: Final = "must hold 64 hex digits"


class DagSettings(BaseModel):
    """How sessions are bounded, signed and verified; environment prefix ``GROUNDTRAIL_DAG__``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_windows: int = Field(default=5, ge=1, le=10_000)
    """Highest window_number of a session (SPEC-004 §11.1); 1-10000, default 5. A session keeps its limits."""

    max_fan_out: int = Field(default=10, ge=1, le=1_000)
    """Most children of one window (SPEC-004 §11.2); 1-1000, default 10."""

    max_dag_nodes: int = Field(default=50, ge=1, le=100_000)
    """Most windows of one session, failed ones included (SPEC-004 §11.3); 1-100000, default 50."""

    max_trace_windows: int = Field(default=1_000, ge=1, le=100_000)
    """Most windows of a session that keeps an ERCP trace, one for each iteration, given up ones included (ADR 0073);
    1-100000, default 1000."""

    max_loop_depth: int = Field(default=5, ge=0, le=100)
    """Deepest agent loop that is accepted (SPEC-004 §15.3); 0-100, default 5."""

    max_session_events: int = Field(default=10_000, ge=1, le=1_000_000)
    """Audit events of one session from which on AppendEvent is refused; the events that the service writes itself are
    never. 1-1000000, default 10000."""

    token_lifetime_s: int = Field(default=3600, ge=1, le=86_400)
    """Seconds until a session token expires (SPEC-004 §10.3), and for which a retired master key still signs as valid;
    1-86400, default 3600."""

    pending_lifetime_s: int = Field(default=900, ge=1, le=86_400)
    """Seconds after which a window that was opened and neither committed nor failed counts as abandoned, so that its
    parent can be continued again; 1-86400, default 900."""

    budget_profile: Literal["spec-004", "spec-012"] = "spec-004"
    """``spec-004``: human review from 0.10, end of session at 0. ``spec-012``: human review below 0.25, end at 0.10.
    With both, from 0.50 down nothing is delegated and the reflexive remedy is forced (ADR 0103)."""

    verify_max_windows: int = Field(default=1_000, ge=1, le=100_000)
    """Windows that one response recomputes; a longer chain is verified up to there and called PARTIAL. Default 1000."""

    master_key_dir: Path | None = None
    """Directory of ``master-<version>.key`` files (64 hex digits each); the highest version signs. Default: ``keys``
    under the store's data directory. Not read when ``master_key`` or ``master_key_command`` is set."""

    create_master_key: bool = True
    """Create ``master-1.key`` (mode 0600, 32 random bytes) when the directory holds no key; default true."""

    master_key_command: tuple[str, ...] = ()
    """Program and arguments, as a JSON list, that give master keys out of a key management system instead of files;
    called with ``current`` or ``get VERSION`` (docs/operations.md). Default: unset."""

    master_key: SecretStr | None = None
    """The signing master key itself, 64 hex digits, instead of files. Default: unset."""

    master_key_version: int = Field(default=1, ge=1)
    """Version number of ``master_key``; default 1. Read only with ``master_key``."""

    previous_master_keys: Mapping[int, SecretStr] = {}
    """Older keys by version, 64 hex digits each: they keep old chains verifiable. Read only with ``master_key``."""

    master_key_rotated_at: AwareDatetime | None = None
    """When ``master_key`` replaced its predecessor; older keys' tokens hold for one token lifetime from then. Needed
    with ``previous_master_keys``."""

    log_name: str = Field(default="localhost/groundtrail", pattern=r"^[^\s+]{1,200}$")
    """First part of the transparency logs' origins: a schema-less URL of this deployment's own, without spaces and plus
    signs. Auditors and witnesses know the logs by it, so set it before the first checkpoint is handed out."""

    @field_validator("master_key")
    @classmethod
    def _of_hex_digits(cls, key: SecretStr | None) -> SecretStr | None:
        if key is not None and not _MASTER_KEY.fullmatch(key.get_secret_value()):
            raise ValueError(_NO_KEY)
        return key

    @field_validator("previous_master_keys")
    @classmethod
    def _each_of_hex_digits(cls, keys: Mapping[int, SecretStr]) -> Mapping[int, SecretStr]:
        if wrong := [
            str(version) for version, key in sorted(keys.items()) if not _MASTER_KEY.fullmatch(key.get_secret_value())
        ]:
            msg = f"{_NO_KEY}; those of version {', '.join(wrong)} do not"
            raise ValueError(msg)
        return keys

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        """Refuse key settings that contradict one another."""
        sources = (self.master_key is not None, self.master_key_dir is not None, bool(self.master_key_command))
        if sum(sources) > 1:
            msg = "set one of master_key, master_key_dir and master_key_command"
            raise ValueError(msg)
        if self.master_key is None:
            if self.previous_master_keys or self.master_key_rotated_at is not None:
                msg = "previous_master_keys and master_key_rotated_at need master_key"
                raise ValueError(msg)
            return self
        if self.previous_master_keys and self.master_key_rotated_at is None:
            msg = "previous_master_keys needs master_key_rotated_at"
            raise ValueError(msg)
        if any(not 1 <= version < self.master_key_version for version in self.previous_master_keys):
            msg = "previous_master_keys must have versions from 1 to below master_key_version"
            raise ValueError(msg)
        return self
