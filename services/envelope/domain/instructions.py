"""Text that speaks to a language model rather than to a reader: how instructions are injected (SPEC-003 §16, ADR 0113).

The search itself is that of every service, ``services.common.injection``; here stands from which weight on a text
counts, and what becomes of it by policy (ADR 0145). Words that are quoted or reported keep too little of their weight:
a manual of security holds the same words, and is none.
"""

from dataclasses import dataclass, field
from enum import StrEnum, unique
from typing import Final, Literal

from services.common.injection.masking import Finding, finding_of, masked

OVERRIDES: Final = "overrides instructions"
FORGES: Final = "forges a speaker"
ROLE: Final = "changes the model's role"
EXFILTRATES: Final = "asks for secrets"
CONTROLS: Final = "holds characters that hide or turn text"
STEERS: Final = "tells a model what to answer"
TOLD_FROM: Final = 0.5
"""Least weight of a match that counts."""
MAX_CHARS: Final = 100_000
IngestionPolicy = Literal["report", "quarantine", "mask"]


@unique
class Treatment(StrEnum):
    """What is done with a text that speaks to a model."""

    REPORTED = "reported"
    QUARANTINED = "quarantined"
    LEFT_OUT = "left_out"
    MASKED = "masked"


@dataclass(frozen=True, slots=True)
class Written:
    """A text as it becomes a fact.

    Attributes:
        content: what is written.
        finding: what speaks to a model in the text as it came; ``None`` for ordinary text.
        treatment: what is done with it; of no meaning without a finding.
    """

    content: str = field(repr=False)
    finding: Finding | None = None
    treatment: Treatment = Treatment.REPORTED


@dataclass(frozen=True, slots=True)
class SuspectedFact:
    """A candidate of an envelope that speaks to a model."""

    fact_id: str
    carried_from_window_id: str
    finding: Finding
    treatment: Treatment


def found_in(text: str) -> Finding | None:
    """Return what in a text speaks to a model; ``None`` for ordinary text. Linear in it."""
    return finding_of(text[:MAX_CHARS], TOLD_FROM)


def why_suspected(text: str) -> tuple[str, ...]:
    """Return what in a text speaks to a model, for people; nothing for ordinary text. Linear in it."""
    finding = found_in(text)
    return () if finding is None else finding.tells


def as_written(text: str, policy: IngestionPolicy) -> Written:
    """Return a text as it becomes a fact under a policy; one of which a mask leaves nothing is quarantined whole."""
    if policy != "mask":
        treatment = Treatment.QUARANTINED if policy == "quarantine" else Treatment.REPORTED
        return Written(text, found_in(text), treatment)
    found = masked(text, TOLD_FROM)
    if found.is_empty:
        return Written(text, found.finding, Treatment.QUARANTINED)
    return Written(found.text, found.finding, Treatment.MASKED)
