"""Stage 8, completeness (SPEC-005 §10): is every part of the query answered, over all windows of the session?

The parts come from the envelope service, which decomposed the query; without them the query counts as one part. A part
is covered when some sentence of this or an earlier window that says something about the matter has a calibrated
similarity above 0.70 to it (decision 12). Where a window was summarised, its summary stands for it (ADR 0037).
"""

from typing import Final

from services.dpe.domain.analysis import Analysis
from services.dpe.domain.answering import answering
from services.dpe.domain.outcome import Reason, StageKey, StageOutcome, StageStatus
from services.dpe.domain.policy import COVERED_SIMILARITY
from services.dpe.domain.priors import prior_status

KEY: Final = StageKey(8)


def parts(analysis: Analysis) -> list[str]:
    """Return the parts of the query, each once."""
    return list(dict.fromkeys(analysis.input.sub_queries or (analysis.input.query,)))


def texts(analysis: Analysis) -> list[str]:
    """Return what this stage needs vectors of: the parts, and what the session has said."""
    return [*parts(analysis), *_said(analysis)]


def apply(analysis: Analysis) -> Analysis:
    """Check each part against all sentences of the session."""
    table = analysis.models.vectors
    if table is None:
        return analysis.ended(StageOutcome(KEY, StageStatus.FAILED, Reason.EMBEDDING_MODEL_FAILED))
    wanted = parts(analysis)
    said = _said(analysis)
    uncovered = wanted
    if said:
        best = table.calibration.apply(table.of(wanted) @ table.of(said).T).max(axis=1)
        uncovered = [part for part, similarity in zip(wanted, best, strict=True) if similarity <= COVERED_SIMILARITY]
    status, reason = StageStatus.COMPLETED, Reason.NONE
    if analysis.input.window_number > 1 and prior_status(analysis, summaries_serve=True)[0] is not status:
        status, reason = StageStatus.DEGRADED, Reason.PRIOR_WINDOWS_MISSING
    return analysis.ended(
        StageOutcome(KEY, status, reason, findings=len(uncovered)),
        completeness_score=(len(wanted) - len(uncovered)) / len(wanted),
        uncovered_sub_queries=tuple(uncovered),
        sub_queries_total=len(wanted),
    )


def _said(analysis: Analysis) -> list[str]:
    """Return the sentences of the session that can answer something, each once, this window's first."""
    outputs = analysis.outputs
    said = answering(analysis.input.answer, outputs.sentences, outputs.claims)
    for prior in outputs.prior_texts:
        said += answering(prior.window.text, prior.sentences, prior.claims)
    return list(dict.fromkeys(said))
