"""Stage 3b, distortion (SPEC-005 §5.3): grounded claims that misrepresent their facts, in six types.

Values are compared directly; negation, names and conditions by aligned words. Without an entailment model the stage is
DEGRADED, for paraphrased contradictions are then not seen; with one and the grounding model's spans, a swapped name and
a turned negation are also found where words differ (``encoder_distortions``). The verdict on a claim is stage 3's.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from services.common.ports.recognition import Entity, EntityKind
from services.common.reading.clauses import finite_verb_at
from services.common.reading.labelled_rows import labelled_row
from services.common.reading.ratios import TIMES
from services.common.reading.text_types import Claim, ClaimType, Span, Value
from services.common.reading.values import with_period
from services.common.reading.words import containment, content_stems, words
from services.common.taxonomy import StageStatus
from services.dpe.domain.alignment import (
    NAMES,
    ClaimWords,
    Match,
    matches,
    misattached,
    nearest_for_names,
    substituted_names,
)
from services.dpe.domain.analysis import Analysis
from services.dpe.domain.antecedents import antecedents
from services.dpe.domain.capitals import replaced
from services.dpe.domain.departed import departed, quoted_words, without_echoes
from services.dpe.domain.encoder_distortions import encoder_distortions
from services.dpe.domain.entailment_status import entailment_status
from services.dpe.domain.findings import AlignedValue, Attribution, AttributionType, Distortion, DistortionType, Rule
from services.dpe.domain.flips import flipped
from services.dpe.domain.misquoted_values import is_misquoted
from services.dpe.domain.outcome import Reason, StageOutcome
from services.dpe.domain.policy import MIXED_SIMILARITY
from services.dpe.domain.qualifiers import left_out, limits_another_statement
from services.dpe.domain.results import DistortionResult
from services.dpe.domain.roles import crossed, swapped
from services.dpe.domain.rules.nearness import repeats
from services.dpe.domain.rules.reading import roots
from services.dpe.domain.stage import Stage
from services.dpe.domain.stage_row import RiskSignal, StageKey
from services.dpe.domain.stages import s01_claims, s02_attribution
from services.dpe.domain.verdict_eligibility import judged_claims
from services.dpe.domain.verdicts import ModelOpinion, heard_cases

STRIP_OVERLAP: Final = 0.8
"""Share of the claim's content words in the fact's sentence from which on a missing condition was stripped."""
SUBSTITUTION_OVERLAP: Final = 0.5
READ_CHARS: Final = 600
"""So much of claim and sentence is read on either side of what differs: bounded work on hostile texts."""


def apply(analysis: Analysis) -> Analysis:
    """Compare every grounded claim with its facts."""
    if analysis.outputs.attribution.by_claim is None:
        return analysis.ended(StageOutcome(STAGE, StageStatus.SKIPPED, Reason.ATTRIBUTION_NOT_AVAILABLE))
    grounded = [item for item in _grounded(analysis) if analysis.is_scored(item.claim)]
    meant = antecedents(analysis.outputs.text.claims, analysis.input.answer)
    if not grounded and not judged_claims(analysis.outputs.text.claims):
        return analysis.ended(
            StageOutcome(STAGE, StageStatus.NOT_APPLICABLE, Reason.NO_GROUNDED_CLAIMS), DistortionResult(())
        )
    found: list[Distortion] = []
    heard = {case.case.claim.claim_id: case for case in heard_cases(analysis)}
    departures = departed(analysis, meant)
    known = departures.distortions
    for item in grounded:
        words = ClaimWords.of(item.claim, meant.get(item.claim.claim_id, frozenset()))
        told = _told(known.pop(item.claim.claim_id, []), heard.get(item.claim.claim_id))
        checked = departures.without_silent(item.claim.claim_id, _check(analysis, item, words) + told)
        distortions = without_echoes(checked)
        if not distortions and item.attribution is not None:
            guessed = encoder_distortions(analysis, item.attribution, heard.get(item.claim.claim_id))
            distortions = departures.without_silent(item.claim.claim_id, guessed)
        found += distortions
    # What no fact is near enough to ground is held against the facts that it is judged by.
    compared = {item.claim.claim_id for item in grounded}
    for claim in judged_claims(analysis.outputs.text.claims):
        if claim.claim_id not in compared and analysis.is_scored(claim):
            own = [pair for pair in analysis.outputs.attribution.alignments.get(claim.claim_id, ()) if _differs(pair)]
            told = _told(known.get(claim.claim_id, []), heard.get(claim.claim_id))
            checked = departures.without_silent(claim.claim_id, _value_distortions(analysis, claim, own) + told)
            found += without_echoes(checked)
    status, reason = entailment_status(analysis)
    places = analysis.outputs.attribution.answer_places
    misplaced = [place.distortion for place in places.values() if place.distortion is not None]
    in_place = {key for key, place in places.items() if place.is_own}
    return analysis.ended(
        StageOutcome(STAGE, status, reason, findings=len(found) + len(misplaced)),
        DistortionResult(
            (*_with_nearness(analysis, found), *misplaced), departures.unworded, departures.in_cells | in_place
        ),
    )


def _told(found: Sequence[Distortion], heard: ModelOpinion | None) -> list[Distortion]:
    """Return what rules find, guesses where the entailment model contradicts the claim, too."""
    if not any(item.is_guess for item in found) or (heard is not None and heard.contradicts):
        return list(found)
    return [item for item in found if not item.is_guess]


def _with_nearness(analysis: Analysis, found: Sequence[Distortion]) -> Iterator[Distortion]:
    """Yield the distortions with whether each claim repeats the sentence that it departs from."""
    claims = {claim.claim_id: claim for claim in analysis.outputs.text.claims}
    query = analysis.input.query
    asked = roots(query) if found else frozenset[str]()
    views = {view.fact.fact_id: view for view in analysis.outputs.text.fact_views}
    for item in found:
        claim, view = claims[item.claim_id], views[item.fact_id]
        at = bisect_right(view.clauses, item.fact_span.start, key=lambda clause: clause.span.start) - 1
        whole = (view.clauses[at].sentence, view.clauses[at].span) if at >= 0 else (item.fact_span,)
        said = _around(analysis.input.answer, Span(claim.start, claim.end), item.answer_span)
        there = (_around(view.fact.content, one, item.fact_span) for one in whole)
        is_near = item.is_same or any(repeats(*said, *one, asked) for one in there)
        is_plain = is_near and item.rule is Rule.APPLIED and is_misquoted(claim, item, view, whole[0], query)
        yield replace(item, is_near=is_near, rule=Rule.VALUE if is_plain else item.rule)


def _around(text: str, whole: Span, words: Span) -> tuple[str, Span]:
    """Return a stretch around words, as much as is read of it, and where the words stand in it."""
    start, end = max(whole.start, words.start - READ_CHARS), min(whole.end, words.end + READ_CHARS)
    return text[start:end], Span(words.start - start, words.end - start)


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
    attributions, found = analysis.outputs.attribution.by_claim or {}, list[_Grounded]()
    for claim in analysis.outputs.text.claims:
        item = attributions.get(claim.claim_id)
        if item is not None and item.type in _COMPARED:
            whole = item if item.type is AttributionType.CONTEXT_GROUNDED else None
            found.append(_Grounded(claim, tuple(evidence.fact_index for evidence in item.evidence), whole))
        elif claim.claim_type is ClaimType.PROCEDURAL:
            passages = analysis.outputs.attribution.passages.get(claim.claim_id, ())
            near = tuple(one.fact_index for one in passages if one.similarity >= MIXED_SIMILARITY)
            found += [_Grounded(claim, near, None)] if near else []
    return found


_COMPARED: Final = frozenset({AttributionType.CONTEXT_GROUNDED, AttributionType.MIXED})


def _check(analysis: Analysis, item: _Grounded, claim: ClaimWords) -> list[Distortion]:
    views = [analysis.outputs.text.fact_views[index] for index in item.fact_indices]
    nearest = matches(claim, [clause for view in views for clause in view.clauses])
    if not nearest:
        return []
    stripped = _stripped(analysis, claim, nearest)
    if nearest[0].is_copy:
        return stripped
    found = _values(analysis, claim, nearest)
    found += _names(analysis, item.claim, nearest_for_names(claim, nearest)) or _roles(analysis, item.claim, nearest)
    found += _negation(analysis, claim, nearest)
    return found + stripped


def _fact_id(analysis: Analysis, match: Match) -> str:
    return analysis.outputs.text.fact_views[match.clause.fact_index].fact.fact_id


def _values(analysis: Analysis, words: ClaimWords, nearest: Sequence[Match]) -> list[Distortion]:
    """Report values in whose place the facts have another, and equal ones on the other side of a limit."""
    claim = words.claim
    pairs = [pair for pair in analysis.outputs.attribution.alignments.get(claim.claim_id, ()) if _differs(pair)]
    alike = Counter((value.kind, value.unit) for value in claim.values)
    firm = [
        pair
        for pair in analysis.outputs.attribution.alignments.get(claim.claim_id, ())
        # Of two values that measure the same each may stand in the other's place.
        if pair.equal and pair.is_firm and alike[pair.claimed.kind, pair.claimed.unit] == 1
    ]
    told = {pair.claimed for pair in [*pairs, *firm]}
    pairs += [pair for pair, _ in misattached(claim, nearest, words.antecedent) if pair.claimed not in told]
    return _value_distortions(analysis, claim, pairs)


def _differs(pair: AlignedValue) -> bool:
    return pair.turned or not pair.equal


def _value_distortions(analysis: Analysis, claim: Claim, pairs: Sequence[AlignedValue]) -> list[Distortion]:
    return [
        Distortion(
            _type_of_bound(pair.claimed) if pair.turned else _type_of(pair.claimed, pair.known),
            claim.claim_id,
            analysis.outputs.text.fact_views[pair.fact_index].fact.fact_id,
            Span(pair.claimed.start, pair.claimed.end),
            Span(pair.known.start, pair.known.end),
            pair,
            Rule.BOUND if pair.turned else Rule.APPLIED if pair.is_applied else Rule.VALUE,
        )
        for pair in (_with_periods(analysis, one) for one in pairs)
        if pair.fact_index is not None
    ]


def _with_periods(analysis: Analysis, pair: AlignedValue) -> AlignedValue:
    """Return equal amounts for different lengths of time with the words that tell them apart: "60 days a year"."""
    claimed, known = pair.claimed, pair.known
    is_other = claimed.per != known.per and claimed.per and known.per and claimed.magnitude == known.magnitude
    if not is_other or pair.fact_index is None:
        return pair
    fact = analysis.outputs.text.fact_views[pair.fact_index].fact.content
    claimed, known = with_period(analysis.input.answer, claimed), with_period(fact, known)
    return replace(pair, claimed=claimed, known=known, is_applied=False)


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
    content = analysis.outputs.text.fact_views[nearest.clause.fact_index].fact.content
    # What labels another cell of the row ("Plus: £2,000") is no name in whose place another stands.
    pairs = [pair for pair in pairs if f"{pair[0].text}:" not in content]
    if labelled_row(content):  # nor is what another cell of the row says
        pairs = [pair for pair in pairs if pair[0].text not in content]
    return [_exchanged(analysis, claim, nearest, *pair) for pair in pairs]


def _roles(analysis: Analysis, claim: Claim, nearest: Sequence[Match]) -> list[Distortion]:
    """Report parties that changed places, within a clause or between the clauses of a sentence."""
    best = nearest[0]
    names = [entity for entity in claim.entities if entity.kind in NAMES]
    turned = swapped(claim.text, names, best.clause)
    if turned is not None:
        return [_exchanged(analysis, claim, best, *turned, rule=Rule.PARTIES)]
    sentence = [match.clause for match in nearest if match.clause.sentence == best.clause.sentence]
    clause = crossed(claim.text, [one for one in sentence if one.fact_index == best.clause.fact_index])
    if clause is None:
        return []
    kind, span = DistortionType.ENTITY_SUBSTITUTED, Span(claim.start, claim.end)
    return [Distortion(kind, claim.claim_id, _fact_id(analysis, best), span, clause.span, rule=Rule.PARTIES)]


def _exchanged(
    analysis: Analysis, claim: Claim, nearest: Match, claimed: Entity, known: Entity, *, rule: Rule = Rule.NAME
) -> Distortion:
    return Distortion(
        DistortionType.ENTITY_SUBSTITUTED,
        claim.claim_id,
        _fact_id(analysis, nearest),
        Span(claimed.start, claimed.end),
        Span(known.start, known.end),
        AlignedValue(_as_value(claimed), _as_value(known), equal=False),
        rule,
    )


def _as_value(entity: Entity) -> Value:
    return Value(entity.kind, entity.text, entity.start, entity.end, entity.text.casefold())


def _negation(analysis: Analysis, words: ClaimWords, nearest: Sequence[Match]) -> list[Distortion]:
    """Report a flip when every clause that says nearly the same is turned against the claim."""
    flip = flipped(words, nearest)
    if flip is None:
        return []
    clause = flip.match.clause
    content = analysis.outputs.text.fact_views[clause.fact_index].fact.content
    values = AlignedValue(
        quoted_words(analysis.input.answer, flip.claimed), quoted_words(content, flip.known), equal=False
    )
    kind, fact_id = DistortionType.NEGATION_FLIP, _fact_id(analysis, flip.match)
    return [Distortion(kind, words.claim.claim_id, fact_id, flip.claimed, flip.known, values, Rule.NEGATION)]


def _stripped(analysis: Analysis, claim: ClaimWords, nearest: Sequence[Match]) -> list[Distortion]:
    """Report a limit of the fact's sentence that neither the claim's sentence nor its neighbours carry.

    A claim that stands word for word in another fact too, and there without a limit, leaves nothing out.
    """
    best = nearest[0]
    limit = _limit(analysis, claim, best)
    if limit is None or any(_limit(analysis, claim, match) is None for match in nearest[1:] if match.is_copy):
        return []
    kind, span = DistortionType.CONTEXT_STRIPPED, Span(claim.claim.start, claim.claim.end)
    return [Distortion(kind, claim.claim.claim_id, _fact_id(analysis, best), span, limit, rule=Rule.LIMIT)]


def _limit(analysis: Analysis, claim: ClaimWords, match: Match) -> Span | None:
    """Return the limit of the clause's sentence that is left out, with offsets in the fact."""
    content = analysis.outputs.text.fact_views[match.clause.fact_index].fact.content
    sentence, start = match.clause.sentence, match.clause.sentence.start
    source = content[start : sentence.end]
    # A name that answers a question repeats no sentence.
    states = finite_verb_at(words(claim.claim.text)) is not None
    if not states or containment(claim.stems, content_stems(source)) < STRIP_OVERLAP:
        return None
    clause = Span(match.clause.span.start - start, match.clause.span.end - start)
    limit = left_out(source, claim.claim.text, _neighbourhood(analysis, claim.claim), clause)
    if limit is None or _is_of_another_value(analysis, claim.claim, match, start + limit.start):
        return None
    if limits_another_statement(source, claim.claim.text, limit.start):
        return None
    return Span(start + limit.start, start + limit.end)


def _is_of_another_value(analysis: Analysis, claim: Claim, match: Match, limit: int) -> bool:
    """Say whether a value that measures the same stands between the claim's and the limit: it is the limited one.

    "Kept for 10 years, and for 30 years when a person was injured" limits the 30 years.
    """
    sentence = match.clause.sentence
    values = [
        value
        for value in analysis.outputs.text.fact_views[match.clause.fact_index].values
        if sentence.start <= value.start < limit
    ]
    given = {value.normal for value in claim.values}
    return any(
        own.normal in given and own.end <= other.start and (other.kind, other.unit) == (own.kind, own.unit)
        for own in values
        for other in values
        if other.normal != own.normal
    )


def _neighbourhood(analysis: Analysis, claim: Claim) -> str:
    """Return the claim's sentence with the one before and the one after."""
    sentences = analysis.outputs.text.sentences
    first, last = max(0, claim.sentence_index - 1), min(len(sentences) - 1, claim.sentence_index + 1)
    return analysis.input.answer[sentences[first].start : sentences[last].end]


STAGE: Final = Stage(
    key=StageKey(3, "b"),
    name="Distortion Detection",
    section="CRP-SPEC-005 §5.3",
    needs=(s01_claims.STAGE, s02_attribution.STAGE),
    signals=frozenset({RiskSignal.FIDELITY}),
    always_runs=True,
    apply=apply,
)
