"""What an analysis by the dpe service finds in a candidate, in this service's words (CRP-SPEC-005 §4, §5)."""

from dataclasses import dataclass
from enum import StrEnum, unique


@unique
class FindingKind(StrEnum):
    """Kinds of findings that become errors (ADR 0074)."""

    FABRICATION = "fabrication"
    DISTORTION = "distortion"
    CONTRADICTION = "contradiction"
    CONTRADICTED = "contradicted"
    """A claim whose verdict is CONTRADICTED without a distortion that says how."""
    UNSUPPORTED = "unsupported"


@dataclass(frozen=True, slots=True)
class ClaimSupport:
    """Whether the facts bear a claim out; ``span`` in the candidate, code points."""

    span: tuple[int, int]
    is_supported: bool


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding.

    Attributes:
        span: in the candidate, code points.
        detail: the distortion's type, or the conflicting value's kind; a stable token, empty when there is none.
        probability: of the model that found it, 0.0-1.0; ``None`` when a rule did.
        fact_id: the fact that it rests on; empty when none does.
        other: the fact's sentence, or the other statement of the candidate.
        exact: two values were compared, not two sentences.
    """

    kind: FindingKind
    span: tuple[int, int]
    detail: str = ""
    probability: float | None = None
    fact_id: str = ""
    other: str = ""
    exact: bool = False
