"""The four signals of the risk with what the verdicts know (SPEC-005 §7.2, ADR 0121, 0188).

§7.2 asks for similarity and for an entailment model what the engine has decided better since: "two years" beside "24
months" is near to nothing and entailed by little, and it is SUPPORTED because the values are equal. Here a claim with
that verdict is grounded, can be checked, and does not make its chunk the weakest link. Nothing else changes: fidelity,
and every claim with another verdict, count as they do in the composite, so that no signal is worse than there.

Where a model alone is unsure, or alone objects, and nothing else is wrong with the answer, the score stays below HIGH:
that is a warning, and not something that was found.
"""

from typing import Final

from services.common.taxonomy import GroundingMode
from services.dpe.domain.analysis import Analysis
from services.dpe.domain.findings import AttributionType, Basis, Judgement, Verdict
from services.dpe.domain.policy import HIGH_RISK
from services.dpe.domain.verdict_eligibility import is_borne_out, judged_claims

Signals = tuple[float | None, float | None, float | None, float | None]
"""Attribution, fidelity, entailment, specificity: 0.0 best, 1.0 worst, ``None`` without a score."""

DOUBT_AT_MOST: Final = HIGH_RISK - 0.001
"""Base score of an answer about which models are unsure, or object alone (ADR 0188)."""


def judged_signals(analysis: Analysis, signals: Signals) -> Signals:
    """Return the signals with SUPPORTED claims counted as borne out; one that is not there stays away."""
    attribution, fidelity, entailment, specificity = signals
    outputs = analysis.outputs
    if attribution is not None:
        attribution = min(attribution, _ungrounded(analysis))
    if entailment is not None and outputs.entailment is not None:
        entailment = min(entailment, 1.0 - outputs.entailment.judged_score)
    if specificity is not None:
        specificity = _unverifiable(analysis)
    return attribution, fidelity, entailment, specificity


def doubted_alone(analysis: Analysis) -> bool:
    """Say whether every claim is SUPPORTED, or only a model objects to it or leaves it open (ADR 0188)."""
    judgements = analysis.outputs.fidelity.judgements
    judged = [judgements.get(claim.claim_id) for claim in judged_claims(analysis.outputs.text.claims)]
    doubted = [_is_doubted(one) for one in judged]
    return any(doubted) and all(doubt or is_borne_out(one) for doubt, one in zip(doubted, judged, strict=True))


def _is_doubted(judgement: Judgement | None) -> bool:
    if judgement is None:
        return False
    return judgement.verdict is Verdict.UNDECIDED or (
        judgement.verdict is Verdict.CONTRADICTED and judgement.basis is Basis.CONTRADICTION
    )


def _ungrounded(analysis: Analysis) -> float:
    """Return the share of the claims that neither rest on a fact (§4.4) nor are borne out by one."""
    attributions = analysis.outputs.attribution.by_claim or {}
    is_open = analysis.input.grounding_mode is GroundingMode.OPEN
    borne_out = _borne_out(analysis)
    counted = [
        key in borne_out or item.type is AttributionType.CONTEXT_GROUNDED
        for key, item in attributions.items()
        # ADR 0015: in open mode what the model knows by itself does not count against attribution.
        if key in borne_out or not (is_open and item.type is AttributionType.PARAMETRIC)
    ]
    return 1.0 - sum(counted) / max(1, len(counted))


def _unverifiable(analysis: Analysis) -> float:
    attributions = analysis.outputs.attribution.by_claim or {}
    borne_out = _borne_out(analysis)
    left = [
        key for key, one in attributions.items() if one.type is AttributionType.UNVERIFIABLE and key not in borne_out
    ]
    return len(left) / max(1, len(attributions))


def _borne_out(analysis: Analysis) -> frozenset[str]:
    judgements = analysis.outputs.fidelity.judgements
    return frozenset(key for key in analysis.outputs.attribution.by_claim or {} if is_borne_out(judgements.get(key)))
