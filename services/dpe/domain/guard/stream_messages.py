"""What a client of stream oversight says, and what it is told (Director-AI page, D5; ADR 0123)."""

from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from services.common.streaming.halting import Halt, Summary
from services.common.streaming.oversight import Step
from services.common.streaming.rules import HaltRules
from services.dpe.domain.guard.coherence import Exhibit
from services.dpe.domain.guard.coherence_grounds import GroundText


@dataclass(frozen=True, slots=True)
class Start:
    """How a stream begins.

    Attributes:
        oversight_id: empty for one that cannot be resumed.
        strict: what is merely not borne out counts as well.
    """

    prompt: str = field(repr=False)
    facts: tuple[GroundText, ...] = field(repr=False)
    rules: HaltRules
    score_every_tokens: int = 1
    oversight_id: str = ""
    strict: bool = False


@dataclass(frozen=True, slots=True)
class Resume:
    """Which stream goes on, and the last event that its client has."""

    oversight_id: str
    after: int


class Token(NamedTuple):
    """A token of the stream."""

    index: int  # type: ignore[assignment]  # a tuple's method of that name is not missed
    text: str


@dataclass(frozen=True, slots=True)
class End:
    """No token follows."""


Message: TypeAlias = Start | Resume | Token | End


@dataclass(frozen=True, slots=True)
class Halted:
    """The stream must stop; ``evidence`` is what the last scores rest on."""

    halt: Halt
    evidence: tuple[Exhibit, ...]


@dataclass(frozen=True, slots=True)
class Ended:
    """How the stream ended.

    Attributes:
        released: index of the last token that may be delivered; -1 = none.
        sentences: that were scored.
        reason: why something is missing, a stable token; empty when nothing is.
    """

    summary: Summary
    released: int
    sentences: int
    reason: str
    models: tuple[tuple[str, str], ...]


class Event(NamedTuple):
    """What a client is told; ``number`` counts from 1."""

    number: int
    told: "Step | Halted | Ended"
