"""One analysis: what comes in, what the models answered (``models``), what the stages found so far.

``Analysis`` is immutable; a stage returns a new one, with its result in ``Outputs``.
"""

from dataclasses import dataclass, field, replace

import numpy as np

from services.common.reading.text_types import Claim, ClaimType, Sentence, SentenceKind, Span
from services.common.taxonomy import GroundingMode, RiskLevel
from services.dpe.domain.constraints import ConstraintVerdict
from services.dpe.domain.facts import EnvelopeFact
from services.dpe.domain.models import ModelAnswers, Vectors
from services.dpe.domain.names import Gazetteer
from services.dpe.domain.opinion_record import AskedLimits
from services.dpe.domain.outcome import StageOutcome
from services.dpe.domain.policy import Policy
from services.dpe.domain.prior_texts import PriorWindow
from services.dpe.domain.regulation.system import AiSystem
from services.dpe.domain.results import Outputs, StageResult
from services.dpe.domain.stage_row import StageKey


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
    disputed: tuple[EnvelopeFact, ...] = field(default=(), repr=False)
    """What tools told that a document contradicts: one side of a disagreement, and no evidence (ADR 0161)."""
    stands_alone: bool = False
    """Nobody was given an answer of any window before this one (ADR 0160)."""
    is_beginning: bool = False
    """The answer goes on: whether it answers its question is not asked yet (ADR 0172)."""
    scored_from: int = 0
    """What ends before is context alone: its claims are read, and get neither distortions nor verdicts (ADR 0123)."""

    @property
    def questions(self) -> tuple[str, ...]:
        """What the answer is to answer: the query or its parts, each once; nothing yet of a beginning (ADR 0172)."""
        every = () if self.is_beginning else self.sub_queries or (self.query,)
        return tuple(part for part in dict.fromkeys(every) if part.strip())

    @property
    def is_first(self) -> bool:
        """Whether nothing was said before: the first window of a session, or one behind which nothing was delivered."""
        return self.window_number == 1 or (self.stands_alone and not self.prior_windows)


@dataclass(frozen=True, slots=True)
class Analysis:
    """The state that the pipeline hands from stage to stage."""

    input: AnalysisInput
    policy: Policy
    gazetteer: Gazetteer
    models: ModelAnswers = field(default_factory=ModelAnswers)
    outputs: Outputs = field(default_factory=Outputs)
    outcomes: tuple[StageOutcome, ...] = ()

    def outcome(self, key: StageKey) -> StageOutcome | None:
        """Return how a stage ended, or ``None`` while it has not."""
        return next((outcome for outcome in self.outcomes if outcome.key == key), None)

    def ended(self, outcome: StageOutcome, *results: StageResult) -> "Analysis":
        """Return the analysis with one more outcome, and what the stage gave; without a result it gave nothing."""
        return replace(self, outputs=self.outputs.with_results(*results), outcomes=(*self.outcomes, outcome))

    def with_results(self, *results: StageResult) -> "Analysis":
        """Return the analysis with some results in place of the former ones of the same stages."""
        return replace(self, outputs=self.outputs.with_results(*results))

    def of_former_facts(self) -> "Analysis | None":
        """Return the analysis with its claims held against the facts that do not hold now; ``None`` where all do."""
        former = self.outputs.attribution.former
        if former is None:
            return None
        found = replace(
            self.outputs.attribution,
            by_claim=former.attributions,
            passages=former.passages,
            alignments=former.alignments,
            quotations=former.quotations,
            former=None,
        )
        return self.with_results(found)

    def is_scored(self, claim: Claim) -> bool:
        """Say whether a claim is more than context."""
        return claim.end > self.input.scored_from

    @property
    def factual_claims(self) -> tuple[Claim, ...]:
        """The FACTUAL claims, in order."""
        return tuple(claim for claim in self.outputs.text.claims if claim.claim_type is ClaimType.FACTUAL)

    @property
    def other_language(self) -> tuple[Sentence, ...]:
        """The sentences in another language than English, which are not judged (ADR 0040)."""
        return tuple(one for one in self.outputs.text.sentences if one.kind is SentenceKind.OTHER_LANGUAGE)

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
