"""Values of the gateway's domain for tests, complete and plausible; each test changes what it is about."""

from dataclasses import replace
from datetime import timedelta

from services.common.taxonomy import ChainIntegrity, QualityTier, RepetitionLevel, RiskLevel, StageStatus
from services.gateway.domain.window import CommittedWindow, EnvelopeSummary, ReportSummary, StageState, WindowPlace

SESSION = "crp_sess_" + "A" * 32
WINDOW = "crp_win_" + "B" * 16

PLACE = WindowPlace(SESSION, WINDOW, 2, 5, 0, "")

ENVELOPE = EnvelopeSummary(
    facts_available=312,
    facts_included=47,
    token_count=105816,
    token_budget=106454,
    saturation=0.99401,
    quality_tier=QualityTier.A,
    etag="sha256:" + "e" * 64,
    communities=("EU AI Act: compliance", "other"),
    memory_tier_hit=2,
    ckf_hits=50,
    ckf_state_hash="c" * 64,
    cache_status="MISS; reason=no-etag",
    knowledge_age=timedelta(days=3, hours=2, seconds=5.9),
    fact_ids=("f1", "f2"),
    deferred=(),
)

REPORT = ReportSummary(
    report_id="r1",
    risk_level=RiskLevel.LOW,
    composite_score=0.14,
    claims_total=47,
    attribution_dominant="CONTEXT_GROUNDED",
    attribution_breakdown=(("CONTEXT_GROUNDED", 31), ("MIXED", 2), ("PARAMETRIC", 1), ("UNVERIFIABLE", 0)),
    grounding_pct=31 / 34,
    fabrication_count=0,
    distortion_count=1,
    distortion_types=("NUMBER_CHANGED",),
    contradiction_count=1,
    contradiction_scope="cross-window",
    fidelity_score=0.978,
    entailment_score=0.912,
    repetition_level=RepetitionLevel.SIGNIFICANT,
    repetition_overlap=0.28,
    completeness_score=0.6,
    completeness_level="PARTIAL",
    sub_queries_total=5,
    uncovered_sub_queries=("EU AI Act requirements", "GDPR requirements"),
    flow_score=0.34,
    flow_remediation="prompt-augmented",
    quality_score=0.91,
    maximum_quality_tier=QualityTier.S,
    omissions=(("CRITICAL", 0), ("HIGH", 1), ("MEDIUM", 2)),
    gdpr_pii_detected=True,
    eu_ai_act_class="LIMITED",
    nist_tier="TIER-2",
    iso_42001_controls=("A.6.1.2", "A.9.4"),
    controls_met=33,
    controls_total=35,
    pii_cache_warning=False,
    stages=tuple(StageState(str(number), StageStatus.COMPLETED, "") for number in range(1, 14)),
)

COMMITTED = CommittedWindow(
    message=b"",
    session_token="payload.signature",
    set_session="token=payload.signature; Path=/; Max-Age=3600; Signed; SameSite=Strict; Window=2; QualityHistory=A,A",
    continuation_id="crp_cont_" + "C" * 32,
    hmac="sha256:" + "1" * 64,
    window_hmac="2" * 64,
    dag_root="dag:crp_win_root",
    lineage="crp_win_root -> " + WINDOW,
    chain_integrity=ChainIntegrity.VALID,
    safety_budget=0.85,
    budget_warning="",
    audit_trail_id="crp_trail_" + "D" * 32,
    report_id="9b2f",
    degradation_advice="",
    human_review_required=False,
    halt_reason="",
)


def not_run(report: ReportSummary, stage: str, status: StageStatus = StageStatus.SKIPPED) -> ReportSummary:
    """Return the report with one stage that did not run; the caller takes its value away."""
    stages = [state for state in report.stages if state.stage != stage]
    return replace(report, stages=(*stages, StageState(stage, status, "NO_MODEL")))
