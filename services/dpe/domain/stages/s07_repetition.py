"""Stage 7, repetition (SPEC-005 §9, ADR 0014): what the answer says again that earlier windows have said.

4-grams of words and sentences of nearly equal meaning (raw cosine above 0.92); the worse level counts, and the larger
ratio is the overlap. Summaries are not compared: a summary repeats by its nature (ADR 0037).
"""

from collections.abc import Sequence
from typing import Final

from services.common.reading.words import words
from services.common.taxonomy import RepetitionLevel, StageStatus
from services.dpe.domain.analysis import Analysis
from services.dpe.domain.models import Requests
from services.dpe.domain.outcome import Reason, StageOutcome
from services.dpe.domain.policy import REPEATED_COSINE
from services.dpe.domain.prior_windows import prior_status, verbatim
from services.dpe.domain.results import RepetitionResult
from services.dpe.domain.stage import Batch, Stage
from services.dpe.domain.stage_row import StageKey
from services.dpe.domain.stages import s01_claims

_GRAM: Final = 4
# SPEC-005 §9.2: bounds of MINOR, SIGNIFICANT (inclusive) and SEVERE (exclusive).
_GRAM_BOUNDS: Final = (0.05, 0.15, 0.30)
_SENTENCE_BOUNDS: Final = (0.10, 0.25, 0.50)
_ROWS_AT_ONCE: Final = 1_024


def ask_vectors(analysis: Analysis) -> Requests:
    """Ask for the vectors of the answer's sentences and of those of earlier windows, in their own words."""
    return Requests(embed=(*_said(analysis), *_said_before(analysis)))


def apply(analysis: Analysis) -> Analysis:
    """Measure both overlaps."""
    if analysis.input.is_first:
        # Nothing was said before, so nothing is said again: the ratio is 0 by definition.
        outcome = StageOutcome(STAGE, StageStatus.NOT_APPLICABLE, Reason.FIRST_WINDOW)
        return analysis.ended(outcome, RepetitionResult(RepetitionLevel.NONE, 0.0))
    status, reason = prior_status(analysis, summaries_serve=False)
    if status is StageStatus.SKIPPED:
        return analysis.ended(StageOutcome(STAGE, status, reason))
    if analysis.models.vectors is None:
        return analysis.ended(StageOutcome(STAGE, StageStatus.FAILED, Reason.EMBEDDING_MODEL_FAILED))
    grams = _gram_overlap(analysis.input.answer, [prior.window.text for prior in verbatim(analysis)])
    repeated = _repeated_sentences(analysis)
    ratio = repeated / len(analysis.outputs.text.sentences) if analysis.outputs.text.sentences else 0.0
    level = max(_level(grams, _GRAM_BOUNDS), _level(ratio, _SENTENCE_BOUNDS), key=lambda each: each.rank)
    outcome = StageOutcome(STAGE, status, reason, findings=repeated)
    return analysis.ended(outcome, RepetitionResult(level, max(grams, ratio)))


def _said(analysis: Analysis) -> list[str]:
    return [analysis.text_of(sentence) for sentence in analysis.outputs.text.sentences]


def _said_before(analysis: Analysis) -> list[str]:
    return [text for prior in verbatim(analysis) for text in prior.sentence_texts]


def _grams(text: str) -> list[tuple[str, ...]]:
    tokens = [word.text for word in words(text)]
    return [tuple(tokens[at : at + _GRAM]) for at in range(len(tokens) - _GRAM + 1)]


def _gram_overlap(answer: str, priors: Sequence[str]) -> float:
    current = _grams(answer)
    before = {gram for prior in priors for gram in _grams(prior)}
    return sum(1 for gram in current if gram in before) / len(current) if current else 0.0


def _repeated_sentences(analysis: Analysis) -> int:
    table = analysis.models.vectors
    current, before = _said(analysis), _said_before(analysis)
    if table is None or not current or not before:
        return 0
    known = table.of(list(dict.fromkeys(before)))
    return sum(
        int(((table.of(current[start : start + _ROWS_AT_ONCE]) @ known.T).max(axis=1) > REPEATED_COSINE).sum())
        for start in range(0, len(current), _ROWS_AT_ONCE)
    )


def _level(ratio: float, bounds: tuple[float, float, float]) -> RepetitionLevel:
    minor, significant, severe = bounds
    if ratio > severe:
        return RepetitionLevel.SEVERE
    if ratio >= significant:
        return RepetitionLevel.SIGNIFICANT
    return RepetitionLevel.MINOR if ratio >= minor else RepetitionLevel.NONE


STAGE: Final = Stage(
    key=StageKey(7),
    name="Repetition Detection",
    section="CRP-SPEC-005 §9",
    needs=(s01_claims.STAGE,),
    amplifiers=("severe_repetition",),
    counts_in_quality=True,
    has_remedies=True,
    reads_earlier_windows=True,
    idle_in_first_window=True,
    apply=apply,
    shares={Batch.VECTORS: ask_vectors},
)
