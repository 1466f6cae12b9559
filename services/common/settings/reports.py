"""Where violation reports go (CRP-SPEC-006 facts; ADR 0149)."""

from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from services.common.settings.outgoing import check_outgoing


class ReportSettings(BaseModel):
    """``GROUNDTRAIL_REPORTS__*``: what ``report-uri`` and ``report-to`` may name, and how reports are sent."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    enabled: bool = True
    """Whether reports are sent. A request that asks for one is told where it is not."""

    allowed_hosts: tuple[str, ...] = ()
    """Hosts that may get reports, for every tenant; a JSON list. A tenant's own ``allowed_sink_hosts`` are added."""

    private_hosts: tuple[str, ...] = ()
    """Hosts that may have a private or loopback address; a JSON list. Any other host that resolves to one is refused,
    at every attempt, whoever allowed it. Plain http is talked to these alone, at loopback addresses."""

    groups: dict[str, str] = {}
    """Urls by the names that ``report-to`` may use; a JSON object. Their hosts must be among ``allowed_hosts``."""

    signing_key_file: Path | None = None
    """File with the Ed25519 seed that reports are signed with: 64 hex digits, readable by its owner alone. Default:
    ``keys/violation-reports.key`` under the data directory, made when it is first needed."""

    signer_name: str = Field(default="groundtrail/violation-reports", pattern=r"^[^\s+]{1,255}$")
    """Name of that key in signatures: without spaces and plus signs."""

    ca_file: Path | None = None
    """PEM certificates to trust instead of the system's. Default: none."""

    max_queued: int = Field(default=10_000, ge=1, le=1_000_000)
    """Most reports that wait or lie dead; a further one is not taken, and its response says so. Default 10000."""

    max_attempts: int = Field(default=8, ge=1, le=100)
    """Attempts before a report is dead: refused, or nobody answers. Default 8."""

    max_hosts: int = Field(default=16, ge=1, le=256)
    """Hosts that are talked to at once, one report each; a slow one keeps no other waiting. Default 16."""

    poll_interval_s: float = Field(default=1.0, gt=0.0, le=60.0)
    """Seconds between two looks for what is due again; up to 60."""

    timeout_s: float = Field(default=10.0, gt=0.0, le=300.0)
    """Longest wait for one attempt, in seconds, up to 300."""

    retry_first_s: float = Field(default=1.0, gt=0.0, le=60.0)
    """Longest pause after the first failed attempt, in seconds; it doubles with each further one, and each pause is a
    random part of it."""

    retry_max_s: float = Field(default=300.0, gt=0.0, le=3600.0)
    """Bound of that doubling, in seconds."""

    @model_validator(mode="after")
    def _possible(self) -> Self:
        for name, url in self.groups.items():
            if not name or any(not "!" <= character <= "~" or character == ";" for character in name):
                raise ValueError("groups: a name must be printable ASCII without spaces and semicolons")
            check_outgoing(f"groups[{name}]", url, self.allowed_hosts, self.private_hosts)
        return self
