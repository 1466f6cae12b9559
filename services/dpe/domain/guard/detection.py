"""What DetectInjection is asked and what it finds, stage by stage (Director-AI page; ADR 0125)."""

from dataclasses import dataclass, field
from typing import Final

from services.common.injection.combining import BLOCKED_FROM, is_detected
from services.common.injection.searching import Found
from services.common.taxonomy import StageStatus
from services.dpe.domain.guard.intent_divergence import JudgedClaim


@dataclass(frozen=True, slots=True)
class InjectionInput:
    """What to search; ``response`` and ``intent`` are empty where there are none."""

    text: str = field(repr=False)
    intent: str = field(default="", repr=False)
    response: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class StageEnd:
    """How a stage ended."""

    status: StageStatus
    reason: str = ""


COMPLETED: Final = StageEnd(StageStatus.COMPLETED)


@dataclass(frozen=True, slots=True)
class Divergence:
    """Stage 2: the claims, their risk where there is one, and how it ended."""

    end: StageEnd
    claims: tuple[JudgedClaim, ...] = ()
    risk: float | None = None


@dataclass(frozen=True, slots=True)
class Judged:
    """Stage 3: the probability where the classifier gave one, and how it ended."""

    end: StageEnd
    probability: float | None = None


@dataclass(frozen=True, slots=True)
class Detection:
    """What was found."""

    found: Found
    divergence: Divergence
    judged: Judged
    score: float
    threshold: float
    models: tuple[tuple[str, str], ...]

    @property
    def blocked(self) -> bool:
        """Stage 1 alone is sure."""
        return self.found.score >= BLOCKED_FROM

    @property
    def detected(self) -> bool:
        """The threshold as given, or blocked by stage 1."""
        return is_detected(self.score, self.found.score, self.threshold)
