"""H_logical and H_factual of an answer out of its claims' verdicts (Director-AI page, D2 to D4; ADR 0122).

A claim is judged beside the facts nearest to it, by the provenance stages: quotation, exact rules over values, names
and negation, the grounding model, the entailment model. What they say becomes two divergences of the claim, and the
worst claim is the answer's, as the weakest link is in SPEC-005 §6.2: an answer is as true as the falsest thing in it.

* factual: 0 for a quotation, 1 for what an exact rule contradicts, else what the calibrated support leaves, kept on its
  own side of one half by the verdict.
* logical: the probability that facts, prompt or the answer itself contradict the claim. Of what is neither entailed nor
  contradicted half counts: nothing says whether it is false. A claim that the facts bear out contradicts no prompt, so
  that an answer which sets a wrong premise right is not held to diverge from it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from services.common.ports.entailment import CONTRADICTION, ENTAILMENT
from services.common.reading.text_types import Claim, Span
from services.common.taxonomy import StageStatus
from services.dpe.domain.analysis import Analysis
from services.dpe.domain.findings import EXACT, Basis, Judgement, Verdict
from services.dpe.domain.guard import prompt_statements
from services.dpe.domain.guard.coherence import Divergences, Exhibit, Origin
from services.dpe.domain.guard.coherence_grounds import Grounds
from services.dpe.domain.guard.opinions_held import held_opinions
from services.dpe.domain.models import Vectors
from services.dpe.domain.outcome import UNSOUND, Reason, worst
from services.dpe.domain.verdict_eligibility import judged_claims
from services.dpe.domain.verdicts import ModelOpinion, heard_cases

HALF: Final = 0.5
"""What is said of a claim that nothing decides, and the bound between the verdicts."""
MAX_EXHIBITS: Final = 100
_CERTAIN: Final = 1.0
_OF_NO_MATTER: Final = frozenset({Reason.NO_PRIOR_TEXT, Reason.PRIOR_WINDOWS_MISSING, Reason.PRIOR_IS_SUMMARY})
"""A prompt that states nothing leaves nothing out."""


@dataclass(frozen=True, slots=True)
class ClaimDivergence:
    """What is found of one claim; ``None`` = not computed.

    Attributes:
        factual: divergence from the facts.
        logical: probability that something contradicts it.
        confidence: of the entailment model; ``None`` where it was not asked, or a rule decides.
        is_open: no rule decides it.
    """

    claim: Claim
    factual: float | None = None
    logical: float | None = None
    confidence: float | None = None
    is_open: bool = True
    exhibits: tuple[Exhibit, ...] = ()


def divergences(analysis: Analysis, grounds: Grounds, sure_from: float, missing: str = "") -> Divergences:
    """Return both divergences of an answer.

    Args:
        analysis: stages 1, 2, 3 and 6 have ended.
        grounds: what it was held against.
        sure_from: confidence from which on the entailment model is sure of a claim.
        missing: why there are no facts; empty where there are.
    """
    found = [*_beside_facts(analysis, grounds), *_opinions(analysis, grounds)] if grounds.facts else _alone(analysis)
    found = _beside_prompt(analysis, found)
    found = _beside_itself(analysis, found)
    logical, factual = _logical(analysis, grounds, found), _factual(analysis, grounds, found)
    reason = missing or _reason(analysis, logical, factual)
    status = StageStatus.DEGRADED if reason else StageStatus.COMPLETED
    sure = [value for one in found if one.is_open and (value := one.confidence) is not None]
    unsure = any(one.is_open and (one.confidence is None or one.confidence < sure_from) for one in found)
    confidence = min(sure) if sure else None
    return Divergences(logical, factual, confidence, unsure, _exhibits(found), status, reason)


def claim_factual(judgement: Judgement, contradiction: float | None) -> float | None:
    """Return how far the facts are from bearing a claim out; ``None`` without a verdict.

    Args:
        judgement: the verdict on it.
        contradiction: the probability that its nearest fact contradicts it, half of what is neither counted in.
    """
    left = None if judgement.support is None else 1.0 - judgement.support
    match judgement.verdict:
        case Verdict.NONE:
            return None
        case Verdict.SUPPORTED if judgement.basis is Basis.QUOTATION or left is None:
            return 0.0
        case Verdict.SUPPORTED:
            return HALF if left is None else min(HALF, left)
        case Verdict.CONTRADICTED if judgement.basis not in EXACT:
            return max(HALF, left or 0.0, contradiction or 0.0)
        case Verdict.UNSUPPORTED | Verdict.UNDECIDED:
            return _CERTAIN if left is None else max(HALF, left)
        case _:
            return _CERTAIN


def claim_logical(judgement: Judgement, contradiction: float | None) -> float | None:
    """Return the probability that the facts contradict a claim. Arguments as ``claim_factual``."""
    match judgement.verdict:
        case Verdict.SUPPORTED:
            return 0.0
        case Verdict.CONTRADICTED if judgement.basis in EXACT:
            return _CERTAIN
        case Verdict.NONE:
            return contradiction
        case _:
            return HALF if contradiction is None else contradiction


def contradiction_of(row: Vectors | None) -> float | None:
    """Return P(contradiction) with half of what is neither; ``None`` for a pair that was not asked about."""
    return None if row is None else float(HALF * (1.0 + row[CONTRADICTION] - row[ENTAILMENT]))


def _beside_facts(analysis: Analysis, grounds: Grounds) -> list[ClaimDivergence]:
    judgements = analysis.outputs.fidelity.judgements
    return [
        _of_case(heard, judgements[heard.case.claim.claim_id], grounds)
        for heard in heard_cases(analysis)
        if heard.case.claim.claim_id in judgements
    ]


def _of_case(heard: ModelOpinion, judgement: Judgement, grounds: Grounds) -> ClaimDivergence:
    claim, row = heard.case.claim, heard.row
    contradiction = contradiction_of(row)
    exact = judgement.verdict is Verdict.CONTRADICTED and judgement.basis in EXACT
    is_open = not exact and judgement.basis is not Basis.QUOTATION
    one = ClaimDivergence(
        claim,
        claim_factual(judgement, contradiction),
        claim_logical(judgement, contradiction),
        float(row.max()) if row is not None and is_open else None,
        is_open,
    )
    return replace(one, exhibits=tuple(_fact_exhibit(one, judgement, grounds)))


def _fact_exhibit(one: ClaimDivergence, judgement: Judgement, grounds: Grounds) -> Iterator[Exhibit]:
    for evidence in judgement.evidence[:1]:
        text_id, span = grounds.place(evidence.fact_index, evidence.fact_span)
        yield Exhibit(
            text_id,
            span,
            Span(one.claim.start, one.claim.end),
            similarity=evidence.similarity,
            contradiction=judgement.contradiction,
            divergence=max(one.factual or 0.0, one.logical or 0.0),
        )


def _opinions(analysis: Analysis, grounds: Grounds) -> Iterator[ClaimDivergence]:
    """Yield what the grounding model says of claims without a verdict, where the answer holds no other."""
    for one in held_opinions(analysis):
        said = (analysis.models.judged or {}).get(one.request)
        if said is None:
            yield ClaimDivergence(one.claim)
            continue
        factual = 1.0 - said.support
        logical = HALF if one.is_opinion and not said.supported else 0.0
        exhibits: tuple[Exhibit, ...] = ()
        if said.evidence:
            index = one.passages[said.evidence[0]]
            text_id, span = grounds.place(index, Span(0, len(grounds.facts[index].content)))
            here = Span(one.claim.start, one.claim.end)
            exhibits = (Exhibit(text_id, span, here, divergence=max(factual, logical)),)
        yield ClaimDivergence(one.claim, factual, logical, exhibits=exhibits)


def _alone(analysis: Analysis) -> list[ClaimDivergence]:
    """Return the claims of an answer that is held against no fact."""
    return [ClaimDivergence(claim) for claim in judged_claims(analysis.outputs.text.claims)]


def _beside_prompt(analysis: Analysis, found: list[ClaimDivergence]) -> list[ClaimDivergence]:
    """Take in what the prompt's statements say of the claims that the facts do not bear out."""
    said: dict[str, list[Exhibit]] = {}
    for item in analysis.outputs.coherence.found or ():
        exhibit = _prompt_exhibit(item.earlier, item.probability, item.probability or _CERTAIN)
        said.setdefault(item.claim.claim_id, []).append(exhibit)
    rows: dict[str, Vectors] = {}
    for claim, statement in prompt_statements.compared(analysis):
        row = (analysis.models.classified or {}).get((statement.text, claim.text))
        if row is not None:
            rows[claim.claim_id] = row
            probability = float(row[CONTRADICTION])
            said.setdefault(claim.claim_id, []).append(_prompt_exhibit(statement, probability, probability))
    return [_with_prompt(one, said.get(one.claim.claim_id, []), rows.get(one.claim.claim_id)) for one in found]


def _prompt_exhibit(earlier: Claim, probability: float | None, divergence: float) -> Exhibit:
    span = Span(earlier.start, earlier.end)
    return Exhibit("", span, span, Origin.PROMPT, contradiction=probability, divergence=divergence)


def _with_prompt(one: ClaimDivergence, said: list[Exhibit], row: Vectors | None) -> ClaimDivergence:
    borne_out = one.factual is not None and one.factual < HALF
    if not said or borne_out:
        return one
    worst_said = max(said, key=lambda exhibit: exhibit.divergence)
    confidence = one.confidence if one.confidence is not None or row is None else float(row.max())
    exhibit = replace(worst_said, answer_span=Span(one.claim.start, one.claim.end))
    return replace(
        one,
        logical=max(one.logical or 0.0, exhibit.divergence),
        confidence=confidence,
        is_open=one.is_open and exhibit.divergence < _CERTAIN,
        exhibits=(*one.exhibits, exhibit),
    )


def _beside_itself(analysis: Analysis, found: list[ClaimDivergence]) -> list[ClaimDivergence]:
    """Take in the claims of the answer that cannot both be true."""
    said: dict[str, list[Exhibit]] = {}
    for item in analysis.outputs.contradiction.found or ():
        for own, other in ((item.first, item.second), (item.second, item.first)):
            here, there = Span(own.start, own.end), Span(other.start, other.end)
            probability = item.probability
            exhibit = Exhibit(
                "", there, here, Origin.ANSWER, contradiction=probability, divergence=probability or _CERTAIN
            )
            said.setdefault(own.claim_id, []).append(exhibit)
    return [_with_itself(one, said.get(one.claim.claim_id, [])) for one in found]


def _with_itself(one: ClaimDivergence, said: list[Exhibit]) -> ClaimDivergence:
    if not said:
        return one
    exhibit = max(said, key=lambda each: each.divergence)
    return replace(one, logical=max(one.logical or 0.0, exhibit.divergence), exhibits=(*one.exhibits, exhibit))


def _logical(analysis: Analysis, grounds: Grounds, found: list[ClaimDivergence]) -> float | None:
    """Return H_logical; ``None`` where there is nothing to be contradicted by, or no model that could tell.

    Without the entailment model a contradiction that a rule finds is as certain as with it, and the lack of one is not.
    """
    known = max((one.logical for one in found if one.logical is not None), default=0.0)
    if known >= _CERTAIN:
        return known
    if analysis.models.entailment_tokens is None or analysis.models.classified is None or _all_unread(analysis):
        return None
    stated = prompt_statements.statements(analysis)
    return known if known or stated or _has_attribution(analysis, grounds) else None


def _factual(analysis: Analysis, grounds: Grounds, found: list[ClaimDivergence]) -> float | None:
    """Return H_factual; ``None`` without facts, and where some claim has no verdict and none is found wrong."""
    if not _has_attribution(analysis, grounds) or _all_unread(analysis):
        return None
    known = max((one.factual for one in found if one.factual is not None), default=0.0)
    if any(one.factual is None for one in found) and known < HALF:
        return None
    return known


def _has_attribution(analysis: Analysis, grounds: Grounds) -> bool:
    return bool(grounds.facts) and analysis.outputs.attribution.by_claim is not None


def _all_unread(analysis: Analysis) -> bool:
    """Say whether the whole answer is in a language that is not judged (ADR 0040)."""
    sentences = analysis.outputs.text.sentences
    return bool(sentences) and len(analysis.other_language) == len(sentences)


def _reason(analysis: Analysis, logical: float | None, factual: float | None) -> str:
    """Return why something is missing: the reason of the gravest stage that did not run whole; empty for nothing."""
    unsound = [one for one in analysis.outcomes if one.status in UNSOUND and one.reason not in _OF_NO_MATTER]
    if unsound:
        return worst(unsound).reason.value
    if logical is not None and factual is not None:
        return ""
    models = analysis.models
    if models.entailment_tokens is None:
        return Reason.ENTAILMENT_MODEL_NOT_CONFIGURED.value
    return Reason.ENTAILMENT_MODEL_FAILED.value if models.classified is None else Reason.LANGUAGE_NOT_SUPPORTED.value


def _exhibits(found: Iterable[ClaimDivergence]) -> tuple[Exhibit, ...]:
    every = [exhibit for one in found for exhibit in one.exhibits]
    every.sort(key=lambda one: (-one.divergence, one.answer_span.start, one.answer_span.end))
    return tuple(every[:MAX_EXHIBITS])
