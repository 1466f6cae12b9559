"""Stage 4, entailment (SPEC-005 §6, decision 13): is the answer, chunk by chunk, entailed by the envelope?

Each chunk of the answer is read against windows of facts, the nearest facts first and together, up to what the encoder
reads. The best premise window counts for a chunk, the worst chunk for the answer (weakest link). All pairs go out in
one batch, and the outcome says how many windows of how many were read.
"""

from collections.abc import Sequence
from math import ceil
from typing import Final

import numpy as np

from services.common.ports.entailment import CONTRADICTION, ENTAILMENT, NEUTRAL
from services.dpe.domain.analysis import Analysis, Entailment, Pair, Vectors, fact_vectors
from services.dpe.domain.outcome import Reason, StageKey, StageOutcome, StageStatus
from services.dpe.domain.text_types import SentenceKind

KEY: Final = StageKey(4)
CHARS_PER_TOKEN: Final = 3
"""A low estimate for English word pieces, so that a window that is counted full is never cut by the encoder."""
CHUNK_SHARE: Final = 0.25
"""Share of the encoder's window that a response chunk may take; the premise has the rest."""
MAX_PREMISE_WINDOWS: Final = 4
"""Premise windows that are read for each chunk, nearest facts first."""


def texts(analysis: Analysis) -> list[str]:
    """Return the chunks, whose vectors order the facts; none without an entailment model."""
    return [] if analysis.models.entailment_tokens is None else chunks(analysis)


def chunks(analysis: Analysis) -> list[str]:
    """Return the answer cut at sentence ends into pieces of a quarter of the encoder's window."""
    limit = int((analysis.models.entailment_tokens or 0) * CHUNK_SHARE) * CHARS_PER_TOKEN
    found: list[str] = []
    start, end = -1, -1
    for sentence in analysis.outputs.sentences:
        if sentence.kind in {SentenceKind.CODE, SentenceKind.HEADING}:
            continue
        if start >= 0 and sentence.end - start > limit:
            found.append(analysis.input.answer[start:end])
            start = -1
        start = sentence.start if start < 0 else start
        end = sentence.end
    if start >= 0:
        found.append(analysis.input.answer[start:end])
    return found


def pairs(analysis: Analysis) -> list[Pair]:
    """Return (premise window, chunk) for every chunk and every window that is read."""
    return [(premise, chunk) for chunk, premises in _premises(analysis) for premise in premises[:MAX_PREMISE_WINDOWS]]


def apply(analysis: Analysis) -> Analysis:
    """Score the answer from the classified pairs."""
    if analysis.models.entailment_tokens is None:
        return analysis.ended(StageOutcome(KEY, StageStatus.SKIPPED, Reason.ENTAILMENT_MODEL_NOT_CONFIGURED))
    if not analysis.input.facts:
        return analysis.ended(StageOutcome(KEY, StageStatus.SKIPPED, Reason.EMPTY_ENVELOPE))
    if not chunks(analysis):
        return analysis.ended(StageOutcome(KEY, StageStatus.NOT_APPLICABLE, Reason.EMPTY_RESPONSE))
    classified = analysis.models.classified
    if analysis.outputs.attributions is None or analysis.models.vectors is None:
        return analysis.ended(StageOutcome(KEY, StageStatus.SKIPPED, Reason.ATTRIBUTION_NOT_AVAILABLE))
    if classified is None:
        return analysis.ended(StageOutcome(KEY, StageStatus.FAILED, Reason.ENTAILMENT_MODEL_FAILED))
    planned = _premises(analysis)
    best = [
        max((classified[premise, chunk] for premise in premises[:MAX_PREMISE_WINDOWS]), key=lambda row: row[ENTAILMENT])
        for chunk, premises in planned
    ]
    weakest = min(best, key=lambda row: row[ENTAILMENT])
    result = Entailment(
        float(weakest[ENTAILMENT]),
        float(weakest[NEUTRAL]),
        float(weakest[CONTRADICTION]),
        len(planned),
        sum(len(premises) for _, premises in planned),
        sum(min(len(premises), MAX_PREMISE_WINDOWS) for _, premises in planned),
    )
    return analysis.ended(StageOutcome(KEY, StageStatus.COMPLETED, findings=len(planned)), entailment=result)


def _premises(analysis: Analysis) -> list[tuple[str, list[str]]]:
    """Return for each chunk its premise windows, the one with the nearest facts first."""
    table = analysis.models.vectors
    if table is None or not analysis.input.facts:
        return []
    facts = fact_vectors(analysis)
    contents = [fact.content for fact in analysis.input.facts]
    budget = int((analysis.models.entailment_tokens or 0) * (1 - CHUNK_SHARE))
    return [(chunk, _windows(contents, _nearest(table.of([chunk])[0], facts), budget)) for chunk in chunks(analysis)]


def _nearest(vector: Vectors, facts: Vectors) -> list[int]:
    return [int(index) for index in np.argsort(-(facts @ vector), kind="stable")]


def _windows(contents: Sequence[str], order: Sequence[int], budget_tokens: int) -> list[str]:
    windows: list[list[str]] = []
    used = 0
    for index in order:
        cost = ceil((len(contents[index]) + 1) / CHARS_PER_TOKEN)
        if not windows or used + cost > budget_tokens:
            windows.append([])
            used = 0
        windows[-1].append(contents[index])
        used += cost
    return ["\n".join(window) for window in windows]
