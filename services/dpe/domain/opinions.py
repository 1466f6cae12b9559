"""The second opinion in an analysis: whom it is asked about, and in which calls (ADR 0119).

Asked are claims whose first verdict rests on probabilities. All claims of an analysis go out in one call; more calls
are made only where one would take more tokens than it may. What has no vote is listed with the reason.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from services.common.ports.second_opinion import AskedClaim, OpinionRequest, TypedSpan
from services.common.reading.text_types import Claim
from services.dpe.domain.analysis import Analysis
from services.dpe.domain.findings import EXACT, Basis, DistortionType, Judgement, Verdict
from services.dpe.domain.opinion_record import Gap, Scope
from services.dpe.domain.verdict_eligibility import judged_claims
from services.dpe.domain.verdicts import decides

MAX_CONTEXT_CHARS: Final = 300
"""So much of the sentence before a claim goes with it; of a longer one its end."""


def decided_by_rule(analysis: Analysis) -> frozenset[str]:
    """Return the claims that a deciding rule finds wrong."""
    return frozenset(item.claim_id for item in analysis.outputs.distortion.found or () if decides(item))


def is_decided(judgement: Judgement, *, by_rule: bool) -> bool:
    """Say whether something exact stands behind a verdict: no vote moves it.

    Args:
        judgement: the first one.
        by_rule: a deciding rule finds the claim wrong.
    """
    return (
        by_rule
        or judgement.conflict is not None
        or judgement.verdict is Verdict.SUPERSEDED
        or judgement.basis is Basis.QUOTATION
        or (judgement.verdict is Verdict.CONTRADICTED and judgement.basis in EXACT)
    )


def to_ask(analysis: Analysis, scope: Scope) -> tuple[AskedClaim, ...]:
    """Return the claims that a second opinion is asked on, in the order of the answer.

    ``AskedClaim.facts`` are places in the envelope. Quotations, what only facts bear out that do not hold now, and
    claims that no fact was read for are never asked.
    """
    if scope is Scope.OFF:
        return ()
    outputs, decided = analysis.outputs, decided_by_rule(analysis)
    found: list[AskedClaim] = []
    for claim in judged_claims(outputs.text.claims):
        passages = outputs.attribution.passages.get(claim.claim_id, ())
        judgement = outputs.fidelity.judgements.get(claim.claim_id)
        if not passages or judgement is None:
            continue
        if judgement.basis is Basis.QUOTATION or judgement.verdict is Verdict.SUPERSEDED:
            continue
        is_open = judgement.verdict is not Verdict.SUPPORTED
        if scope is Scope.ALL or (is_open and not is_decided(judgement, by_rule=claim.claim_id in decided)):
            places = tuple(sorted({near.fact_index for near in passages}))
            context = _before(analysis, claim)
            found.append(AskedClaim(claim.claim_id, claim.text, claim.start, claim.end, places, context))
    return tuple(found)


def key_texts(analysis: Analysis, claim: AskedClaim) -> Sequence[str]:
    """Return all that a vote on a claim hangs on, for a key; lists of different length differ in the first text."""
    facts = [analysis.input.facts[place].content for place in claim.facts]
    return (str(len(facts)), analysis.input.query, claim.text, claim.context, *facts)


def request_for(analysis: Analysis, claims: Sequence[AskedClaim], nonce: str) -> OpinionRequest:
    """Return the call that asks about some claims, each of their facts in it once."""
    used = sorted({place for claim in claims for place in claim.facts})
    places = {place: number for number, place in enumerate(used)}
    return OpinionRequest(
        analysis.input.query,
        analysis.input.answer,
        tuple(analysis.input.facts[place].content for place in used),
        tuple(replace(claim, facts=tuple(places[place] for place in claim.facts)) for claim in claims),
        nonce,
    )


def next_call(
    claims: Sequence[AskedClaim], fits: Callable[[Sequence[AskedClaim]], bool]
) -> tuple[tuple[AskedClaim, ...], tuple[AskedClaim, ...]]:
    """Return the claims from the front that one call takes, and the rest: all of them if they fit.

    ``fits`` is asked a number of times that grows with the logarithm of the claims; what it says is monotone.
    """
    if fits(claims):
        return tuple(claims), ()
    least, most = 0, len(claims)
    while most - least > 1:
        middle = (least + most) // 2
        if fits(claims[:middle]):
            least = middle
        else:
            most = middle
    return tuple(claims[:least]), tuple(claims[least:])


def gaps(left: Mapping[str, Gap]) -> tuple[tuple[Gap, tuple[str, ...]], ...]:
    """Return the claims without a vote by reason."""
    grouped: dict[Gap, list[str]] = {}
    for claim_id, gap in left.items():
        grouped.setdefault(gap, []).append(claim_id)
    return tuple((gap, tuple(grouped[gap])) for gap in Gap if gap in grouped)


def distortion_type(span: TypedSpan, words: str) -> DistortionType | None:
    """Return the type of SPEC-005 §5.3 that a detector's types stand for; ``None`` = none of them."""
    if span.category != "contradiction":
        return None
    if span.subcategory == "value":
        return DistortionType.NUMBER_CHANGED if any(one.isdigit() for one in words) else None
    return _TYPES.get(span.subcategory)


_TYPES: Final = {
    "numerical": DistortionType.NUMBER_CHANGED,
    "temporal": DistortionType.DATE_SHIFTED,
    "entity": DistortionType.ENTITY_SUBSTITUTED,
    "identifier": DistortionType.ENTITY_SUBSTITUTED,
    "relational": DistortionType.RELATION_ALTERED,
}


def _before(analysis: Analysis, claim: Claim) -> str:
    """Return the sentence before the claim's own; empty for the first one."""
    if not 0 < claim.sentence_index < len(analysis.outputs.text.sentences):
        return ""
    text = analysis.text_of(analysis.outputs.text.sentences[claim.sentence_index - 1])
    return text[-MAX_CONTEXT_CHARS:]
