"""Stage 12, regulatory classification (SPEC-005 §14): class, tier and controls of the registered AI system.

Nothing is read out of prompt, facts or answer: the class follows from the registration by a table, and from whether
stage 11 found personal data. Without a registration the class is UNKNOWN and nothing else is stated. The report is
hashed before its window is committed, so only what is known now counts as evidence (ADR 0039).
"""

from dataclasses import replace
from typing import Final

from services.common.taxonomy import StageStatus
from services.dpe.domain.analysis import Analysis
from services.dpe.domain.outcome import Reason, StageOutcome
from services.dpe.domain.regulation.eu_ai_act import classify
from services.dpe.domain.regulation.iso_42001 import DispatchEvidence, assess
from services.dpe.domain.regulation.nist import TIER_BY_CLASS, TIER_BY_RISK, nist_tier
from services.dpe.domain.regulation.result import Regulatory
from services.dpe.domain.stage import Stage
from services.dpe.domain.stage_row import StageKey
from services.dpe.domain.stages import (
    s01_claims,
    s02_attribution,
    s03_fidelity,
    s03a_fabrication,
    s03b_distortion,
    s03c_contradiction,
    s04_entailment,
    s05_risk,
    s06_coherence,
    s07_repetition,
    s08_completeness,
    s09_flow,
    s10_omission,
    s11_pii,
)
from services.dpe.domain.stages.s05_risk import settle


def apply(analysis: Analysis) -> Analysis:
    """Classify the registered system, or say that none is registered."""
    system = analysis.input.ai_system
    if system is None:
        outcome = StageOutcome(STAGE, StageStatus.NOT_APPLICABLE, Reason.AI_SYSTEM_NOT_REGISTERED)
        return analysis.ended(outcome)
    found = classify(system, pii_detected=analysis.outputs.personal_data.gdpr_detected)
    controls = assess(system, _evidence(analysis))
    regulatory = _with_tier(analysis, Regulatory(found, controls, system.in_amplified_sector))
    if found.eu_class is None:
        outcome = StageOutcome(STAGE, StageStatus.DEGRADED, Reason.PII_NOT_SEARCHED, len(found.rows))
    else:
        outcome = StageOutcome(STAGE, StageStatus.COMPLETED, findings=len(found.rows))
    return analysis.ended(outcome, regulatory)


def _with_tier(analysis: Analysis, regulatory: Regulatory) -> Regulatory:
    """Add the NIST tiers; the risk is the one that stage 13 settles, for no stage between them changes it."""
    eu_class = regulatory.classification.eu_class
    risk = settle(analysis.with_results(regulatory))
    if eu_class is None or risk is None:
        return regulatory
    return replace(
        regulatory,
        tier_by_class=TIER_BY_CLASS.get(eu_class),
        tier_by_risk=TIER_BY_RISK[risk.level],
        tier=nist_tier(eu_class, risk.level),
    )


def _evidence(analysis: Analysis) -> DispatchEvidence:
    given = analysis.input
    return DispatchEvidence(
        monitored=tuple(row.key for row in STAGE.needs),
        outcomes=analysis.outcomes,
        source_ids=tuple(fact.source_id for fact in given.facts),
        envelope_etag=given.envelope_etag,
        audit_trail_id=given.audit_trail_id,
        models=tuple(f"{role} {fingerprint}" for role, fingerprint in analysis.models.fingerprints),
        stated_headers=_stated_headers(analysis),
    )


def _stated_headers(analysis: Analysis) -> tuple[str, ...]:
    """Return the headers that tell users how far to trust the answer, where the analysis gave their values (§20)."""
    outputs = analysis.outputs
    if outputs.risk is None or outputs.risk.composite_score is None:
        return ()
    grounded = () if outputs.attribution.grounding_pct is None else ("CRP-Safety-Grounding-Pct",)
    return ("CRP-Safety-Hallucination-Risk", "CRP-Safety-Hallucination-Score", *grounded)


STAGE: Final = Stage(
    key=StageKey(12),
    name="Regulatory Classification",
    section="CRP-SPEC-005 §14",
    # How all of them ended is the evidence of monitoring (ADR 0039).
    needs=(
        s01_claims.STAGE,
        s02_attribution.STAGE,
        s03a_fabrication.STAGE,
        s03b_distortion.STAGE,
        s03c_contradiction.STAGE,
        s03_fidelity.STAGE,
        s04_entailment.STAGE,
        s05_risk.STAGE,
        s06_coherence.STAGE,
        s07_repetition.STAGE,
        s08_completeness.STAGE,
        s09_flow.STAGE,
        s10_omission.STAGE,
        s11_pii.STAGE,
    ),
    amplifiers=("eu_high_risk", "sector"),
    always_runs=True,
    apply=apply,
)
