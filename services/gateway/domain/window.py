"""What the gateway knows of one window on its way: opened, given context, analysed, committed.

The values are read from the other services' answers. Two of them travel through unread: the envelope as the message
that came, and the report as the serialised message that its owner made, so that what is hashed later is what was made
(SPEC-004 §9).
"""

from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import NewType

from services.common.envelope_request import CarriedText
from services.common.taxonomy import (
    BreakerState,
    ChainIntegrity,
    Degradation,
    DispatchStrategy,
    QualityTier,
    RepetitionLevel,
    RetrievalMode,
    RiskLevel,
    StageStatus,
)
from services.gateway.domain.quality import QualityGap
from services.gateway.domain.remedy_plan import RemedyPlan
from services.gateway.domain.suspicion import Suspicion


@dataclass(frozen=True, slots=True)
class Parent:
    """What one parent hands on (SPEC-004 §8); ``response_text`` is empty for FACTS_ONLY.

    Attributes:
        summary_tokens: N of SPEC-004 §12.2 when the transfer is SUMMARY; 0 otherwise.
        fallback_text: what flows as RESULT_ONLY when no summary passes; empty unless the transfer is SUMMARY.
        transferred_tokens: that flow as the parent was opened.
    """

    window_id: str
    response_text: str
    transfer_type: str
    deferred_fact_ids: tuple[str, ...]
    transferred_fact_ids: tuple[str, ...] = ()
    summary_tokens: int = 0
    fallback_text: str = ""
    transferred_tokens: int = 0


@dataclass(frozen=True, slots=True)
class PriorWindow:
    """An earlier window's answer, or a verified summary of it; empty where it was erased.

    Attributes:
        query: the question that it answers; empty where it was erased or not kept.
    """

    window_id: str
    window_number: int
    text: str
    is_summary: bool = False
    query: str = ""


@dataclass(frozen=True, slots=True)
class WindowPlace:
    """Where a window stands: its session, its number and the session's limit (SPEC-004 §11.1)."""

    session_id: str
    window_id: str
    window_number: int
    max_windows: int
    loop_depth: int
    parent_session_id: str

    @property
    def windows_remaining(self) -> int:
        """Return how many windows may follow this one in a line."""
        return max(0, self.max_windows - self.window_number)


@dataclass(frozen=True, slots=True)
class OpenedWindow:
    """A PENDING window and what it starts from.

    Attributes:
        facts_seen: ids of facts that earlier envelopes held (SPEC-003 §14.2).
        notes: why a better transfer of a parent's answer was passed over; never content.
        audit_trail_id: the trail in which the opening was recorded; empty where none is kept.
        degradation: trend of the quality history up to the parents (SPEC-004 §13.2).
        draft_key: seals what is kept of the window until its commit; empty from a dag service that gives none.
        fresh: this call opened it. Else it was opened before, under the same request id, and may have ended since.
        breaker: circuit breaker at the budget that it starts with.
        safety_budget: that budget; ``halt_reason`` is SAFETY_BUDGET_DEPLETED when it ends a session, else empty.
        agents_left_out: sessions of agents that had no answer to merge (SPEC-004 §15.1).
    """

    place: WindowPlace
    parents: tuple[Parent, ...]
    facts_seen: tuple[str, ...]
    prior_windows: tuple[PriorWindow, ...]
    notes: tuple[str, ...]
    audit_trail_id: str = ""
    degradation: Degradation = Degradation.NONE
    draft_key: bytes = field(default=b"", repr=False)
    fresh: bool = False
    breaker: BreakerState = BreakerState.CLOSED
    safety_budget: float = 1.0
    halt_reason: str = ""
    agents_left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OutOfTime:
    """Why a fact does not hold now (ADR 0109).

    Attributes:
        reason: as the envelope service says it: SUPERSEDED, NO_LONGER_VALID or NOT_YET_VALID.
        on: the last day on which it held, or the first on which it will; ``None`` when nobody said.
    """

    reason: str
    on: date | None = None

    @property
    def begins(self) -> date | None:
        """The first day of a fact that is to come; ``None`` for one that held before, or when nobody said."""
        return self.on if self.reason == "NOT_YET_VALID" else None


@dataclass(frozen=True, slots=True)
class EnvelopeFact:
    """A fact of the envelope; ``carried_from`` names the window whose answer it carries, empty for knowledge.

    Attributes:
        stale: it is not to be taken for current: it does not hold now, or is past its time to live.
        location: headings that it stands under in its source; empty when unknown.
        out_of_time: it does not hold now; ``None`` for one that does, or is merely old.
        tool: that answered so; empty for everything else.
    """

    fact_id: str
    content: str
    relevance_score: float
    carried_from: str
    stale: bool
    location: str = ""
    out_of_time: OutOfTime | None = None
    tool: str = ""


@dataclass(frozen=True, slots=True)
class SourceConflict:
    """Facts of the envelope, by id, that give different values for the same thing: their values as they write them."""

    values: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class DeferredFact:
    """A relevant fact that did not fit (SPEC-003 §10.3)."""

    fact_id: str
    token_count: int


@dataclass(frozen=True, slots=True)
class EnvelopeSummary:
    """The envelope's metadata (SPEC-003 §3, §12.2).

    Attributes:
        knowledge_age: ``None`` when no knowledge fact is in it.
        retrieval_mode: how its facts were found; ``None`` when nobody said.
        facts_out_of_time: facts of it that do not hold now.
        source_conflicts: things on which current facts of it disagree.
        suspicions: candidates that speak to a model, and what was done with them.
    """

    facts_available: int
    facts_included: int
    token_count: int
    token_budget: int
    saturation: float
    quality_tier: QualityTier
    etag: str
    communities: tuple[str, ...]
    memory_tier_hit: int
    ckf_hits: int
    ckf_state_hash: str
    cache_status: str
    knowledge_age: timedelta | None
    fact_ids: tuple[str, ...]
    deferred: tuple[DeferredFact, ...]
    retrieval_mode: RetrievalMode | None = None
    facts_out_of_time: int = 0
    source_conflicts: int = 0
    suspicions: tuple[Suspicion, ...] = ()


EnvelopeMessage = NewType("EnvelopeMessage", object)
"""A ``crp.envelope.v1.ContextEnvelope``, decoded once: clients alone look into it, and nobody changes it."""


@dataclass(frozen=True, slots=True)
class BuiltEnvelope:
    """An envelope as built.

    Attributes:
        not_modified: the presented ETag still stands and nothing was built; ``facts`` is empty then.
        grounding_instruction: SPEC-003 §13.1's addition to the system prompt; empty in mode open.
        accepted: the tier is one that the caller accepts.
        message: as it came, for the analysis.
        reuse_recommended: saturation >= 0.95 (SPEC-003 §9.3).
        gap: why the tier is not accepted; ``None`` when it is.
        recommended_strategy: what may reach an accepted tier, where the policy allows an upgrade.
        approximate: its tokens were counted by a stand-in (SPEC-003 §10.1).
        conflicts: what current facts of it disagree on (ADR 0109).
    """

    summary: EnvelopeSummary
    facts: tuple[EnvelopeFact, ...]
    grounding_instruction: str
    not_modified: bool
    accepted: bool
    sub_queries: tuple[str, ...]
    warnings: tuple[str, ...]
    message: EnvelopeMessage
    reuse_recommended: bool = False
    gap: QualityGap | None = None
    recommended_strategy: DispatchStrategy | None = None
    approximate: bool = False
    conflicts: tuple[SourceConflict, ...] = ()


@dataclass(frozen=True, slots=True)
class StageState:
    """How one stage ended, and why it did not complete."""

    stage: str
    status: StageStatus
    reason: str


@dataclass(frozen=True, slots=True)
class ReportSummary:
    """The values of a DPE report that headers and policies read; ``None`` = not computed (SPEC-005 §15.2).

    Attributes:
        attribution_breakdown: count of factual claims by attribution type; empty when stage 2 did not run.
        omissions: count by severity; empty when stage 10 did not run.
        stages: by number and sub-stage, e.g. ``3a``.
        ai_system_id: the registered system that was classified; empty when none is registered.
        regulatory_rows: rows of the EU AI Act table that apply to it (§14.2).
        contradicted_claims: claims with the verdict CONTRADICTED; ``None`` when stage 3 gave none.
        undecided_claims: claims with the verdict UNDECIDED; ``None`` when stage 3 gave none.
        composite_level: §7.4 of the composite score alone; ``None`` without one (ADR 0093).
        floors: level and reason of everything that keeps ``risk_level`` from being lower.
        relevance_status: whether the answer answers the question (ADR 0096); empty when stage 8 did not run.
        relevance_reason: why that was not assessed.
    """

    report_id: str
    risk_level: RiskLevel
    composite_score: float | None
    claims_total: int | None
    attribution_dominant: str
    attribution_breakdown: tuple[tuple[str, int], ...]
    grounding_pct: float | None
    fabrication_count: int | None
    distortion_count: int | None
    distortion_types: tuple[str, ...]
    contradiction_count: int | None
    contradiction_scope: str
    fidelity_score: float | None
    entailment_score: float | None
    repetition_level: RepetitionLevel | None
    repetition_overlap: float | None
    completeness_score: float | None
    completeness_level: str
    sub_queries_total: int
    uncovered_sub_queries: tuple[str, ...]
    flow_score: float | None
    flow_remediation: str
    quality_score: float | None
    maximum_quality_tier: QualityTier | None
    omissions: tuple[tuple[str, int], ...]
    gdpr_pii_detected: bool | None
    eu_ai_act_class: str
    nist_tier: str
    iso_42001_controls: tuple[str, ...]
    controls_met: int | None
    controls_total: int | None
    pii_cache_warning: bool
    stages: tuple[StageState, ...]
    ai_system_id: str = ""
    ai_system_version: int = 0
    regulatory_rows: tuple[str, ...] = ()
    report_hash: str = ""
    relevance_status: str = ""
    relevance_score: float | None = None
    relevance_reason: str = ""
    contradicted_claims: int | None = None
    undecided_claims: int | None = None
    composite_level: RiskLevel | None = None
    floors: tuple[tuple[RiskLevel, str], ...] = ()

    @property
    def contradicted(self) -> int | None:
        """Return the claims that facts contradict and the pairs of claims that contradict each other, together."""
        known = [count for count in (self.contradicted_claims, self.contradiction_count) if count is not None]
        return None if self.contradicted_claims is None and not any(known) else sum(known)

    @property
    def floor_reasons(self) -> tuple[str, ...]:
        """Return why the level is above the composite's own, each reason once; empty where it is not."""
        if self.composite_level is self.risk_level:
            return ()
        return tuple(dict.fromkeys(reason for level, reason in self.floors if level is self.risk_level))

    def stage(self, name: str) -> StageState | None:
        """Return how the stage ``name`` (``4``, ``3a``) ended, or ``None`` when the report does not list it."""
        return next((state for state in self.stages if state.stage == name), None)

    def attributed(self, attribution: str) -> int | None:
        """Return how many factual claims have this attribution, or ``None`` when attribution did not run."""
        return dict(self.attribution_breakdown).get(attribution, 0) if self.attribution_breakdown else None


@dataclass(frozen=True, slots=True)
class Analysis:
    """The verdict on an answer; ``message`` is the serialised ``crp.dpe.v1.DpeReport``.

    ``inputs`` is the serialised ``crp.dpe.v1.AnalysisInputs``; empty when the caller wants nothing kept (no-store).
    ``plan`` is what could be done about the findings, ``contradicted_at`` where the claims begin that are CONTRADICTED.
    """

    summary: ReportSummary
    message: bytes
    inputs: bytes = b""
    plan: RemedyPlan = field(default_factory=RemedyPlan)
    contradicted_at: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class CommittedWindow:
    """A committed window and what the client needs to go on.

    Attributes:
        message: the serialised ``crp.dag.v1.WindowNode``.
        hmac, window_hmac: ``sha256:`` and 64 hex digits.
        continuation_id: empty when the session is complete (SPEC-004 §11.4).
        budget_warning: ``caution``, ``low`` or empty.
        halt_reason: SAFETY_BUDGET_DEPLETED when this window spent the budget; empty otherwise.
        degradation: trend of the quality history, this window included; ``degradation_advice`` says what to do.
        breaker: circuit breaker at ``safety_budget``.
    """

    message: bytes
    session_token: str
    set_session: str
    continuation_id: str
    hmac: str
    window_hmac: str
    dag_root: str
    lineage: str
    chain_integrity: ChainIntegrity
    safety_budget: float
    budget_warning: str
    audit_trail_id: str
    report_id: str
    degradation_advice: str
    human_review_required: bool
    halt_reason: str
    degradation: Degradation = Degradation.NONE
    breaker: BreakerState = BreakerState.CLOSED


def carried_texts(opened: OpenedWindow) -> tuple[CarriedText, ...]:
    """Return what the parents' answers contribute to the envelope: nothing for FACTS_ONLY (SPEC-004 §8.1)."""
    return tuple(
        CarriedText(parent.response_text, parent.window_id, parent.transfer_type)
        for parent in opened.parents
        if parent.response_text.strip()
    )


def deferred_fact_ids(opened: OpenedWindow) -> tuple[str, ...]:
    """Return the facts that the parents deferred, each once, in the parents' order (SPEC-004 §5.2)."""
    return tuple(dict.fromkeys(fact_id for parent in opened.parents for fact_id in parent.deferred_fact_ids))


def transferred_fact_ids(opened: OpenedWindow) -> tuple[str, ...]:
    """Return the facts of the parents' envelopes that FULL_CONTEXT hands on, each once (SPEC-004 §8.1, ADR 0022)."""
    return tuple(dict.fromkeys(fact_id for parent in opened.parents for fact_id in parent.transferred_fact_ids))
