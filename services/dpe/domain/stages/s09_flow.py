"""Stage 9, flow and continuity (SPEC-005 §11): does the answer read on from the window before?

Four signals of §11.3, weighted by §11.4: how near the opening is to the earlier close (calibrated cosine, ADR 0012),
how many topics stay, whether the register stays, and whether an opening sentence marks the transition. Headings and
code are no sentences here. Choices: ADR 0014, ADR 0037.
"""

from collections.abc import Sequence
from typing import Final

from services.common.reading.text_types import Sentence, SentenceKind
from services.common.reading.words import jaccard
from services.common.taxonomy import StageStatus
from services.dpe.domain.analysis import Analysis
from services.dpe.domain.discourse import has_transition, topics
from services.dpe.domain.models import Requests
from services.dpe.domain.outcome import Reason, StageOutcome
from services.dpe.domain.policy import OPENING_SIMILARITY
from services.dpe.domain.prior_texts import PriorText
from services.dpe.domain.prior_windows import previous
from services.dpe.domain.register import consistency, register_of
from services.dpe.domain.results import FlowResult, FlowSignals
from services.dpe.domain.stage import Batch, Stage
from services.dpe.domain.stage_row import StageKey
from services.dpe.domain.stages import s01_claims
from services.dpe.domain.unsupported_language import mostly_unread

OPENING_WEIGHT: Final = 0.35  # SPEC-005 §11.4
TOPIC_WEIGHT: Final = 0.25
REGISTER_WEIGHT: Final = 0.20
TRANSITION_WEIGHT: Final = 0.20
_ENDS: Final = 2  # SPEC-005 §11.3, signal 9a: first and last two sentences
_MARKED: Final = 3  # SPEC-005 §11.3, signal 9d: first three sentences
_DIGITS: Final = 12
_NOT_RUNNING_TEXT: Final = frozenset({SentenceKind.HEADING, SentenceKind.CODE})


def ask_vectors(analysis: Analysis) -> Requests:
    """Ask for the vectors of the opening and of the earlier close; for nothing where the stage will not run."""
    prior = previous(analysis)
    if prior is None or prior.window.is_summary or not analysis.outputs.text.sentences:
        return Requests()
    return Requests(embed=(_opening(analysis), _close(prior)))


def apply(analysis: Analysis) -> Analysis:
    """Score the flow from the window before."""
    prior = previous(analysis)
    if prior is None:
        return analysis.ended(_without_prior(analysis))
    obstacle = _obstacle(analysis, prior)
    if obstacle is not None:
        return analysis.ended(obstacle)
    signals = _signals(analysis, prior)
    weak = signals.opening_coherence < OPENING_SIMILARITY
    return analysis.ended(
        StageOutcome(STAGE, StageStatus.COMPLETED, findings=int(weak)),
        FlowResult(flow_score(signals), signals),
    )


def _without_prior(analysis: Analysis) -> StageOutcome:
    if analysis.input.is_first:
        return StageOutcome(STAGE, StageStatus.NOT_APPLICABLE, Reason.FIRST_WINDOW)
    has_others = bool(analysis.outputs.text.prior_texts)
    return StageOutcome(
        STAGE, StageStatus.SKIPPED, Reason.PRIOR_WINDOWS_MISSING if has_others else Reason.NO_PRIOR_TEXT
    )


def _obstacle(analysis: Analysis, prior: PriorText) -> StageOutcome | None:
    """Return why there is nothing to compare with the window before, ``None`` where there is."""
    if prior.window.is_summary:
        return StageOutcome(STAGE, StageStatus.SKIPPED, Reason.PRIOR_IS_SUMMARY)
    if not analysis.outputs.text.sentences:
        return StageOutcome(STAGE, StageStatus.NOT_APPLICABLE, Reason.EMPTY_RESPONSE)
    if mostly_unread(analysis.outputs.text.sentences) or mostly_unread(prior.sentences):
        # Register, transitions and topics are read in English alone (ADR 0047).
        return StageOutcome(STAGE, StageStatus.DEGRADED, Reason.LANGUAGE_NOT_SUPPORTED)
    if analysis.models.vectors is None:
        return StageOutcome(STAGE, StageStatus.FAILED, Reason.EMBEDDING_MODEL_FAILED)
    return None


def flow_score(signals: FlowSignals) -> float:
    """Return the weighted sum of SPEC-005 §11.4: from 0.0 to 1.0."""
    score = (
        signals.opening_coherence * OPENING_WEIGHT
        + signals.topic_continuity * TOPIC_WEIGHT
        + signals.register_consistency * REGISTER_WEIGHT
        + signals.has_transition * TRANSITION_WEIGHT
    )
    return round(score, _DIGITS)


def _signals(analysis: Analysis, prior: PriorText) -> FlowSignals:
    table = analysis.models.vectors
    answer, earlier = analysis.input.answer, prior.window.text
    now, before = _running(analysis.outputs.text.sentences), _running(prior.sentences)
    current, former = register_of(_texts(answer, now)), register_of(_texts(earlier, before))
    if table is None or current is None or former is None:
        msg = "a text with sentences has words, and the vectors were asked for"
        raise ValueError(msg)
    opening, close = table.of([_opening(analysis)]), table.of([_close(prior)])
    return FlowSignals(
        float(table.calibration.apply(opening @ close.T)[0, 0]),
        jaccard(topics(answer, now, analysis.outputs.text.claims), topics(earlier, before, prior.claims)),
        consistency(current, former),
        has_transition(_texts(answer, now[:_MARKED])),
        current,
        former,
        prior.window.window_id,
    )


def _running(sentences: Sequence[Sentence]) -> Sequence[Sentence]:
    """Return the sentences of running text; all of them where there is none."""
    return [sentence for sentence in sentences if sentence.kind not in _NOT_RUNNING_TEXT] or sentences


def _texts(text: str, sentences: Sequence[Sentence]) -> list[str]:
    return [text[sentence.start : sentence.end] for sentence in sentences]


def _opening(analysis: Analysis) -> str:
    first = _running(analysis.outputs.text.sentences)[:_ENDS]
    return analysis.input.answer[first[0].start : first[-1].end]


def _close(prior: PriorText) -> str:
    last = _running(prior.sentences)[-_ENDS:]
    return prior.window.text[last[0].start : last[-1].end]


def _score(analysis: Analysis) -> float | None:
    return analysis.outputs.flow.score


STAGE: Final = Stage(
    key=StageKey(9),
    name="Flow & Continuity Analysis",
    section="CRP-SPEC-005 §11",
    needs=(s01_claims.STAGE,),
    counts_in_quality=True,
    has_remedies=True,
    score=_score,
    reads_earlier_windows=True,
    idle_in_first_window=True,
    apply=apply,
    shares={Batch.VECTORS: ask_vectors},
)
