"""From what the detectors suspect to the errors of the document: merged, numbered, in text order (ERCP 1.0 §4.2, §7).

Which finding becomes which type of error with which confidence is decided in ADR 0074; the numbers stand here.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from services.ercp.domain.findings import Finding, FindingKind
from services.ercp.domain.identifiers import derived_uuid
from services.ercp.domain.records import Evidence, Fault
from services.ercp.domain.vocabulary import Detector, ErrorType

MAX_EXCERPT_CHARS: Final = 1_000
MAX_FAULTS: Final = 1_000
EXACT: Final = 0.90
"""Two values were compared and differ."""
PREDICATE: Final = 0.95
"""A text denies a constraint's predicate: rules, no model."""
NEGATION: Final = 0.85
SUBSTITUTION: Final = 0.80
CONTRADICTED: Final = 0.80
"""The evidence says otherwise and no probability says how surely."""
STRIPPED: Final = 0.65
FABRICATED: Final = 0.62
"""A name without basis is a suspicion: a reasoning may know more than the knowledge base."""
UNSUPPORTED_CEILING: Final = 0.74
UNSUPPORTED_FLOOR: Final = 0.60
"""So is a claim that the evidence does not bear out: never sure enough to force a constraint."""
_EXACT_KINDS: Final = frozenset({"NUMBER_CHANGED", "DATE_SHIFTED", "MAGNITUDE_ALTERED"})


@dataclass(frozen=True, slots=True)
class Suspicion:
    """What one detector has against a stretch of text; ``span`` ``None`` = no single place."""

    type: ErrorType
    detector: Detector
    confidence: float
    evidence: tuple[Evidence, ...]
    span: tuple[int, int] | None = None


def suspicion_of(finding: Finding) -> Suspicion:
    """Return a finding of the dpe service as a suspicion (ADR 0074)."""
    probability = finding.probability
    match finding.kind:
        case FindingKind.DISTORTION:
            kind, sure = ErrorType.FACTUAL_INCORRECT, _distortion(finding)
        case FindingKind.CONTRADICTED:
            kind, sure = ErrorType.FACTUAL_INCORRECT, max(CONTRADICTED, probability or 0.0)
        case FindingKind.CONTRADICTION:
            kind, sure = ErrorType.CONTRADICTION, EXACT if finding.exact else (probability or CONTRADICTED)
        case FindingKind.FABRICATION:
            kind, sure = ErrorType.FACTUAL_INCORRECT, FABRICATED
        case FindingKind.UNSUPPORTED:
            bounded = min(UNSUPPORTED_CEILING, max(UNSUPPORTED_FLOOR, probability or 0.0))
            kind, sure = ErrorType.MISSING_JUSTIFICATION, bounded
    source = finding.fact_id or Detector.FACT_CHECK.value
    evidence = Evidence(source, probability, finding.other[:MAX_EXCERPT_CHARS])
    return Suspicion(kind, Detector.FACT_CHECK, round(sure, 6), (evidence,), finding.span)


def _distortion(finding: Finding) -> float:
    if finding.detail in _EXACT_KINDS and finding.exact:
        return EXACT
    by_kind = {"NEGATION_FLIP": NEGATION, "ENTITY_SUBSTITUTED": SUBSTITUTION, "CONTEXT_STRIPPED": STRIPPED}
    return by_kind.get(finding.detail, SUBSTITUTION)


def faults_of(
    suspicions: Iterable[Suspicion], text: str, sentences: Sequence[tuple[int, int]], name: str
) -> tuple[Fault, ...]:
    """Return the errors: what several detectors have against one sentence for one reason is one error.

    Args:
        suspicions: of all detectors.
        text: what was verified.
        sentences: its sentences, as offsets.
        name: of this verification; the errors' ids follow from it.
    """
    merged: dict[tuple[str, tuple[int, int] | None], Suspicion] = {}
    detectors: dict[tuple[str, tuple[int, int] | None], set[Detector]] = {}
    for each in suspicions:
        key = (each.type.value, _home(each.span, sentences))
        held = merged.get(key)
        detectors.setdefault(key, set()).add(each.detector)
        merged[key] = each if held is None else _joined(held, each)
    ordered = sorted(merged.items(), key=lambda item: (item[1].span or (0, 0), item[0][0]))
    return tuple(
        Fault(
            error_id=derived_uuid(name, "error", str(number)),
            type=each.type,
            confidence=each.confidence,
            detected_by=tuple(sorted(detectors[key])),
            evidence=each.evidence,
            span=each.span,
            excerpt="" if each.span is None else text[slice(*each.span)][:MAX_EXCERPT_CHARS],
        )
        for number, (key, each) in enumerate(ordered[:MAX_FAULTS])
    )


def _joined(first: Suspicion, second: Suspicion) -> Suspicion:
    """Return the surer of two, with the evidence of both, its own first."""
    best, other = (first, second) if first.confidence >= second.confidence else (second, first)
    extra = tuple(each for each in other.evidence if each not in best.evidence)
    return replace(best, evidence=(*best.evidence, *extra))


def _home(span: tuple[int, int] | None, sentences: Sequence[tuple[int, int]]) -> tuple[int, int] | None:
    """Return the sentence that a span begins in; the span itself when it stands in none."""
    if span is None:
        return None
    return next((each for each in sentences if each[0] <= span[0] < each[1]), span)
