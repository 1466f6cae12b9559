"""Stage 3b, distortion (SPEC-005 §5.3): grounded claims that misrepresent their facts, in six types.

Values are compared directly; negation, names and conditions by aligned words. Without an entailment model the stage is
DEGRADED, for paraphrased contradictions are then not seen; with one and the grounding model's spans, a swapped name and
a turned negation are also found where words differ (``unseen``). The verdict on a claim is stage 3's.
"""

import re
from collections.abc import Sequence
from typing import Final

from services.common.ports.recognition import Entity, EntityKind
from services.dpe.domain.alignment import (
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
from services.dpe.domain.findings import AlignedValue, Attribution, AttributionType, Distortion, DistortionType
from services.dpe.domain.lexicon import CONDITION_ADVERBS, CONDITION_CUES
from services.dpe.domain.outcome import Reason, StageKey, StageOutcome, StageStatus
from services.dpe.domain.polarity import is_negated
from services.dpe.domain.text_types import Claim, Span, Value
from services.dpe.domain.unseen import unseen
from services.dpe.domain.verdicts import heard_cases
from services.dpe.domain.words import containment, content_stems

KEY: Final = StageKey(3, "b")
FLIP_OVERLAP: Final = 0.6
"""Jaccard overlap of content words from which on a difference in negation is a flip."""
STRIP_OVERLAP: Final = 0.8
"""Share of the claim's content words in the fact's sentence from which on a missing condition was stripped."""
SUBSTITUTION_OVERLAP: Final = 0.5

# "when" opens a condition only behind what it limits: "When it opened, ..." tells of a time.
_CUES: Final = re.compile(
    r"\b(?:" + "|".join(re.escape(cue) for cue in CONDITION_CUES) + r")\b|(?<=[a-z] )when\b|(?<=[a-z] )only\b",
    re.IGNORECASE,
)


def apply(analysis: Analysis) -> Analysis:
    """Compare every grounded claim with its facts."""
    if analysis.outputs.attributions is None:
        return analysis.ended(StageOutcome(KEY, StageStatus.SKIPPED, Reason.ATTRIBUTION_NOT_AVAILABLE))
    grounded = _grounded(analysis)
    if not grounded:
        return analysis.ended(StageOutcome(KEY, StageStatus.NOT_APPLICABLE, Reason.NO_GROUNDED_CLAIMS), distortions=())
    found: list[Distortion] = []
    heard = {case.case.claim.claim_id: case for case in heard_cases(analysis)}
    for item in grounded:
        found += _check(analysis, item) or unseen(analysis, item, heard.get(item.claim.claim_id))
    status, reason = nli_status(analysis)
    return analysis.ended(StageOutcome(KEY, status, reason, findings=len(found)), distortions=tuple(found))


def nli_status(analysis: Analysis) -> tuple[StageStatus, Reason]:
    """Say how a stage ends that has rules and should have an entailment model as well."""
    if analysis.models.entailment_tokens is None:
        return StageStatus.DEGRADED, Reason.ENTAILMENT_MODEL_NOT_CONFIGURED
    if analysis.models.classified is None:
        return StageStatus.DEGRADED, Reason.ENTAILMENT_MODEL_FAILED
    return StageStatus.COMPLETED, Reason.NONE


def _grounded(analysis: Analysis) -> list[Attribution]:
    items = (analysis.outputs.attributions or {}).values()
    return [item for item in items if item.type is AttributionType.CONTEXT_GROUNDED]


def _check(analysis: Analysis, item: Attribution) -> list[Distortion]:
    views = [analysis.outputs.fact_views[evidence.fact_index] for evidence in item.evidence]
    claim = ClaimWords.of(item.claim)
    nearest = matches(claim, [clause for view in views for clause in view.clauses])
    if not nearest:
        return []
    stripped = _stripped(analysis, claim, nearest[0])
    if nearest[0].is_copy:
        return stripped
    found = _values(analysis, item.claim, nearest)
    found += _bounds(analysis, item.claim, nearest)
    found += _names(analysis, item.claim, nearest_for_names(claim, nearest))
    found += _negation(analysis, item.claim, nearest)
    return found + stripped


def _fact_id(analysis: Analysis, match: Match) -> str:
    return analysis.outputs.fact_views[match.clause.fact_index].fact.fact_id


def _values(analysis: Analysis, claim: Claim, nearest: Sequence[Match]) -> list[Distortion]:
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
        for pair in align_values(claim, nearest)
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
    if EntityKind.PERCENT in {claimed.kind, known.kind}:
        return DistortionType.MAGNITUDE_ALTERED
    return DistortionType.NUMBER_CHANGED


def _names(analysis: Analysis, claim: Claim, nearest: Match) -> list[Distortion]:
    if nearest.containment < SUBSTITUTION_OVERLAP:
        return []
    return [
        Distortion(
            DistortionType.ENTITY_SUBSTITUTED,
            claim.claim_id,
            _fact_id(analysis, nearest),
            Span(claimed.start, claimed.end),
            Span(known.start, known.end),
            AlignedValue(_as_value(claimed), _as_value(known), equal=False),
        )
        for claimed, known in substituted_names(claim, nearest)
    ]


def _as_value(entity: Entity) -> Value:
    return Value(entity.kind, entity.text, entity.start, entity.end, entity.text.casefold())


def _negation(analysis: Analysis, claim: Claim, nearest: Sequence[Match]) -> list[Distortion]:
    """Report a flip when the nearest clauses all differ from the claim in polarity."""
    best = nearest[0]
    if best.jaccard < FLIP_OVERLAP or on_other_sides(claim, best.clause):
        # "After 12 months it is not paid" and "within 12 months it is paid" do not contradict each other.
        return []
    as_near = [match for match in nearest if match.containment >= best.containment and match.jaccard >= FLIP_OVERLAP]
    negated = is_negated(claim.text)
    texts = [analysis.outputs.fact_views[match.clause.fact_index].fact.content for match in as_near]
    if any(
        is_negated(text[match.clause.span.start : match.clause.span.end]) == negated
        for text, match in zip(texts, as_near, strict=True)
    ):
        return []
    return [
        Distortion(
            DistortionType.NEGATION_FLIP,
            claim.claim_id,
            _fact_id(analysis, best),
            Span(claim.start, claim.end),
            best.clause.span,
        )
    ]


def _stripped(analysis: Analysis, claim: ClaimWords, best: Match) -> list[Distortion]:
    """Report a condition of the fact's sentence that neither the claim's sentence nor its neighbours carry."""
    content = analysis.outputs.fact_views[best.clause.fact_index].fact.content
    sentence = content[best.clause.sentence.start : best.clause.sentence.end]
    cue = _CUES.search(sentence)
    if cue is None or containment(claim.stems, content_stems(sentence)) < STRIP_OVERLAP:
        return []
    around = _neighbourhood(analysis, claim.claim)
    # What the cue governs beyond the claim's own words; an adverb ("conditionally approved") governs those.
    condition = content_stems(_condition(sentence, cue)) - claim.stems
    if not condition and cue.group().lower() not in CONDITION_ADVERBS:
        return []
    if _CUES.search(around) or containment(condition, content_stems(around)) >= MIN_CONDITION_OVERLAP:
        return []
    start = best.clause.sentence.start
    return [
        Distortion(
            DistortionType.CONTEXT_STRIPPED,
            claim.claim.claim_id,
            _fact_id(analysis, best),
            Span(claim.claim.start, claim.claim.end),
            Span(start + cue.start(), start + cue.end()),
        )
    ]


MIN_CONDITION_OVERLAP: Final = 0.5
_CONDITION_REACH_CHARS: Final = 80


def _condition(sentence: str, cue: re.Match[str]) -> str:
    """Return the words that the cue governs: up to the next comma, or before an "only" that ends its clause."""
    behind = re.split(r"[,.;]", sentence[cue.end() : cue.end() + _CONDITION_REACH_CHARS], maxsplit=1)[0]
    if behind.strip() or cue.group().lower() != "only":
        return behind
    return re.split(r"[,.;]", sentence[max(0, cue.start() - _CONDITION_REACH_CHARS) : cue.start()])[-1]


def _neighbourhood(analysis: Analysis, claim: Claim) -> str:
    """Return the claim's sentence with the one before and the one after."""
    sentences = analysis.outputs.sentences
    first, last = max(0, claim.sentence_index - 1), min(len(sentences) - 1, claim.sentence_index + 1)
    return analysis.input.answer[sentences[first].start : sentences[last].end]
