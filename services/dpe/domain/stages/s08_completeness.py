"""Stage 8, completeness (SPEC-005 §10): is every part of the query answered, over all windows of the session?

The parts come from the envelope service, which decomposed the query; without them the query counts as one part. A part
is covered when some sentence has a calibrated similarity above 0.70 to it (decision 12).
"""

from typing import Final

from services.dpe.domain.analysis import Analysis
from services.dpe.domain.outcome import Reason, StageKey, StageOutcome, StageStatus
from services.dpe.domain.policy import COVERED_SIMILARITY
from services.dpe.domain.stages import s07_repetition

KEY: Final = StageKey(8)


def parts(analysis: Analysis) -> list[str]:
    """Return the parts of the query, each once."""
    return list(dict.fromkeys(analysis.input.sub_queries or (analysis.input.query,)))


def texts(analysis: Analysis) -> list[str]:
    """Return what this stage needs vectors of beyond the answer's sentences."""
    return parts(analysis)


def apply(analysis: Analysis) -> Analysis:
    """Check each part against all sentences of the session."""
    table = analysis.models.vectors
    if table is None:
        return analysis.ended(StageOutcome(KEY, StageStatus.FAILED, Reason.EMBEDDING_MODEL_FAILED))
    wanted = parts(analysis)
    said = [analysis.text_of(sentence) for sentence in analysis.outputs.sentences]
    said = list(dict.fromkeys(said + s07_repetition.texts(analysis)))
    uncovered = wanted
    if said:
        best = table.calibration.apply(table.of(wanted) @ table.of(said).T).max(axis=1)
        uncovered = [part for part, similarity in zip(wanted, best, strict=True) if similarity <= COVERED_SIMILARITY]
    return analysis.ended(
        StageOutcome(KEY, StageStatus.COMPLETED, findings=len(uncovered)),
        completeness_score=(len(wanted) - len(uncovered)) / len(wanted),
        uncovered_sub_queries=tuple(uncovered),
        sub_queries_total=len(wanted),
    )
