"""From what the detectors suspect to the errors of the document: merged, numbered, in text order (ERCP 1.0 §4.2, §7).

Which finding becomes which type of error with which confidence is decided in ADR 0074; the numbers stand here.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Final

from services.ercp.domain.findings import Finding, FindingKind
from services.ercp.domain.identifiers import derived_uuid
from services.ercp.domain.records import Evidence, Fault
from services.ercp.domain.vocabulary import Detector, ErrorType

MAX_EXCERPT_CHARS: Final = 1_000
MAX_FAULTS: Final = 1_000
REPORTED_FROM: Final = 0.60
"""What is less sure is no error: it could become neither a constraint nor a candidate (§7)."""
EXACT: Final = 0.90
"""Two values were compared and differ."""
DOUBTFUL: Final = 0.55
"""Two values differ and the entailment model sees no contradiction: they may be of different things."""
BELIEVED_FROM: Final = 0.5
"""From this probability on a model's word stands for a finding, below it against it."""
PREDICATE: Final = 0.95
"""A text denies a constraint's predicate: rules, no model."""
CONFIRMED_BY_MODEL: Final = 0.80
"""Two statements give other amounts of one kind, of what may be one thing, and the entailment model bears it out."""
NEGATION: Final = 0.85
SUBSTITUTION: Final = 0.80
CONTRADICTED: Final = 0.80
"""The evidence says otherwise and no probability says how surely."""
STRIPPED: Final = 0.65
FABRICATED: Final = 0.55
"""A name without basis is no error alone: a reasoning may know more than the knowledge base. Of nine findings on five
sets of problems none was right; its sentence stands among the open grounds (ADR 0185)."""
UNSUPPORTED: Final = 0.55
"""So is a claim that the evidence does not bear out: alone it is no error, since the evidence may just be silent. With
a rule that finds its conclusion without a reason it stands as further evidence."""
FABRICATED_KINDS: Final = frozenset({"PERSON", "ORGANISATION", "LAW", "CITATION", "URL", "EMAIL", "PRODUCT"})
"""Names that can be made up. Numbers and dates are the business of values, and places of common knowledge."""
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
            kind, sure = ErrorType.FACTUAL_INCORRECT, _believed(CONTRADICTED, probability)
        case FindingKind.CONTRADICTION:
            kind, sure = ErrorType.CONTRADICTION, _contradiction(finding)
        case FindingKind.FABRICATION:
            kind, sure = ErrorType.FACTUAL_INCORRECT, FABRICATED if finding.detail in FABRICATED_KINDS else 0.0
        case FindingKind.UNSUPPORTED:
            kind, sure = ErrorType.MISSING_JUSTIFICATION, UNSUPPORTED
    source = finding.fact_id or Detector.FACT_CHECK.value
    evidence = Evidence(source, probability, finding.other[:MAX_EXCERPT_CHARS])
    return Suspicion(kind, Detector.FACT_CHECK, round(sure, 6), (evidence,), finding.span)


def _distortion(finding: Finding) -> float:
    if finding.detail in _EXACT_KINDS and finding.exact:
        return _believed(EXACT, finding.probability)
    by_kind = {"NEGATION_FLIP": NEGATION, "ENTITY_SUBSTITUTED": SUBSTITUTION, "CONTEXT_STRIPPED": STRIPPED}
    return _believed(by_kind.get(finding.detail, SUBSTITUTION), finding.probability)


def _contradiction(finding: Finding) -> float:
    if finding.exact:
        return _believed(EXACT, finding.probability)
    return CONTRADICTED if finding.probability is None else finding.probability


def _believed(sure: float, probability: float | None) -> float:
    """Return a rule's confidence, or that of a doubtful finding where the entailment model was asked and denies it."""
    return sure if probability is None or probability >= BELIEVED_FROM else min(sure, DOUBTFUL)


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
    sure = {key: each for key, each in merged.items() if each.confidence >= REPORTED_FROM}
    ordered = sorted(sure.items(), key=lambda item: (item[1].span or (0, 0), item[0][0]))
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
    """Return the sentence, of those in text order, that a span begins in; the span itself when it stands in none."""
    if span is None:
        return None
    place = bisect_right(sentences, span[0], key=itemgetter(0)) - 1
    return sentences[place] if place >= 0 and span[0] < sentences[place][1] else span
