"""What each stage gives: one result for each, its fields ``None`` where they were not computed (ADR 0018).

``Outputs`` holds one result for each stage. A field that is ``None`` says that nothing is known of it; there are no
default scores.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import NoneType
from typing import Final, get_args, get_type_hints

from services.common.ports.recognition import Entity
from services.common.reading.text_types import Claim, Sentence, Value
from services.common.taxonomy import RepetitionLevel, RiskLevel
from services.dpe.domain.constraints import ConstraintOutcome
from services.dpe.domain.facts import FactView
from services.dpe.domain.findings import (
    AlignedValue,
    AnswerPlace,
    Attribution,
    AttributionType,
    Contradiction,
    CrossContradiction,
    Distortion,
    Fabrication,
    Judgement,
    NearFact,
    Omission,
    PiiFinding,
    RiskFloor,
    Verdict,
)
from services.dpe.domain.opinion_record import OpinionRecord
from services.dpe.domain.prior_texts import PriorText
from services.dpe.domain.quotations import Quotation
from services.dpe.domain.register import Register
from services.dpe.domain.regulation.result import Regulatory
from services.dpe.domain.relevant import Relevance
from services.dpe.domain.statements import Statement


@dataclass(frozen=True, slots=True)
class TextReading:
    """Stage 1: what it reads in the answer, the earlier windows and the facts.

    Attributes:
        sentences: of the answer; known before stage 1, as those of ``prior_texts`` are.
        statements: the claims as they are held against each other, in the same order.
        loose_values, loose_names: what stands outside of every claim.
        names_known: the recogniser answered.
    """

    sentences: tuple[Sentence, ...] = ()
    prior_texts: tuple[PriorText, ...] = ()
    claims: tuple[Claim, ...] = ()
    statements: tuple[Statement, ...] = ()
    loose_values: tuple[Value, ...] = ()
    loose_names: tuple[Entity, ...] = ()
    names_known: bool = True
    fact_views: tuple[FactView, ...] = ()


@dataclass(frozen=True, slots=True)
class Comparison:
    """What claims rest on among some of the facts, by claim id; ``quotations`` by sentence (ADR 0109)."""

    attributions: Mapping[str, Attribution]
    passages: Mapping[str, tuple[NearFact, ...]]
    alignments: Mapping[str, tuple[AlignedValue, ...]]
    quotations: Mapping[int, Quotation]


@dataclass(frozen=True, slots=True)
class AttributionResult:
    """Stage 2: what each claim rests on; stage 3 puts right what only facts bear out which do not hold now.

    Attributes:
        by_claim: by claim id.
        grounding_pct: from 0.0 to 1.0 (SPEC-005 §4.4).
        quotations: what stands word for word in a fact, by sentence.
        passages: the facts by which stage 3 judges each claim.
        alignments: for each claim its values with those that stand in their place in any fact near it.
        former: the same as ``by_claim``, ``passages``, ``alignments`` and ``quotations``, which are of the facts that
            hold now, for those that do not; ``None`` where all hold.
        answer_places: what the question asks about, by the claims that mean nothing without it (ADR 0216).
    """

    by_claim: Mapping[str, Attribution] | None = None
    grounding_pct: float | None = None
    dominant: AttributionType | None = None
    grounding_violations: tuple[str, ...] = ()
    quotations: Mapping[int, Quotation] = field(default_factory=dict)
    passages: Mapping[str, tuple[NearFact, ...]] = field(default_factory=dict)
    alignments: Mapping[str, tuple[AlignedValue, ...]] = field(default_factory=dict)
    former: Comparison | None = None
    answer_places: Mapping[str, AnswerPlace] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FabricationResult:
    """Stage 3a: entities of the answer without basis."""

    found: tuple[Fabrication, ...] | None = None


@dataclass(frozen=True, slots=True)
class DistortionResult:
    """Stage 3b: claims that misrepresent their facts.

    Attributes:
        unworded: ids of claims that hold words of the facts and are no sentences (ADR 0095).
        in_cells: ids of claims that say what cells of a table say, and nothing besides (ADR 0169).
    """

    found: tuple[Distortion, ...] | None = None
    unworded: frozenset[str] = frozenset()
    in_cells: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ContradictionResult:
    """Stage 3c: claims of the answer that cannot both be true; pairs that there were and were compared (ADR 0037)."""

    found: tuple[Contradiction, ...] | None = None
    pairs_total: int = 0
    pairs_scored: int = 0


@dataclass(frozen=True, slots=True)
class FidelityResult:
    """Stage 3: one score, and the verdict on each claim.

    Attributes:
        score: SPEC-005 §5.5.
        score_without: what it would be with no constraint violated (ADR 0078).
        verdicts: by claim id, as ``judgements``, which say why.
    """

    score: float | None = None
    score_without: float | None = None
    constraint_outcomes: tuple[ConstraintOutcome, ...] = ()
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)
    judgements: Mapping[str, Judgement] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Entailment:
    """SPEC-005 §6.3 and how many windows of how many were read (ADR 0041).

    Attributes:
        response_chunks: chunks with a claim; the score is the least of theirs.
        quoted_chunks: of these, those that stand word for word in a fact and are entailed by definition.
        chunks_without_claims: sentences that assert nothing and are not counted.
        contradicted_chunks: of the chunks, those with a claim that an exact rule contradicts: not entailed (ADR 0093).
        judged_score: the least score of the chunks that hold a claim which is not SUPPORTED; 1.0 where none does
            (ADR 0121).
    """

    score: float
    neutral: float
    contradiction: float
    response_chunks: int
    premise_windows_total: int
    premise_windows_scored: int
    quoted_chunks: int = 0
    chunks_without_claims: int = 0
    contradicted_chunks: int = 0
    judged_score: float = 1.0


@dataclass(frozen=True, slots=True)
class Risk:
    """SPEC-005 §7; ``signals`` in the order attribution, fidelity, entailment, specificity.

    Attributes:
        level: the worst of that of ``judged_score`` and the floors (ADR 0093, 0121).
        composite_level: §7.4 of the composite alone; ``None`` without one.
        judged_signals, judged_score: the same with SUPPORTED claims counted as borne out (ADR 0121): what the level
            rests on beside the floors.
    """

    signals: tuple[float | None, float | None, float | None, float | None]
    base_score: float | None
    composite_score: float | None
    level: RiskLevel
    degraded: bool
    amplifiers: tuple[str, ...] = ()
    composite_level: RiskLevel | None = None
    floors: tuple[RiskFloor, ...] = ()
    judged_signals: tuple[float | None, float | None, float | None, float | None] = (None, None, None, None)
    judged_score: float | None = None


@dataclass(frozen=True, slots=True)
class FlowSignals:
    """SPEC-005 §11.3, against the window before; the three ratios 0.0-1.0."""

    opening_coherence: float
    topic_continuity: float
    register_consistency: float
    has_transition: bool
    register: Register
    prior_register: Register
    prior_window_id: str


@dataclass(frozen=True, slots=True)
class CoherenceResult:
    """Stage 6: claims that contradict earlier windows; pairs that there were and were compared (ADR 0037)."""

    found: tuple[CrossContradiction, ...] | None = None
    score: float | None = None
    pairs_total: int = 0
    pairs_scored: int = 0


@dataclass(frozen=True, slots=True)
class RepetitionResult:
    """Stage 7: how much earlier windows have said already; ``overlap`` 0.0-1.0."""

    level: RepetitionLevel | None = None
    overlap: float | None = None


@dataclass(frozen=True, slots=True)
class CompletenessResult:
    """Stage 8: which parts of the query the session has answered, and whether this answer answers it (ADR 0096)."""

    score: float | None = None
    uncovered_sub_queries: tuple[str, ...] = ()
    sub_queries_total: int = 0
    relevance: Relevance | None = None


@dataclass(frozen=True, slots=True)
class FlowResult:
    """Stage 9: how the answer reads on from the window before."""

    score: float | None = None
    signals: FlowSignals | None = None


@dataclass(frozen=True, slots=True)
class OmissionResult:
    """Stage 10: important facts that the answer leaves out."""

    found: tuple[Omission, ...] | None = None


@dataclass(frozen=True, slots=True)
class PersonalDataResult:
    """Stage 11: all that was found, whether it counts (ADR 0038), and whether a cache may keep it (SPEC-005 §13.3)."""

    findings: tuple[PiiFinding, ...] | None = None
    gdpr_detected: bool | None = None
    cache_warning: bool = False


@dataclass(frozen=True, slots=True)
class QualityResult:
    """Stage 13: the quality score of SPEC-005 §18.2; ``degraded``: it rests on less than it should."""

    score: float | None = None
    degraded: bool = False


StageResult = (
    TextReading
    | AttributionResult
    | FabricationResult
    | DistortionResult
    | ContradictionResult
    | FidelityResult
    | Entailment
    | Risk
    | CoherenceResult
    | RepetitionResult
    | CompletenessResult
    | FlowResult
    | OmissionResult
    | PersonalDataResult
    | Regulatory
    | QualityResult
)
"""What one stage gives."""


@dataclass(frozen=True, slots=True)
class Outputs:
    """What the stages gave so far, in their order; ``second_opinion`` is asked for after stage 3 (ADR 0119)."""

    text: TextReading = TextReading()
    attribution: AttributionResult = AttributionResult()
    fabrication: FabricationResult = FabricationResult()
    distortion: DistortionResult = DistortionResult()
    contradiction: ContradictionResult = ContradictionResult()
    fidelity: FidelityResult = FidelityResult()
    second_opinion: OpinionRecord | None = None
    entailment: Entailment | None = None
    risk: Risk | None = None
    coherence: CoherenceResult = CoherenceResult()
    repetition: RepetitionResult = RepetitionResult()
    completeness: CompletenessResult = CompletenessResult()
    flow: FlowResult = FlowResult()
    omission: OmissionResult = OmissionResult()
    personal_data: PersonalDataResult = PersonalDataResult()
    regulatory: Regulatory | None = None
    quality: QualityResult = QualityResult()

    def with_results(self, *results: StageResult) -> "Outputs":
        """Return the outputs with some results in place of the former ones of the same stages."""
        changed = {_FIELD_OF[type(result)]: result for result in results}
        return replace(self, **changed)  # type: ignore[arg-type]  # each field is the one of its result's type


_FIELD_OF: Final = {
    kind: name
    for name, hint in get_type_hints(Outputs).items()
    for kind in get_args(hint) or (hint,)
    if kind is not NoneType
}
"""Where a result lies, by its type: one field for each."""
