"""Stage 3b, distortion (SPEC-005 §5.3): grounded claims that misrepresent their facts, in six types.

Values are compared directly; negation, names and conditions by aligned words. Without an entailment model the stage is
DEGRADED, for paraphrased contradictions are then not seen; with one and the grounding model's spans, a swapped name and
a turned negation are also found where words differ (``unseen``). The verdict on a claim is stage 3's.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from services.common.ports.recognition import Entity, EntityKind
from services.dpe.domain.alignment import (
    NAMES,
    ClaimWords,
    Match,
    align_values,
    matches,
    nearest_for_names,
    on_other_sides,
    substituted_names,
    turned_bounds,
)
from services.dpe.domain.analysis import Analysis
from services.dpe.domain.antecedents import antecedents
from services.dpe.domain.capitals import replaced
from services.dpe.domain.facts import FactClause
from services.dpe.domain.findings import AlignedValue, Attribution, AttributionType, Distortion, DistortionType
from services.dpe.domain.outcome import Reason, StageKey, StageOutcome, StageStatus
from services.dpe.domain.polarity import compared
from services.dpe.domain.policy import MIXED_SIMILARITY
from services.dpe.domain.qualifiers import left_out
from services.dpe.domain.ratios import TIMES
from services.dpe.domain.roles import crossed, swapped
from services.dpe.domain.text_types import Claim, ClaimType, Span, Value
from services.dpe.domain.unseen import unseen
from services.dpe.domain.verdicts import heard_cases
from services.dpe.domain.words import containment, content_stems, jaccard

KEY: Final = StageKey(3, "b")
FLIP_OVERLAP: Final = 0.6
"""Jaccard overlap of content words from which on a difference in negation is a flip."""
STRIP_OVERLAP: Final = 0.8
"""Share of the claim's content words in the fact's sentence from which on a missing condition was stripped."""
SUBSTITUTION_OVERLAP: Final = 0.5


def apply(analysis: Analysis) -> Analysis:
    """Compare every grounded claim with its facts."""
    if analysis.outputs.attributions is None:
        return analysis.ended(StageOutcome(KEY, StageStatus.SKIPPED, Reason.ATTRIBUTION_NOT_AVAILABLE))
    grounded = _grounded(analysis)
    meant = antecedents(analysis.outputs.claims, analysis.input.answer)
    if not grounded:
        return analysis.ended(StageOutcome(KEY, StageStatus.NOT_APPLICABLE, Reason.NO_GROUNDED_CLAIMS), distortions=())
    found: list[Distortion] = []
    heard = {case.case.claim.claim_id: case for case in heard_cases(analysis)}
    for item in grounded:
        distortions = _check(analysis, item, ClaimWords.of(item.claim, meant.get(item.claim.claim_id, frozenset())))
        if not distortions and item.attribution is not None:
            distortions = unseen(analysis, item.attribution, heard.get(item.claim.claim_id))
        found += distortions
    status, reason = nli_status(analysis)
    return analysis.ended(StageOutcome(KEY, status, reason, findings=len(found)), distortions=tuple(found))


def nli_status(analysis: Analysis) -> tuple[StageStatus, Reason]:
    """Say how a stage ends that has rules and should have an entailment model as well."""
    if analysis.models.entailment_tokens is None:
        return StageStatus.DEGRADED, Reason.ENTAILMENT_MODEL_NOT_CONFIGURED
    if analysis.models.classified is None:
        return StageStatus.DEGRADED, Reason.ENTAILMENT_MODEL_FAILED
    return StageStatus.COMPLETED, Reason.NONE


@dataclass(frozen=True, slots=True)
class _Grounded:
    """A claim and the facts that it is compared with; ``attribution`` only for a CONTEXT_GROUNDED one."""

    claim: Claim
    fact_indices: tuple[int, ...]
    attribution: Attribution | None


def _grounded(analysis: Analysis) -> list[_Grounded]:
    """Return what has a source to compare with (ADR 0040), in order.

    Beside CONTEXT_GROUNDED claims those that are MIXED, for part of them has a source, and PROCEDURAL ones near a fact
    (SPEC-005 §3.3: partially verifiable, against source procedures).
    """
    attributions, found = analysis.outputs.attributions or {}, list[_Grounded]()
    for claim in analysis.outputs.claims:
        item = attributions.get(claim.claim_id)
        if item is not None and item.type in _COMPARED:
            whole = item if item.type is AttributionType.CONTEXT_GROUNDED else None
            found.append(_Grounded(claim, tuple(evidence.fact_index for evidence in item.evidence), whole))
        elif claim.claim_type is ClaimType.PROCEDURAL:
            passages = analysis.outputs.passages.get(claim.claim_id, ())
            near = tuple(one.fact_index for one in passages if one.similarity >= MIXED_SIMILARITY)
            found += [_Grounded(claim, near, None)] if near else []
    return found


_COMPARED: Final = frozenset({AttributionType.CONTEXT_GROUNDED, AttributionType.MIXED})


def _check(analysis: Analysis, item: _Grounded, claim: ClaimWords) -> list[Distortion]:
    views = [analysis.outputs.fact_views[index] for index in item.fact_indices]
    nearest = matches(claim, [clause for view in views for clause in view.clauses])
    if not nearest:
        return []
    stripped = _stripped(analysis, claim, nearest)
    if nearest[0].is_copy:
        return stripped
    found = _values(analysis, claim, nearest)
    found += _bounds(analysis, item.claim, nearest)
    found += _names(analysis, item.claim, nearest_for_names(claim, nearest)) or _roles(analysis, item.claim, nearest)
    found += _negation(analysis, claim, nearest)
    return found + stripped


def _fact_id(analysis: Analysis, match: Match) -> str:
    return analysis.outputs.fact_views[match.clause.fact_index].fact.fact_id


def _values(analysis: Analysis, words: ClaimWords, nearest: Sequence[Match]) -> list[Distortion]:
    claim = words.claim
    fact_id = _fact_id(analysis, nearest[0])
    return [
        Distortion(
            _type_of(pair.claimed, pair.known),
            claim.claim_id,
            fact_id,
            Span(pair.claimed.start, pair.claimed.end),
            Span(pair.known.start, pair.known.end),
            pair,
        )
        for pair in align_values(claim, nearest, words.antecedent)
        if not pair.equal
    ]


def _bounds(analysis: Analysis, claim: Claim, nearest: Sequence[Match]) -> list[Distortion]:
    """Report a limit that was turned round; the value itself is the same, so no values are set against each other."""
    return [
        Distortion(
            _type_of_bound(claimed),
            claim.claim_id,
            analysis.outputs.fact_views[clause.fact_index].fact.fact_id,
            Span(claimed.start, claimed.end),
            Span(known.start, known.end),
        )
        for claimed, known, clause in turned_bounds(claim, nearest)
    ]


def _type_of_bound(value: Value) -> DistortionType:
    return (
        DistortionType.DATE_SHIFTED
        if value.kind in {EntityKind.DATE, EntityKind.TIME}
        else DistortionType.MAGNITUDE_ALTERED
    )


def _type_of(claimed: Value, known: Value) -> DistortionType:
    if EntityKind.DATE in {claimed.kind, known.kind} or EntityKind.TIME in {claimed.kind, known.kind}:
        return DistortionType.DATE_SHIFTED
    if EntityKind.PERCENT in {claimed.kind, known.kind} or TIMES in {claimed.unit, known.unit}:
        return DistortionType.MAGNITUDE_ALTERED
    return DistortionType.NUMBER_CHANGED


def _names(analysis: Analysis, claim: Claim, nearest: Match) -> list[Distortion]:
    if nearest.containment < SUBSTITUTION_OVERLAP:
        return []
    pairs = substituted_names(claim, nearest)
    if not pairs and (pair := replaced(claim, nearest.clause)) is not None:
        pairs = [pair]
    return [_exchanged(analysis, claim, nearest, *pair) for pair in pairs]


def _roles(analysis: Analysis, claim: Claim, nearest: Sequence[Match]) -> list[Distortion]:
    """Report parties that changed places, within a clause or between the clauses of a sentence."""
    best = nearest[0]
    names = [entity for entity in claim.entities if entity.kind in NAMES]
    turned = swapped(claim.text, names, best.clause)
    if turned is not None:
        claimed, known = turned
        return [_exchanged(analysis, claim, best, claimed, _in_place(best.clause, known))]
    sentence = [match.clause for match in nearest if match.clause.sentence == best.clause.sentence]
    clause = crossed(claim.text, [one for one in sentence if one.fact_index == best.clause.fact_index])
    if clause is None:
        return []
    kind, span = DistortionType.ENTITY_SUBSTITUTED, Span(claim.start, claim.end)
    return [Distortion(kind, claim.claim_id, _fact_id(analysis, best), span, clause.span)]


def _in_place(clause: FactClause, name: Entity) -> Entity:
    """Return the name as the clause has it, with its offsets in the fact."""
    at = clause.text.casefold().find(name.text.casefold())
    if at < 0 or len(clause.text.casefold()) != len(clause.text):
        return Entity(name.kind, clause.text, clause.span.start, clause.span.end)
    start = clause.span.start + at
    return Entity(name.kind, clause.text[at : at + len(name.text)], start, start + len(name.text))


def _exchanged(analysis: Analysis, claim: Claim, nearest: Match, claimed: Entity, known: Entity) -> Distortion:
    return Distortion(
        DistortionType.ENTITY_SUBSTITUTED,
        claim.claim_id,
        _fact_id(analysis, nearest),
        Span(claimed.start, claimed.end),
        Span(known.start, known.end),
        AlignedValue(_as_value(claimed), _as_value(known), equal=False),
    )


def _as_value(entity: Entity) -> Value:
    return Value(entity.kind, entity.text, entity.start, entity.end, entity.text.casefold())


def _negation(analysis: Analysis, words: ClaimWords, nearest: Sequence[Match]) -> list[Distortion]:
    """Report a flip when every clause that says nearly the same is turned against the claim."""
    claim, flipped = words.claim, list[Match]()
    read = [(match, compared(claim.text, match.clause.text)) for match in nearest[:_CLAUSES_READ]]
    near = [(match, jaccard(how.aligned(words.stems), match.clause.stems), how.turned) for match, how in read]
    best = max((overlap for _, overlap, _ in near), default=0.0)
    # "After 12 months it is not paid" and "within 12 months it is paid" do not contradict each other.
    if best < FLIP_OVERLAP or any(on_other_sides(claim, match.clause) for match, overlap, _ in near if overlap == best):
        return []
    for match, overlap, turned in near:
        if overlap >= max(FLIP_OVERLAP, best - _AS_NEAR):
            if not turned:
                return []
            flipped.append(match)
    kind, span = DistortionType.NEGATION_FLIP, Span(claim.start, claim.end)
    return [Distortion(kind, claim.claim_id, _fact_id(analysis, flipped[0]), span, flipped[0].clause.span)]


_CLAUSES_READ: Final = 8
"""So many clauses, the nearest ones, are compared for their polarity."""
_AS_NEAR: Final = 0.1
"""Overlaps that differ by no more are the same."""


def _stripped(analysis: Analysis, claim: ClaimWords, nearest: Sequence[Match]) -> list[Distortion]:
    """Report a limit of the fact's sentence that neither the claim's sentence nor its neighbours carry.

    A claim that stands word for word in another fact too, and there without a limit, leaves nothing out.
    """
    best = nearest[0]
    limit = _limit(analysis, claim, best)
    if limit is None or any(_limit(analysis, claim, match) is None for match in nearest[1:] if match.is_copy):
        return []
    kind, span = DistortionType.CONTEXT_STRIPPED, Span(claim.claim.start, claim.claim.end)
    return [Distortion(kind, claim.claim.claim_id, _fact_id(analysis, best), span, limit)]


def _limit(analysis: Analysis, claim: ClaimWords, match: Match) -> Span | None:
    """Return the limit of the clause's sentence that is left out, with offsets in the fact."""
    content = analysis.outputs.fact_views[match.clause.fact_index].fact.content
    sentence, start = match.clause.sentence, match.clause.sentence.start
    source = content[start : sentence.end]
    if containment(claim.stems, content_stems(source)) < STRIP_OVERLAP:
        return None
    limit = left_out(source, claim.claim.text, _neighbourhood(analysis, claim.claim))
    return None if limit is None else Span(start + limit.start, start + limit.end)


def _neighbourhood(analysis: Analysis, claim: Claim) -> str:
    """Return the claim's sentence with the one before and the one after."""
    sentences = analysis.outputs.sentences
    first, last = max(0, claim.sentence_index - 1), min(len(sentences) - 1, claim.sentence_index + 1)
    return analysis.input.answer[sentences[first].start : sentences[last].end]
