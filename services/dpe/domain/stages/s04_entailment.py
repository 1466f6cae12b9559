"""Stage 4, entailment (SPEC-005 §6, ADR 0041): is the answer, chunk by chunk, entailed by the envelope?

A chunk is a sentence that makes a claim, or its claims one by one where it is longer than half of what the encoder
reads; what asserts nothing cannot be entailed and is counted apart. Each chunk is read against windows of facts, the
nearest facts first and together, in the order of the envelope. The best window counts for a chunk, the worst chunk for
the answer (weakest link, §6.2). A sentence that stands word for word in a fact is entailed by definition; one with a
claim that an exact rule contradicts is not, whatever an encoder says (ADR 0093).

The first windows of all chunks go out in one batch; further windows only for chunks that their first one does not bear
out, since another window can but add to them. The outcome says how many windows of how many were read.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from services.common.ports.entailment import CONTRADICTION, ENTAILMENT, NEUTRAL
from services.common.reading.text_types import Claim
from services.common.taxonomy import StageStatus
from services.dpe.domain.analysis import Analysis, fact_vectors
from services.dpe.domain.findings import OF_FACTS, Verdict
from services.dpe.domain.models import Requests
from services.dpe.domain.outcome import Reason, StageOutcome
from services.dpe.domain.results import Entailment
from services.dpe.domain.stage import Batch, Stage
from services.dpe.domain.stage_row import RiskSignal, StageKey
from services.dpe.domain.stages import s01_claims, s02_attribution, s03_fidelity
from services.dpe.domain.verdict_eligibility import asserting_claims, is_borne_out

CHARS_PER_TOKEN: Final = 3
"""A low estimate for English word pieces, so that a window that is counted full is never cut by the encoder."""
SPECIAL_TOKENS: Final = 4
CHUNK_SHARE: Final = 0.5
"""Share of the encoder's window that a response chunk may take; the premise has what it leaves."""
MAX_PREMISE_WINDOWS: Final = 3
"""Premise windows that are read for a chunk, nearest facts first."""
_QUOTED: Final = (1.0, 0.0, 0.0)
_REFUTED: Final = (0.0, 0.0, 1.0)


@dataclass(frozen=True, slots=True)
class _Chunk:
    """A stretch of the answer as hypothesis.

    Attributes:
        windows: premises to read, nearest first; empty when it is quoted.
        total: windows that all facts would fill.
        refuted: an exact rule contradicts a claim of it: it is not entailed (ADR 0093).
        borne_out: every claim of it is SUPPORTED (ADR 0121).
    """

    text: str
    quoted: bool
    windows: tuple[str, ...] = ()
    total: int = 0
    refuted: bool = False
    borne_out: bool = True


def ask_vectors(analysis: Analysis) -> Requests:
    """Ask for the vectors of the chunks, which order the facts; for none without an entailment model."""
    if analysis.models.entailment_tokens is None:
        return Requests()
    return Requests(embed=tuple(chunk.text for chunk in _chunks(analysis)))


def ask_pairs(analysis: Analysis) -> Requests:
    """Ask about (first premise window, chunk) for every chunk that is not quoted."""
    if analysis.models.entailment_tokens is None:
        return Requests()
    return Requests(classify=tuple((chunk.windows[0], chunk.text) for chunk in _read(analysis) if chunk.windows))


def plan(analysis: Analysis) -> Requests:
    """Ask for the further windows of the chunks that their first window does not entail."""
    classified = analysis.models.classified
    if classified is None:
        return Requests()
    open_ = [
        chunk
        for chunk in _read(analysis)
        if chunk.windows and not chunk.refuted and int(classified[chunk.windows[0], chunk.text].argmax()) != ENTAILMENT
    ]
    return Requests(classify=tuple((window, chunk.text) for chunk in open_ for window in chunk.windows[1:]))


def apply(analysis: Analysis) -> Analysis:
    """Score the answer from the classified pairs."""
    ended = _not_scored(analysis)
    classified = analysis.models.classified
    if ended is not None or classified is None:
        return analysis.ended(ended or StageOutcome(STAGE, StageStatus.FAILED, Reason.ENTAILMENT_MODEL_FAILED))
    chunks = _read(analysis)
    rows = [[classified[window, chunk.text] for window in chunk.windows if (window, chunk.text) in classified]
            for chunk in chunks]  # fmt: skip
    best = [_best(chunk, read) for chunk, read in zip(chunks, rows, strict=True)]
    weakest = min(best, key=lambda row: row[ENTAILMENT])  # SPEC-005 §6.2, weakest link
    claiming = {claim.sentence_index for claim in asserting_claims(analysis.outputs.text.claims)}
    result = Entailment(
        float(weakest[ENTAILMENT]),
        float(weakest[NEUTRAL]),
        float(weakest[CONTRADICTION]),
        len(chunks),
        sum(chunk.total for chunk in chunks),
        sum(len(read) for read in rows),
        quoted_chunks=sum(chunk.quoted for chunk in chunks),
        chunks_without_claims=len(analysis.outputs.text.sentences) - len(claiming),
        contradicted_chunks=sum(chunk.refuted for chunk in chunks),
        judged_score=_judged(chunks, best),
    )
    return analysis.ended(StageOutcome(STAGE, StageStatus.COMPLETED, findings=len(chunks)), result)


def _best(chunk: _Chunk, read: Sequence[NDArray[np.float32]]) -> NDArray[Any]:
    """Return the row of the window that bears a chunk out best; what a rule has decided, no window decides."""
    if chunk.refuted:
        return np.array(_REFUTED)
    return max(read, key=lambda row: float(row[ENTAILMENT])) if read else np.array(_QUOTED)


def _judged(chunks: Sequence[_Chunk], best: Sequence[NDArray[Any]]) -> float:
    """Return the least score of the chunks that are not borne out claim by claim; 1.0 where all are (ADR 0121)."""
    return min(
        (float(row[ENTAILMENT]) for chunk, row in zip(chunks, best, strict=True) if not chunk.borne_out), default=1.0
    )


def _not_scored(analysis: Analysis) -> StageOutcome | None:
    """Return how the stage ends when there is nothing to score, or nothing to score it by."""
    if analysis.models.entailment_tokens is None:
        return StageOutcome(STAGE, StageStatus.SKIPPED, Reason.ENTAILMENT_MODEL_NOT_CONFIGURED)
    if not analysis.input.facts:
        return StageOutcome(STAGE, StageStatus.SKIPPED, Reason.EMPTY_ENVELOPE)
    if not analysis.outputs.text.sentences:
        return StageOutcome(STAGE, StageStatus.NOT_APPLICABLE, Reason.EMPTY_RESPONSE)
    if not _chunks(analysis):
        return StageOutcome(STAGE, StageStatus.NOT_APPLICABLE, Reason.NO_FACTUAL_CLAIMS)
    if analysis.outputs.attribution.by_claim is None or analysis.models.vectors is None:
        return StageOutcome(STAGE, StageStatus.SKIPPED, Reason.ATTRIBUTION_NOT_AVAILABLE)
    return None


def _chunks(analysis: Analysis) -> list[_Chunk]:
    """Return what makes a claim, each text once, in order."""
    limit = int((analysis.models.entailment_tokens or 0) * CHUNK_SHARE) * CHARS_PER_TOKEN
    found: dict[str, _Chunk] = {}
    for claim in asserting_claims(analysis.outputs.text.claims):
        sentence = analysis.text_of(analysis.outputs.text.sentences[claim.sentence_index])
        text = sentence if len(sentence) <= limit else claim.text
        chunk = found.setdefault(text, _Chunk(text, claim.sentence_index in analysis.outputs.attribution.quotations))
        if _is_refuted(analysis, claim):
            chunk = replace(chunk, refuted=True)
        found[text] = replace(
            chunk, borne_out=chunk.borne_out and is_borne_out(analysis.outputs.fidelity.judgements.get(claim.claim_id))
        )
    return list(found.values())


def _is_refuted(analysis: Analysis, claim: Claim) -> bool:
    """Say whether an exact rule finds that the facts contradict the claim; constraints are no facts (ADR 0078)."""
    judgement = analysis.outputs.fidelity.judgements.get(claim.claim_id)
    return judgement is not None and judgement.verdict is Verdict.CONTRADICTED and judgement.basis in OF_FACTS


def _read(analysis: Analysis) -> list[_Chunk]:
    """Return the chunks with their premise windows; none where there is nothing to compare by."""
    table = analysis.models.vectors
    if table is None or not analysis.input.facts:
        return []
    facts = fact_vectors(analysis)
    contents = [fact.content for fact in analysis.input.facts]
    former = frozenset(index for index, fact in enumerate(analysis.input.facts) if fact.superseded)
    costs = [_tokens(content) + 1 for content in contents]
    room = (analysis.models.entailment_tokens or 0) - SPECIAL_TOKENS
    found = []
    for chunk in _chunks(analysis):
        if chunk.quoted:
            found.append(chunk)
            continue
        order = np.argsort(-(facts @ table.of([chunk.text])[0]), kind="stable").tolist()
        budget = max(1, room - _tokens(chunk.text))
        # What does not hold now stands in windows of its own: beside what does it would speak against it (ADR 0109).
        windows = _windows(costs, [index for index in order if index not in former], budget)
        apart = _windows(costs, [index for index in order if index in former], budget)
        first = windows[: MAX_PREMISE_WINDOWS - bool(apart)]
        chosen = first + apart[: MAX_PREMISE_WINDOWS - len(first)]
        read = tuple(" ".join(contents[index] for index in sorted(each)) for each in chosen)
        found.append(replace(chunk, windows=read, total=len(windows) + len(apart)))
    return found


def _windows(costs: Sequence[int], order: Sequence[int], budget_tokens: int) -> list[list[int]]:
    """Fill windows with facts, nearest first."""
    windows: list[list[int]] = []
    used = 0
    for index in order:
        if not windows or used + costs[index] > budget_tokens:
            windows.append([])
            used = 0
        windows[-1].append(index)
        used += costs[index]
    return windows


def _tokens(text: str) -> int:
    return ceil(len(text) / CHARS_PER_TOKEN)


STAGE: Final = Stage(
    key=StageKey(4),
    name="Entailment Scoring",
    section="CRP-SPEC-005 §6",
    needs=(s01_claims.STAGE, s02_attribution.STAGE, s03_fidelity.STAGE),
    signals=frozenset({RiskSignal.ENTAILMENT}),
    always_runs=True,
    apply=apply,
    plan=plan,
    shares={Batch.VECTORS: ask_vectors, Batch.PAIRS: ask_pairs},
)
