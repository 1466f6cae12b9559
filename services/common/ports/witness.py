"""A witness of logs, as C2SP tlog-witness describes it: it cosigns heads that go on from those that it has seen."""

from dataclasses import dataclass, field
from enum import StrEnum, unique
from typing import Protocol

from services.common.cosignature import WitnessKey


@unique
class WitnessStatus(StrEnum):
    """What a witness answered."""

    COSIGNED = "cosigned"
    OTHER_SIZE = "other_size"
    """409 with the size that the witness knows."""
    CONFLICT = "conflict"
    """409 without a size: it knows another root of this size. 422: the proof does not hold."""
    REFUSED = "refused"
    """Any other answer: the log or its key is not known there, or the request was not understood."""
    UNREACHABLE = "unreachable"
    FORBIDDEN = "forbidden"
    """The address must not be talked to; nothing was sent."""


@dataclass(frozen=True, slots=True)
class WitnessAnswer:
    """An answer.

    Attributes:
        lines: signature lines, unchecked.
        size: that the witness knows, with OTHER_SIZE.
        problem: for operators; empty when cosigned.
    """

    status: WitnessStatus
    lines: str = field(default="", repr=False)
    size: int = 0
    problem: str = ""


class Witness(Protocol):
    """One configured witness."""

    @property
    def key(self) -> WitnessKey:
        """Its public key."""
        ...

    async def add_checkpoint(self, body: bytes) -> WitnessAnswer:
        """Submit once, within the witness's own time limit. Raises nothing but cancellation."""
        ...

    async def close(self) -> None:
        """Release everything; idempotent."""
        ...
