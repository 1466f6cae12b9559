"""The endpoint that audit events are streamed to (ADR 0057)."""

from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from services.common.settings.outgoing import check_outgoing, host_of


class EventSinkSettings(BaseModel):
    """``GROUNDTRAIL_EVENT_SINK__*``: every audit event goes to one HTTP endpoint, at least once and in order.

    An empty ``url`` means that nothing is streamed.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    url: str = ""
    """Where batches are posted, ``https://host/path``; ``http`` only to a loopback address. Empty = no sink. It is
    logged: keep secrets out of it."""

    format: Literal["ndjson", "ocsf"] = "ndjson"
    """Lines as ``groundtrail export`` writes them: this contract's fields, or OCSF 1.5.0."""

    with_reports: bool = False
    """Whether each DPE_COMPLETED event carries its whole report (CRP-SPEC-005 §15.4): as ``report``, in OCSF as
    ``unmapped.crp_report``. A report holds the words of claims; by default none leaves the store."""

    allowed_hosts: tuple[str, ...] = ()
    """Hosts that may be talked to, as they stand in ``url``; a JSON list. The url's host must be among them."""

    private_hosts: tuple[str, ...] = ()
    """Those of ``allowed_hosts`` that may have a private or loopback address; a JSON list. Any other host that resolves
    to one is refused, at every attempt."""

    tenants: tuple[str, ...] = ()
    """Tenants whose events are streamed; a JSON list, empty = every tenant of the store."""

    signing_key_file: Path | None = None
    """File with the key of the HMAC-SHA256 over each body: at least 32 characters, readable by its owner alone. Needed
    with ``url``; read again at every attempt, so that it can be changed while the service runs."""

    bearer_token_file: Path | None = None
    """File with a token that is sent as ``Authorization: Bearer``; as ``signing_key_file``. Default: none."""

    ca_file: Path | None = None
    """PEM certificates to trust instead of the system's. Default: none."""

    batch_events: int = Field(default=500, ge=1, le=10_000)
    """Most events of one request; 1-10,000."""

    batch_bytes: int = Field(default=1024 * 1024, ge=1024, le=64 * 1024 * 1024)
    """Most bytes of one request's body, but a single event is sent whatever its size; 1,024-67,108,864."""

    poll_interval_s: float = Field(default=1.0, gt=0.0, le=60.0)
    """Seconds between two looks for new events; up to 60."""

    timeout_s: float = Field(default=10.0, gt=0.0, le=300.0)
    """Longest wait for one attempt, in seconds, up to 300."""

    retry_first_s: float = Field(default=0.5, gt=0.0, le=60.0)
    """Longest pause after the first failed attempt, in seconds; it doubles with each further one, and each pause is a
    random part of it."""

    retry_max_s: float = Field(default=60.0, gt=0.0, le=3600.0)
    """Bound of that doubling, in seconds. The endpoint's own Retry-After is kept to beyond it, up to an hour."""

    lease_s: float = Field(default=30.0, ge=1.0, le=600.0)
    """Seconds after which another process takes over from one that died; 1-600."""

    stop_grace_s: float = Field(default=5.0, ge=0.0, le=60.0)
    """How long a stop waits for an attempt that is under way, in seconds; 0-60. What is cut off is sent again later."""

    @property
    def host(self) -> str:
        """The url's host, lower case, without brackets."""
        return host_of(self.url)

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if not self.url:
            return self
        check_outgoing("url", self.url, self.allowed_hosts, self.private_hosts)
        if self.signing_key_file is None:
            raise ValueError("url needs signing_key_file: without it nobody can tell who sent a batch")
        return self
