"""One analysis: what comes in, what the models answered, what the stages found so far.

``Analysis`` is immutable; a stage returns a new one. ``Outputs`` holds ``None`` for everything that was not computed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from services.common.ports.embedding import Calibration
from services.common.ports.grounding import GroundingRequest, GroundingVerdict
from services.common.ports.personal_data import PersonalData, RecognisedText
from services.common.ports.recognition import Entity
from services.common.reading.text_types import Claim, ClaimType, Sentence, SentenceKind, Span, Value
from services.common.taxonomy import GroundingMode, RepetitionLevel, RiskLevel
from services.dpe.domain.constraints import ConstraintOutcome, ConstraintVerdict
from services.dpe.domain.facts import EnvelopeFact, FactView
from services.dpe.domain.findings import (
    AlignedValue,
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
from services.dpe.domain.names import Gazetteer
from services.dpe.domain.opinion_record import AskedLimits, OpinionRecord
from services.dpe.domain.outcome import StageKey, StageOutcome
from services.dpe.domain.policy import Policy
from services.dpe.domain.quotations import Quotation
from services.dpe.domain.register import Register
from services.dpe.domain.regulation.result import Regulatory
from services.dpe.domain.regulation.system import AiSystem
from services.dpe.domain.relevant import Relevance
from services.dpe.domain.statements import Statement

Vectors = NDArray[np.float32]
Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class PriorWindow:
    """An earlier window's answer, or a verified summary of it."""

    window_id: str
    window_number: int
    text: str = field(repr=False)
    is_summary: bool = False


@dataclass(frozen=True, slots=True)
class PriorText:
    """An earlier window that has words, as the stages read it; offsets are in its own text."""

    window: PriorWindow
    sentences: tuple[Sentence, ...]
    claims: tuple[Claim, ...] = ()

    @property
    def sentence_texts(self) -> list[str]:
        """The texts of its sentences, in order."""
        return [self.window.text[sentence.start : sentence.end] for sentence in self.sentences]


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Current facts, by id, that give different values for the same thing, with the values as they write them."""

    values: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class AnalysisInput:
    """Everything an analysis depends on but models and policy; all text is data.

    Attributes:
        incomplete_level: the least level of an analysis that a deadline cut short; ``None`` = none is asked for.
    """

    session_id: str
    window_id: str
    window_number: int
    query: str = field(repr=False)
    answer: str = field(repr=False)
    facts: tuple[EnvelopeFact, ...] = field(repr=False)
    grounding_mode: GroundingMode = GroundingMode.CONTEXT_PREFERRED
    prior_windows: tuple[PriorWindow, ...] = ()
    sub_queries: tuple[str, ...] = ()
    loop_depth: int = 0
    ai_system_id: str = ""
    ai_system: AiSystem | None = None
    audit_trail_id: str = ""
    envelope_etag: str = ""
    embedding_model: str = ""
    windows_remaining: int = 0
    cache_no_cache: bool = False
    prompt: str = field(default="", repr=False)
    cache_no_store: bool = False
    constraint_verdicts: tuple[ConstraintVerdict, ...] = ()
    incomplete_level: RiskLevel | None = None
    leans_on: tuple[str, ...] = field(default=(), repr=False)
    """Questions of the session that the query leans on, nearest first (ADR 0096)."""
    disagreements: tuple[Disagreement, ...] = ()
    """What the envelope says that its current facts disagree on (ADR 0109)."""
    opinion_limits: AskedLimits | None = None
    """What a second opinion may cost at most; ``None`` = what the deployment allows (ADR 0119)."""


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
class Coverage:
    """Pairs that were there and pairs that were compared (ADR 0037)."""

    pairs_total: int = 0
    pairs_scored: int = 0
    cross_window_pairs_total: int = 0
    cross_window_pairs_scored: int = 0


@dataclass(frozen=True, slots=True)
class Comparison:
    """What claims rest on among some of the facts, by claim id; ``quotations`` by sentence (ADR 0109)."""

    attributions: Mapping[str, Attribution]
    passages: Mapping[str, tuple[NearFact, ...]]
    alignments: Mapping[str, tuple[AlignedValue, ...]]
    quotations: Mapping[int, Quotation]


@dataclass(frozen=True, slots=True)
class Outputs:
    """What the stages gave; ``None`` where one did not run.

    Attributes:
        statements: the claims as they are held against each other, in the same order.
        alignments: for each claim its values with those that stand in their place in any fact near it.
        former: the same as ``attributions``, ``passages``, ``alignments`` and ``quotations``, which are of the facts
            that hold now, for those that do not; ``None`` where all hold.
        fidelity_score_without: what it would be with no constraint violated (ADR 0078).
    """

    sentences: tuple[Sentence, ...] = ()
    prior_texts: tuple[PriorText, ...] = ()
    claims: tuple[Claim, ...] = ()
    statements: tuple[Statement, ...] = ()
    loose_values: tuple[Value, ...] = ()
    loose_names: tuple[Entity, ...] = ()
    names_known: bool = True
    fact_views: tuple[FactView, ...] = ()
    attributions: Mapping[str, Attribution] | None = None
    grounding_pct: float | None = None
    dominant: AttributionType | None = None
    grounding_violations: tuple[str, ...] = ()
    fabrications: tuple[Fabrication, ...] | None = None
    distortions: tuple[Distortion, ...] | None = None
    unworded: frozenset[str] = frozenset()
    contradictions: tuple[Contradiction, ...] | None = None
    quotations: Mapping[int, Quotation] = field(default_factory=dict)
    passages: Mapping[str, tuple[NearFact, ...]] = field(default_factory=dict)
    alignments: Mapping[str, tuple[AlignedValue, ...]] = field(default_factory=dict)
    former: Comparison | None = None
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)
    judgements: Mapping[str, Judgement] = field(default_factory=dict)
    coverage: Coverage = Coverage()
    fidelity_score: float | None = None
    fidelity_score_without: float | None = None
    constraint_outcomes: tuple[ConstraintOutcome, ...] = ()
    entailment: Entailment | None = None
    risk: Risk | None = None
    cross_window_contradictions: tuple[CrossContradiction, ...] | None = None
    coherence_score: float | None = None
    repetition_level: RepetitionLevel | None = None
    repetition_overlap: float | None = None
    completeness_score: float | None = None
    uncovered_sub_queries: tuple[str, ...] = ()
    sub_queries_total: int = 0
    relevance: Relevance | None = None
    omissions: tuple[Omission, ...] | None = None
    flow_score: float | None = None
    flow_signals: FlowSignals | None = None
    quality_score: float | None = None
    quality_degraded: bool = False
    pii_findings: tuple[PiiFinding, ...] | None = None
    gdpr_pii_detected: bool | None = None
    pii_cache_warning: bool = False
    regulatory: Regulatory | None = None
    second_opinion: OpinionRecord | None = None


@dataclass(frozen=True, slots=True)
class VectorTable:
    """Unit vectors by text."""

    index: Mapping[str, int]
    rows: Vectors
    calibration: Calibration

    def of(self, texts: Sequence[str]) -> Vectors:
        """Return the rows of the texts, in order.

        Raises:
            KeyError: a text was not asked for.
        """
        return self.rows[[self.index[text] for text in texts]]

    def extended(self, texts: Sequence[str], rows: Vectors) -> "VectorTable":
        """Return a table that also holds the rows of further texts."""
        index = {**self.index, **{text: len(self.rows) + row for row, text in enumerate(texts)}}
        return VectorTable(index, np.concatenate([self.rows, rows]), self.calibration)


@dataclass(frozen=True, slots=True)
class Models:
    """What the models answered so far; ``None`` = failed, or not configured.

    Attributes:
        entailment_tokens: what the entailment encoder reads at most; ``None`` = none is configured.
        grounding_configured: there is a grounding model, whether or not it answers.
        recognised: entities by text.
        vectors: embeddings by text.
        classified: probabilities of entailment, neutral and contradiction by (premise, hypothesis).
        judged: what the grounding model says, by request.
        personal_data_configured: there is a detector of personal data, whether or not it answers.
        personal_data: what it found, by text.
        fingerprints: role and fingerprint of each configured model.
    """

    entailment_tokens: int | None = None
    grounding_configured: bool = False
    recognised: Mapping[str, tuple[Entity, ...]] | None = None
    vectors: VectorTable | None = None
    classified: Mapping[Pair, NDArray[np.float32]] | None = None
    judged: Mapping[GroundingRequest, GroundingVerdict] | None = None
    personal_data_configured: bool = False
    personal_data: Mapping[RecognisedText, tuple[PersonalData, ...]] | None = None
    fingerprints: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Requests:
    """What a stage needs the models to answer; one batch for each model."""

    recognise: tuple[str, ...] = ()
    embed: tuple[str, ...] = ()
    classify: tuple[Pair, ...] = ()
    judge: tuple[GroundingRequest, ...] = ()
    detect: tuple[RecognisedText, ...] = ()

    def and_(self, other: "Requests") -> "Requests":
        """Return both, as one batch for each model."""
        return Requests(
            self.recognise + other.recognise,
            self.embed + other.embed,
            self.classify + other.classify,
            self.judge + other.judge,
            self.detect + other.detect,
        )


@dataclass(frozen=True, slots=True)
class Analysis:
    """The state that the pipeline hands from stage to stage."""

    input: AnalysisInput
    policy: Policy
    gazetteer: Gazetteer
    models: Models = Models()
    outputs: Outputs = Outputs()
    outcomes: tuple[StageOutcome, ...] = ()

    def outcome(self, key: StageKey) -> StageOutcome | None:
        """Return how a stage ended, or ``None`` while it has not."""
        return next((outcome for outcome in self.outcomes if outcome.key == key), None)

    def ended(self, outcome: StageOutcome, **found: Any) -> "Analysis":
        """Return the analysis with one more outcome and the stage's outputs."""
        return replace(self, outputs=replace(self.outputs, **found), outcomes=(*self.outcomes, outcome))

    def segmented(self, found: tuple[Sentence, ...], priors: tuple[PriorText, ...] = ()) -> "Analysis":
        """Return the analysis with the sentences of the answer and of earlier windows."""
        return replace(self, outputs=replace(self.outputs, sentences=found, prior_texts=priors))

    def quoting(self, found: Mapping[int, Quotation]) -> "Analysis":
        """Return the analysis with the sentences of the answer that stand word for word in a fact, by number."""
        return replace(self, outputs=replace(self.outputs, quotations=found))

    def of_former_facts(self) -> "Analysis | None":
        """Return the analysis with its claims held against the facts that do not hold now; ``None`` where all do."""
        former = self.outputs.former
        if former is None:
            return None
        found = replace(
            self.outputs,
            attributions=former.attributions,
            passages=former.passages,
            alignments=former.alignments,
            quotations=former.quotations,
            former=None,
        )
        return replace(self, outputs=found)

    @property
    def factual_claims(self) -> tuple[Claim, ...]:
        """The FACTUAL claims, in order."""
        return tuple(claim for claim in self.outputs.claims if claim.claim_type is ClaimType.FACTUAL)

    @property
    def other_language(self) -> tuple[Sentence, ...]:
        """The sentences in another language than English, which are not judged (ADR 0040)."""
        return tuple(one for one in self.outputs.sentences if one.kind is SentenceKind.OTHER_LANGUAGE)

    def text_of(self, sentence: Sentence | Span | Claim) -> str:
        """Return the answer between the offsets."""
        return self.input.answer[sentence.start : sentence.end]


def fact_vectors(analysis: Analysis) -> Vectors:
    """Return the facts' vectors in envelope order, as given or as embedded."""
    table = analysis.models.vectors
    if table is None:
        msg = "no vectors"
        raise ValueError(msg)
    return np.stack(
        [
            fact.embedding if fact.embedding is not None else table.rows[table.index[fact.content]]
            for fact in analysis.input.facts
        ]
    )
