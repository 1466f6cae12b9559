"""Where signed heads of the transparency logs go on a schedule: a file, an endpoint, witnesses (ADR 0100)."""

from pathlib import Path
from typing import TYPE_CHECKING, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from services.common.settings.outgoing import check_outgoing, host_of

if TYPE_CHECKING:
    from services.common.cosignature import WitnessKey


class WitnessSettings(BaseModel):
    """One witness (C2SP tlog-witness)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    key: str
    """Its public key, ``name+id+base64``, as `groundtrail witness key` prints it."""

    url: str
    """Its submission prefix; ``/add-checkpoint`` is added."""

    @property
    def host(self) -> str:
        """The url's host."""
        return host_of(self.url)

    @property
    def parsed_key(self) -> "WitnessKey":
        """The key; ValueError when it is none."""
        from services.common.cosignature import WitnessKey

        return WitnessKey.parse(self.key)

    @model_validator(mode="after")
    def _possible(self) -> Self:
        _ = self.parsed_key
        return self


class CheckpointSettings(BaseModel):
    """``GROUNDTRAIL_CHECKPOINTS__*``: each tenant's log that grew has its signed head sent out, over and over.

    Nothing is sent while ``file``, ``url`` and ``witnesses`` are empty. A head that could not be delivered is not kept:
    the next attempt takes the newest.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    interval_s: float = Field(default=60.0, gt=0.0, le=86_400.0)
    """Seconds between two rounds; up to a day."""

    file: Path | None = None
    """File that each head is appended to as one JSON line; its owner's alone. Put it where the server may append and
    not rewrite. Default: none."""

    url: str = ""
    """Where heads are posted as signed notes, ``https://host/path``; ``http`` only to a loopback address. Empty = none.
    It is logged: keep secrets out of it."""

    witnesses: tuple[WitnessSettings, ...] = ()
    """Who is asked to cosign: a JSON list of objects with ``key`` and ``url``, as
    ``[{"key": "witness.example/w1+…", "url": "https://witness.example/"}]``."""

    min_cosignatures: int = Field(default=1, ge=1, le=100)
    """Cosignatures that a head needs to be kept and shown as the cosigned one; at most the number of witnesses."""

    allowed_hosts: tuple[str, ...] = ()
    """Hosts that may be talked to; a JSON list. That of ``url`` and those of the witnesses must be among them."""

    private_hosts: tuple[str, ...] = ()
    """Those of ``allowed_hosts`` that may have a private or loopback address; a JSON list."""

    tenants: tuple[str, ...] = ()
    """Tenants whose heads are sent; a JSON list, empty = every tenant of the store."""

    signing_key_file: Path | None = None
    """File with the key of the HMAC-SHA256 over each body that is posted to ``url``, as for the event sink. Needed with
    ``url``."""

    bearer_token_file: Path | None = None
    """File with a token that is sent to ``url`` as ``Authorization: Bearer``. Default: none."""

    ca_file: Path | None = None
    """PEM certificates to trust instead of the system's. Default: none."""

    timeout_s: float = Field(default=10.0, gt=0.0, le=300.0)
    """Longest wait for one answer, in seconds, up to 300."""

    retry_first_s: float = Field(default=1.0, gt=0.0, le=60.0)
    """Longest pause after a round in which something failed, in seconds; it doubles with each further one, and each
    pause is a random part of it."""

    retry_max_s: float = Field(default=300.0, gt=0.0, le=3600.0)
    """Bound of that doubling, in seconds."""

    @property
    def wanted(self) -> bool:
        """Whether there is anywhere to send heads to."""
        return bool(self.file or self.url or self.witnesses)

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if self.url:
            check_outgoing("url", self.url, self.allowed_hosts, self.private_hosts)
            if self.signing_key_file is None:
                raise ValueError("url needs signing_key_file: without it nobody can tell who sent a head")
        for witness in self.witnesses:
            check_outgoing("witnesses", witness.url, self.allowed_hosts, self.private_hosts)
        keys = [witness.parsed_key for witness in self.witnesses]
        if len({key.public_key for key in keys}) != len(keys) or len({key.name for key in keys}) != len(keys):
            raise ValueError("witnesses: two have the same name or key")
        if self.witnesses and self.min_cosignatures > len(self.witnesses):
            raise ValueError("min_cosignatures is more than there are witnesses")
        return self
