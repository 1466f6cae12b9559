"""Weights, thresholds and amplifiers: everything tunable that a report's numbers depend on, as one hashed value.

Thresholds that the specification makes normative are constants here with their section; the four risk weights and the
amplifiers are a deployment's own (SPEC-005 §16.3) and come in through ``Policy``.
"""

from dataclasses import asdict, dataclass
from typing import Any, Final

GROUNDED_SIMILARITY: Final = 0.75  # SPEC-005 §4.3, calibrated (ADR 0012)
MIXED_SIMILARITY: Final = 0.60  # SPEC-005 §4.3
SPECIFIC_CLAIM: Final = 0.30  # SPEC-005 §4.3
FABRICATION_COST: Final = 0.30  # SPEC-005 §5.5
DISTORTION_COST: Final = 0.20
CONTRADICTION_COST: Final = 0.15
CRITICAL_RISK: Final = 0.70  # SPEC-005 §7.4
HIGH_RISK: Final = 0.45
MEDIUM_RISK: Final = 0.20
OMISSION_SIMILARITY: Final = 0.60  # SPEC-005 §12.2
OMITTED_MEDIUM: Final = 0.70
OMITTED_HIGH: Final = 0.80
OMITTED_CRITICAL: Final = 0.90
REPEATED_COSINE: Final = 0.92  # SPEC-005 §9.2, raw (ADR 0012)
COVERED_SIMILARITY: Final = 0.70  # SPEC-005 §10.2, calibrated (ADR 0012)
CONTRADICTED_ACROSS: Final = 0.75  # SPEC-005 §8.2, P(contradiction) above which a pair is flagged
OPENING_SIMILARITY: Final = 0.40  # SPEC-005 §11.3, calibrated (ADR 0012)
ALL_PAIRS_LIMIT: Final = 300  # ADR 0037


@dataclass(frozen=True, slots=True)
class Weights:
    """Weights of the four risk signals (SPEC-005 §7.2); they sum to 1.0."""

    attribution: float = 0.35
    fidelity: float = 0.25
    entailment: float = 0.25
    specificity: float = 0.15


@dataclass(frozen=True, slots=True)
class Amplifiers:
    """Factors of SPEC-005 §17, in its order."""

    gdpr_pii: float = 1.30
    eu_high_risk: float = 1.25
    sector: float = 1.15
    loop_depth: float = 1.15
    cross_window_contradiction: float = 1.15
    severe_repetition: float = 1.05


@dataclass(frozen=True, slots=True)
class Policy:
    """What a deployment chose; two reports are comparable when their policies are equal."""

    weights: Weights = Weights()
    amplifiers: Amplifiers = Amplifiers()
    loop_depth_threshold: int = 3
    score_all_pairs: bool = False
    level_floors: bool = True

    def document(self) -> dict[str, Any]:
        """Return policy and normative thresholds as JSON data, the form that is hashed into every report."""
        return {
            **asdict(self),
            "thresholds": {
                name.lower(): value
                for name, value in globals().items()
                if name.isupper() and isinstance(value, int | float)
            },
        }
