"""Stage 10, omission (SPEC-005 §12): important facts of the envelope that no sentence of the answer covers.

An envelope holds what fits, most of it beside the question: of what §12.2 finds, that counts which would itself cover a
part of the query by §10.2's threshold. The rest is kept and counted apart (ADR 0097).

A fact in another language is not looked for, and an answer that is mostly in one is not said to omit any (ADR 0047).
"""

from collections.abc import Sequence
from typing import Final

from services.common.taxonomy import StageStatus
from services.dpe.domain.analysis import Analysis, fact_vectors
from services.dpe.domain.findings import Omission, OmissionSeverity
from services.dpe.domain.models import Requests
from services.dpe.domain.outcome import Reason, StageOutcome
from services.dpe.domain.policy import (
    COVERED_SIMILARITY,
    OMISSION_SIMILARITY,
    OMITTED_CRITICAL,
    OMITTED_HIGH,
    OMITTED_MEDIUM,
)
from services.dpe.domain.query_parts import standalone
from services.dpe.domain.results import OmissionResult
from services.dpe.domain.stage import Batch, Stage
from services.dpe.domain.stage_row import StageKey
from services.dpe.domain.stages import s01_claims, s02_attribution
from services.dpe.domain.unsupported_language import any_unread, is_unread, is_unread_text, mostly_unread


def ask_vectors(analysis: Analysis) -> Requests:
    """Ask for the vectors of the answer's sentences and of the parts of the query; those of the facts are stage 2's."""
    said = (analysis.text_of(sentence) for sentence in analysis.outputs.text.sentences)
    return Requests(embed=(*said, *standalone(analysis)))


def apply(analysis: Analysis) -> Analysis:
    """Look for each important fact in the answer."""
    facts = analysis.input.facts
    important = [
        index
        for index, fact in enumerate(facts)
        if fact.importance_weight >= OMITTED_MEDIUM and not fact.superseded  # what does not hold is rightly left out
    ]
    if not important:
        outcome = StageOutcome(STAGE, StageStatus.NOT_APPLICABLE, Reason.NO_IMPORTANT_FACTS)
        return analysis.ended(outcome, OmissionResult(()))
    table = analysis.models.vectors
    if table is None:
        return analysis.ended(StageOutcome(STAGE, StageStatus.FAILED, Reason.EMBEDDING_MODEL_FAILED))
    sentences = analysis.outputs.text.sentences
    said = list(dict.fromkeys(analysis.text_of(sentence) for sentence in sentences if not is_unread(sentence)))
    best: list[float | None] = [None] * len(important)
    if said:
        similar = table.calibration.apply(fact_vectors(analysis)[important] @ table.of(said).T).max(axis=1)
        best = [float(value) for value in similar]
    missing = [
        (index, value)
        for index, value in zip(important, best, strict=True)
        if value is None or value < OMISSION_SIMILARITY
    ]
    near = _query_similarities(analysis, important)
    found = tuple(
        Omission(
            facts[index].fact_id,
            _severity(facts[index].importance_weight),
            facts[index].importance_weight,
            value,
            asked=near is None or near[index] > COVERED_SIMILARITY,
            query_similarity=None if near is None else near[index],
        )
        for index, value in missing
        if not is_unread_text(facts[index].content)
    )
    unread_facts = len(missing) - len(found)
    if unread_facts == len(important) or (found and mostly_unread(sentences)):
        return analysis.ended(StageOutcome(STAGE, StageStatus.DEGRADED, Reason.LANGUAGE_NOT_SUPPORTED))
    status, reason = StageStatus.COMPLETED, Reason.NONE
    if unread_facts or (found and any_unread(sentences)):
        status, reason = StageStatus.DEGRADED, Reason.LANGUAGE_NOT_SUPPORTED
    outcome = StageOutcome(STAGE, status, reason, findings=sum(each.asked for each in found))
    return analysis.ended(outcome, OmissionResult(found))


def _query_similarities(analysis: Analysis, wanted: Sequence[int]) -> dict[int, float] | None:
    """Return the largest similarity of a part of the query to each fact; ``None`` when no part of it can be read."""
    table = analysis.models.vectors
    read = [part for part in standalone(analysis) if not is_unread_text(part)]
    if table is None or not read:
        return None
    similar = table.calibration.apply(fact_vectors(analysis)[list(wanted)] @ table.of(read).T).max(axis=1)
    return {index: float(value) for index, value in zip(wanted, similar, strict=True)}


def _severity(importance: float) -> OmissionSeverity:
    # SPEC-005 §12.2 step 3.
    if importance >= OMITTED_CRITICAL:
        return OmissionSeverity.CRITICAL
    return OmissionSeverity.HIGH if importance >= OMITTED_HIGH else OmissionSeverity.MEDIUM


STAGE: Final = Stage(
    key=StageKey(10),
    name="Omission Detection",
    section="CRP-SPEC-005 §12",
    needs=(s01_claims.STAGE, s02_attribution.STAGE),
    apply=apply,
    shares={Batch.VECTORS: ask_vectors},
)
