"""Stage 10, omission (SPEC-005 §12): important facts of the envelope that no sentence of the answer covers.

A fact in another language is not looked for, and an answer that is mostly in one is not said to omit any (ADR 0047).
"""

from typing import Final

from services.dpe.domain.analysis import Analysis, fact_vectors
from services.dpe.domain.findings import Omission, OmissionSeverity
from services.dpe.domain.outcome import Reason, StageKey, StageOutcome, StageStatus
from services.dpe.domain.policy import OMISSION_SIMILARITY, OMITTED_CRITICAL, OMITTED_HIGH, OMITTED_MEDIUM
from services.dpe.domain.unread import any_unread, is_unread, is_unread_text, mostly_unread

KEY: Final = StageKey(10)


def apply(analysis: Analysis) -> Analysis:
    """Look for each important fact in the answer."""
    facts = analysis.input.facts
    important = [index for index, fact in enumerate(facts) if fact.importance_weight >= OMITTED_MEDIUM]
    if not important:
        outcome = StageOutcome(KEY, StageStatus.NOT_APPLICABLE, Reason.NO_IMPORTANT_FACTS)
        return analysis.ended(outcome, omissions=())
    table = analysis.models.vectors
    if table is None:
        return analysis.ended(StageOutcome(KEY, StageStatus.FAILED, Reason.EMBEDDING_MODEL_FAILED))
    sentences = analysis.outputs.sentences
    said = list(dict.fromkeys(analysis.text_of(sentence) for sentence in sentences if not is_unread(sentence)))
    best: list[float | None] = [None] * len(important)
    if said:
        similar = table.calibration.apply(fact_vectors(analysis)[important] @ table.of(said).T).max(axis=1)
        best = [float(value) for value in similar]
    missing = [
        (facts[index], value)
        for index, value in zip(important, best, strict=True)
        if value is None or value < OMISSION_SIMILARITY
    ]
    found = tuple(
        Omission(fact.fact_id, _severity(fact.importance_weight), fact.importance_weight, value)
        for fact, value in missing
        if not is_unread_text(fact.content)
    )
    unread_facts = len(missing) - len(found)
    if unread_facts == len(important) or (found and mostly_unread(sentences)):
        return analysis.ended(StageOutcome(KEY, StageStatus.DEGRADED, Reason.LANGUAGE_NOT_SUPPORTED))
    status, reason = StageStatus.COMPLETED, Reason.NONE
    if unread_facts or (found and any_unread(sentences)):
        status, reason = StageStatus.DEGRADED, Reason.LANGUAGE_NOT_SUPPORTED
    return analysis.ended(StageOutcome(KEY, status, reason, findings=len(found)), omissions=found)


def _severity(importance: float) -> OmissionSeverity:
    # SPEC-005 §12.2 step 3.
    if importance >= OMITTED_CRITICAL:
        return OmissionSeverity.CRITICAL
    return OmissionSeverity.HIGH if importance >= OMITTED_HIGH else OmissionSeverity.MEDIUM
