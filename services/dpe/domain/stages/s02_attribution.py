"""Stage 2, attribution (SPEC-005 §4, ADR 0012, 0015): what each factual claim rests on.

By calibrated similarity alone, of the claim to the fact or to the part of it that is nearest: a fact of three sentences
bears a claim out when one of them does. Whether a grounded claim says what its fact says is stage 3's question. On the
way it chooses the facts by which stage 3 judges each claim, PROCEDURAL ones that state facts included (ADR 0041).
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import numpy as np
from numpy.typing import NDArray

from services.common.questions.told import told_values
from services.common.reading.agreement import agrees
from services.common.reading.text_types import Claim, Value
from services.common.taxonomy import GroundingMode, StageStatus
from services.dpe.domain.alignment import ClaimWords, align_values, claim_stems
from services.dpe.domain.analysis import Analysis, fact_vectors
from services.dpe.domain.answer_places import answer_places
from services.dpe.domain.antecedents import antecedents
from services.dpe.domain.findings import AlignedValue, Attribution, AttributionType, NearFact
from services.dpe.domain.models import Requests, Vectors, VectorTable
from services.dpe.domain.notation import restated
from services.dpe.domain.outcome import Reason, StageOutcome
from services.dpe.domain.passages import MAX_PASSAGES, MentionIndex, choose, evidence
from services.dpe.domain.policy import GROUNDED_SIMILARITY, MIXED_SIMILARITY, SPECIFIC_CLAIM
from services.dpe.domain.quotations import Quotation, quotations
from services.dpe.domain.results import AttributionResult, Comparison
from services.dpe.domain.stage import Batch, Stage
from services.dpe.domain.stage_row import RiskSignal, StageKey
from services.dpe.domain.stages import s01_claims
from services.dpe.domain.verdict_eligibility import judged_claims
from services.dpe.domain.worked_out import values_beside
from services.dpe.domain.workings import answer_workings, is_of_something_else, with_workings

EVIDENCE_PER_CLAIM: Final = 3
_ROWS_AT_ONCE: Final = 1_024


def ask_vectors(analysis: Analysis) -> Requests:
    """Ask for the vectors of claims, facts and the parts of facts."""
    texts = [claim.text for claim in judged_claims(analysis.outputs.text.claims)]
    texts += _restated(analysis).values()
    texts += [fact.content for fact in analysis.input.facts if fact.embedding is None]
    texts += [part for view in analysis.outputs.text.fact_views for part in view.parts]
    return Requests(embed=tuple(texts))


def apply(analysis: Analysis) -> Analysis:
    """Attribute every factual claim."""
    claims = analysis.factual_claims
    said = [analysis.text_of(sentence) for sentence in analysis.outputs.text.sentences]
    # A claim that takes in a list is more than the sentence that heads it.
    longer = {one.sentence_index for one in analysis.outputs.text.claims if one.end > _end_of(analysis, one)}
    quoted, formerly = (
        {number: place for number, place in found.items() if number not in longer}
        for is_former in (False, True)
        for found in [quotations(said, analysis.outputs.text.fact_views, superseded=is_former)]
    )
    result = AttributionResult(quotations=quoted, answer_places=answer_places(analysis))
    analysis = analysis.with_results(result)
    if analysis.models.vectors is None and claims:
        return analysis.ended(StageOutcome(STAGE, StageStatus.FAILED, Reason.EMBEDDING_MODEL_FAILED), result)
    facts = analysis.input.facts
    held = [index for index, fact in enumerate(facts) if not fact.superseded]
    compared = {item.attribution.claim.claim_id: item for item in _compare(analysis, held)}
    result = replace(
        result,
        passages={key: item.passages for key, item in compared.items()},
        alignments={key: item.aligned for key, item in compared.items() if item.aligned},
    )
    if len(held) < len(facts):  # what does not hold now contradicts nothing: it is asked by itself (ADR 0109)
        result = replace(result, former=_against_former(analysis, formerly))
    if not claims:
        outcome = StageOutcome(STAGE, StageStatus.NOT_APPLICABLE, Reason.NO_FACTUAL_CLAIMS)
        return analysis.ended(outcome, replace(result, by_claim={}))
    attributions = {claim.claim_id: compared[claim.claim_id].attribution for claim in claims}
    counted = [item.type for item in attributions.values()]
    violations: tuple[str, ...] = ()
    if analysis.input.grounding_mode is GroundingMode.OPEN:
        # ADR 0015: in open mode what the model knows by itself does not count against attribution.
        counted = [kind for kind in counted if kind is not AttributionType.PARAMETRIC]
    if analysis.input.grounding_mode is GroundingMode.CONTEXT_STRICT:
        violations = tuple(key for key, item in attributions.items() if item.type is AttributionType.PARAMETRIC)
    grounded = sum(1 for kind in counted if kind is AttributionType.CONTEXT_GROUNDED)
    result = replace(
        result,
        by_claim=attributions,
        grounding_pct=grounded / len(counted) if counted else None,  # SPEC-005 §4.4
        dominant=_dominant([item.type for item in attributions.values()]),
        grounding_violations=violations,
    )
    return analysis.ended(StageOutcome(STAGE, StageStatus.COMPLETED, findings=len(attributions)), result)


def _end_of(analysis: Analysis, claim: Claim) -> int:
    found = analysis.outputs.text.sentences[claim.sentence_index : claim.sentence_index + 1]
    return found[0].end if found else claim.end


@dataclass(frozen=True, slots=True)
class _Compared:
    """What a claim rests on, the facts to judge it by, and its values in their places there (ADR 0094)."""

    attribution: Attribution
    passages: tuple[NearFact, ...] = ()
    aligned: tuple[AlignedValue, ...] = ()


def _against_former(analysis: Analysis, quoted: Mapping[int, Quotation]) -> Comparison:
    """Hold the claims against the facts that do not hold now."""
    former = [index for index, fact in enumerate(analysis.input.facts) if fact.superseded]
    alone = analysis.with_results(AttributionResult(quotations=quoted))
    compared = {item.attribution.claim.claim_id: item for item in _compare(alone, former)}
    return Comparison(
        {claim.claim_id: compared[claim.claim_id].attribution for claim in analysis.factual_claims if compared},
        {key: item.passages for key, item in compared.items()},
        {key: item.aligned for key, item in compared.items() if item.aligned},
        quoted,
    )


def _compare(analysis: Analysis, among: Sequence[int]) -> list[_Compared]:
    """Compare every claim with some of the facts; what type of attribution it has, all of them decide."""
    claims = judged_claims(analysis.outputs.text.claims)
    table = analysis.models.vectors
    if not analysis.input.facts or table is None:
        return [_Compared(Attribution(claim, _unmatched(claim))) for claim in claims]
    allowed, held = frozenset(among), np.array(among, dtype=np.intp)
    units, starts = _units(analysis, table)
    otherwise = _restated(analysis)
    meant = antecedents(analysis.outputs.text.claims, analysis.input.answer)
    told = told_values(analysis.input.query)
    mentions = MentionIndex.of(analysis.outputs.text.fact_views)
    lengths = [len(fact.content) for fact in analysis.input.facts]
    sentences: defaultdict[int, list[Claim]] = defaultdict(list)
    for claim in claims:
        sentences[claim.sentence_index].append(claim)
    found: list[_Compared] = []
    for start in range(0, len(claims), _ROWS_AT_ONCE):
        block = claims[start : start + _ROWS_AT_ONCE]
        raw = np.maximum.reduceat(table.of([claim.text for claim in block]) @ units.T, starts, axis=1)
        rows = [row for row, claim in enumerate(block) if claim.text in otherwise]
        if rows:
            again = table.of([otherwise[block[row].text] for row in rows]) @ units.T
            raw[rows] = np.maximum(raw[rows], np.maximum.reduceat(again, starts, axis=1))
        similar = table.calibration.apply(raw)
        for row, claim in enumerate(block):
            order = _nearest(raw[row], held)
            quotation = analysis.outputs.attribution.quotations.get(claim.sentence_index)
            asked = analysis.outputs.attribution.answer_places.get(claim.claim_id)
            first = [one.fact_index for one in (quotation, asked) if one is not None]
            chosen = choose([*first, *order], mentions.sharing(claim, allowed), lengths)
            passages = tuple(NearFact(index, float(raw[row, index]), float(similar[row, index])) for index in chosen)
            near = dict.fromkeys([*chosen, *_kept(order, similar[row])])
            places = [place for index in near for place in analysis.outputs.text.fact_views[index].places]
            others = values_beside(claim, sentences[claim.sentence_index])
            aligned = align_values(claim, places, meant.get(claim.claim_id, frozenset()), others)
            aligned = [pair for pair in aligned if pair.equal or pair.derivation or not _is_told(claim, pair, told)]
            if quotation is not None or (asked is not None and asked.is_own):
                aligned = [pair for pair in aligned if pair.equal and not pair.turned]
            one = _one(analysis, claim, order, raw[row], similar[row], aligned)
            one = replace(one, type=_type(claim, float(similar[row][raw[row].argmax()])))
            found.append(_Compared(one, passages, tuple(aligned)))
    return _with_workings(analysis, found)


def _with_workings(analysis: Analysis, compared: Sequence[_Compared]) -> list[_Compared]:
    """Return the claims with what the answer works out from the question and the facts near any of its claims."""
    read = frozenset(near.fact_index for one in compared for near in one.passages)
    worked = answer_workings(analysis, [pair for one in compared for pair in one.aligned], read)
    found: list[_Compared] = []
    for one in compared:
        claim = one.attribution.claim
        shown = [each.fact_index for each in one.attribution.evidence]
        aligned = tuple(
            with_workings(one.aligned, claim.values, worked, shown, partial(is_of_something_else, analysis, claim))
        )
        if aligned != one.aligned:
            nearest = [
                NearFact(each.fact_index, each.raw_similarity, each.similarity) for each in one.attribution.evidence
            ]
            words = ClaimWords.of(claim)
            again = tuple(evidence(analysis, words, near, aligned) for near in nearest)
            one = replace(one, attribution=replace(one.attribution, evidence=again), aligned=aligned)  # noqa: PLW2901
        found.append(one)
    return found


def _is_told(claim: Claim, pair: AlignedValue, told: Sequence[tuple[Value, frozenset[str]]]) -> bool:
    """Say whether the asker states a value of the same thing in their own case (ADR 0213)."""
    said = claim_stems(claim) if told else frozenset()
    return any(agrees(pair.claimed, own) and said & stems for own, stems in told)


def _restated(analysis: Analysis) -> dict[str, str]:
    """Return the claims that the facts write otherwise: neither notation is held against a claim (ADR 0094)."""
    if not analysis.input.facts:
        return {}
    return restated(
        judged_claims(analysis.outputs.text.claims), (view.values for view in analysis.outputs.text.fact_views)
    )


def _units(analysis: Analysis, table: VectorTable) -> tuple[Vectors, list[int]]:
    """Return the vectors of every fact and its parts, fact by fact, and the row at which each fact begins."""
    whole = fact_vectors(analysis)
    rows: list[Vectors] = []
    starts: list[int] = []
    for index, view in enumerate(analysis.outputs.text.fact_views):
        starts.append(len(rows))
        rows.append(whole[index])
        rows.extend(table.of(view.parts) if view.parts else ())
    return np.stack(rows), starts


def _nearest(raw: Vectors, among: NDArray[np.intp]) -> list[int]:
    """Return the nearest of some facts, as many as are read: by raw cosine, then by place in the envelope.

    ``among`` rises. However many facts there are, a claim costs one pass of NumPy over them.
    """
    values = raw[among]
    rows = np.arange(len(among))
    if len(values) > MAX_PASSAGES:
        rows = np.flatnonzero(values >= np.partition(values, -MAX_PASSAGES)[-MAX_PASSAGES])
    found: list[int] = among[rows[np.argsort(-values[rows], kind="stable")]][:MAX_PASSAGES].tolist()
    return found


def _kept(order: Sequence[int], similar: Vectors) -> list[int]:
    """Return the nearest facts: the first, and further ones that are near by themselves."""
    nearest = order[:EVIDENCE_PER_CLAIM]
    return [index for position, index in enumerate(nearest) if position == 0 or similar[index] >= MIXED_SIMILARITY]


def _one(
    analysis: Analysis, claim: Claim, order: Sequence[int], raw: Vectors, similar: Vectors,
    aligned: Sequence[AlignedValue],
) -> Attribution:  # fmt: skip
    words = ClaimWords.of(claim)
    found = tuple(
        evidence(analysis, words, NearFact(index, float(raw[index]), float(similar[index])), aligned)
        for index in _kept(order, similar)
    )
    return Attribution(claim, _unmatched(claim), found)


def _type(claim: Claim, similarity: float) -> AttributionType:
    # SPEC-005 §4.3, on the calibrated scale (ADR 0012).
    if similarity >= GROUNDED_SIMILARITY:
        return AttributionType.CONTEXT_GROUNDED
    if similarity >= MIXED_SIMILARITY:
        return AttributionType.MIXED
    return _unmatched(claim)


def _unmatched(claim: Claim) -> AttributionType:
    return AttributionType.UNVERIFIABLE if claim.specificity >= SPECIFIC_CLAIM else AttributionType.PARAMETRIC


def _dominant(kinds: Sequence[AttributionType]) -> AttributionType:
    """Return the most frequent type; of equals the riskier one, which the enum has last."""
    order = list(AttributionType)
    return max(order, key=lambda kind: (kinds.count(kind), order.index(kind)))


STAGE: Final = Stage(
    key=StageKey(2),
    name="Attribution Analysis",
    section="CRP-SPEC-005 §4",
    needs=(s01_claims.STAGE,),
    signals=frozenset(RiskSignal),
    always_runs=True,
    batches_after=1,  # verdicts
    computing_ahead=3.0,
    apply=apply,
    shares={Batch.VECTORS: ask_vectors},
    sends=Batch.VECTORS,
)
