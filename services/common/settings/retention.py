"""How long sessions stay where a tenant set nothing else (ADR 0104)."""

from typing import Final, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

SHORTEST_IDLE_S: Final = 3_600


class RetentionSettings(BaseModel):
    """``GROUNDTRAIL_RETENTION__*``: the deployment's rules, and the sweep that does what is due.

    A tenant's administrator may set others (RetentionService).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    idle_expiry_s: int = Field(default=2_592_000, ge=0, le=315_360_000)
    """Seconds without a write after which an open session is ended as EXPIRED; from 3600, 0 = never; default 30 days.
    It is never shorter than ``GROUNDTRAIL_DAG__PENDING_LIFETIME_S``. Nothing is erased by it."""

    erase_after_days: int = Field(default=0, ge=0, le=36_500)
    """Days after its end from which on a session's content is erased for good, as EraseSession does; 1-36500, 0 = never
    (default)."""

    tombstone_after_days: int = Field(default=0, ge=0, le=36_500)
    """Days after its erasure from which on a session's records are replaced by a tombstone; 1-36500, 0 = never
    (default)."""

    sweep_interval_s: float = Field(default=60.0, ge=0.0, le=86_400.0)
    """Seconds between two turns of the sweep, and before the first; up to 86400, 0 = this process does not sweep.
    Processes that share a store take turns: one sweeps at a time."""

    sweep_batch: int = Field(default=100, ge=1, le=10_000)
    """Most sessions that one turn changes; 1-10000. Between two of them the sweep rests four times as long as the first
    took, so that it takes a fifth of a processor at most."""

    @model_validator(mode="after")
    def _not_too_short(self) -> Self:
        if 0 < self.idle_expiry_s < SHORTEST_IDLE_S:
            raise ValueError(f"idle_expiry_s must be 0 or at least {SHORTEST_IDLE_S}")
        return self
