"""The four signals of the risk with what the verdicts know (SPEC-005 §7.2, ADR 0121, 0188).

§7.2 asks for similarity and for an entailment model what the engine has decided better since: "two years" beside "24
months" is near to nothing and entailed by little, and it is SUPPORTED because the values are equal. Here a claim with
that verdict is grounded, can be checked, and does not make its chunk the weakest link. Nothing else changes: fidelity,
and every claim with another verdict, count as they do in the composite, so that no signal is worse than there.

Where facts bear part of an answer out and no rule that decides found anything, or where models alone are unsure or
object, the score stays below HIGH: that is a warning, and not something that was found. Of replies of several sentences
a score tells right ones from wrong ones no better than a coin (ADR 0215).
"""

from typing import Final

from services.common.reading.text_types import Claim
from services.common.reading.words import content_stems
from services.common.taxonomy import GroundingMode
from services.dpe.domain.analysis import Analysis
from services.dpe.domain.findings import EXACT, AttributionType, Basis, Judgement, Verdict
from services.dpe.domain.policy import CRITICAL_RISK, HIGH_RISK
from services.dpe.domain.verdict_eligibility import is_borne_out, judged_claims

Signals = tuple[float | None, float | None, float | None, float | None]
"""Attribution, fidelity, entailment, specificity: 0.0 best, 1.0 worst, ``None`` without a score."""

DOUBT_AT_MOST: Final = HIGH_RISK - 0.001
"""Base score of an answer of which nothing was found that makes it HIGH (ADR 0188)."""
LEAST_BORNE_OUT: Final = 0.25
"""Share of the claims from which on an answer is one of these documents, whatever else it says (ADR 0215)."""


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


def is_warning_at_most(analysis: Analysis, score: float) -> bool:
    """Say whether nothing that was found makes an answer HIGH, so that its score may not either (ADR 0188, 0215).

    So it is where every claim has a verdict, no rule that decides contradicts one, and

    - a quarter of them is borne out, or
    - models alone object to the others or leave them open, or
    - no rule has found anything, and the score is below CRITICAL, for the answer is near the documents, or it has
      hardly a word ("25 days."), and is near nothing.

    Args:
        analysis: after stage 3.
        score: judged base score, before amplifiers.
    """
    judgements = analysis.outputs.fidelity.judgements
    claims = judged_claims(analysis.outputs.text.claims)
    judged = [judgements.get(claim.claim_id) for claim in claims]
    known = [one for one in judged if one is not None and one.verdict is not Verdict.NONE]
    if not judged or len(known) < len(judged) or any(_is_refuted(one) for one in known):
        return False
    borne_out = [one for one in known if is_borne_out(one)]
    doubted = [one for one in known if _is_doubted(one)]
    return (
        len(borne_out) >= LEAST_BORNE_OUT * len(known)
        or len(borne_out) + len(doubted) == len(known)
        or (not analysis.outputs.distortion.found and (score < CRITICAL_RISK or all(map(_is_short, claims))))
    )


def _is_short(claim: Claim) -> bool:
    return len(content_stems(claim.text)) < _FEW_WORDS


_FEW_WORDS: Final = 3


def _is_refuted(judgement: Judgement) -> bool:
    return judgement.verdict is Verdict.CONTRADICTED and judgement.basis in EXACT


def _is_doubted(judgement: Judgement) -> bool:
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
