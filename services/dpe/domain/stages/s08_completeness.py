"""Stage 8, completeness (SPEC-005 §10): is every part of the query answered, over all windows of the session?

The parts come from the envelope service, which decomposed the query; without them the query counts as one part. A part
is covered when some sentence of this or an earlier window that says something about the matter has a calibrated
similarity above 0.70 to it (ADR 0012) and is no echo: it holds the kind of answer that is expected, or answers the
part by what it names (ADR 0096). One question alone is covered, too, by a relevant answer that quotes a fact. Whether
*this* answer answers the query is settled here too. Where a window was summarised, its summary stands for it (ADR
0037). What is in another language covers nothing, and nothing is called uncovered because of it (ADR 0047).
"""

from collections.abc import Sequence
from typing import Final

from services.common.questions.answering import answers_kind, is_bare_answer
from services.common.questions.following import joined
from services.common.questions.kinds import asked_kind
from services.common.questions.reading import read_question
from services.common.reading.text_types import Sentence
from services.common.taxonomy import StageStatus
from services.dpe.domain.analysis import Analysis
from services.dpe.domain.answering import answering
from services.dpe.domain.models import Requests
from services.dpe.domain.outcome import Reason, StageOutcome
from services.dpe.domain.policy import COVERED_SIMILARITY
from services.dpe.domain.prior_windows import prior_status
from services.dpe.domain.query_parts import standalone
from services.dpe.domain.relevance import assess, question_texts, sentence_texts
from services.dpe.domain.relevant import Relevance, RelevanceStatus
from services.dpe.domain.results import CompletenessResult
from services.dpe.domain.stage import Batch, Stage
from services.dpe.domain.stage_row import StageKey
from services.dpe.domain.stages import s01_claims, s02_attribution
from services.dpe.domain.unsupported_language import any_unread, is_unread, is_unread_text, mostly_unread, session_texts


def ask_vectors(analysis: Analysis) -> Requests:
    """Ask for the vectors of the parts and questions, and of what the session has said."""
    asked = (*standalone(analysis), *question_texts(analysis))
    return Requests(embed=(*asked, *_said(analysis), *sentence_texts(analysis)))


def apply(analysis: Analysis) -> Analysis:
    """Check each part against all sentences of the session."""
    if analysis.input.is_beginning:
        return analysis.ended(StageOutcome(STAGE, StageStatus.NOT_APPLICABLE, Reason.UNFINISHED_ANSWER))
    table, every = analysis.models.vectors, analysis.input.questions
    if table is None:
        failed = StageOutcome(STAGE, StageStatus.FAILED, Reason.EMBEDDING_MODEL_FAILED)
        return analysis.ended(failed, CompletenessResult(relevance=assess(analysis)))
    if not every:
        return analysis.ended(StageOutcome(STAGE, StageStatus.NOT_APPLICABLE, Reason.NO_QUESTION))
    relevance, said = assess(analysis), _said(analysis)
    wanted = [part for part in every if not is_unread_text(part)]
    uncovered = wanted
    if said and wanted:
        asked = [joined(part, analysis.input.leans_on) for part in wanted]
        near = table.calibration.apply(table.of(asked) @ table.of(said).T)
        uncovered = [part for part, row in zip(wanted, near, strict=True) if not _covered(analysis, part, said, row)]
        if len(every) == 1 and uncovered and _quotes_the_answer(analysis, every[0], relevance):
            uncovered = []
    session = session_texts(analysis)
    if not wanted or (uncovered and mostly_unread(*session)):
        unread = StageOutcome(STAGE, StageStatus.DEGRADED, Reason.LANGUAGE_NOT_SUPPORTED)
        return analysis.ended(unread, CompletenessResult(relevance=relevance))
    status, reason = StageStatus.COMPLETED, Reason.NONE
    if not analysis.input.is_first and prior_status(analysis, summaries_serve=True)[0] is not status:
        status, reason = StageStatus.DEGRADED, Reason.PRIOR_WINDOWS_MISSING
    elif len(wanted) < len(every) or (uncovered and any_unread(*session)):
        status, reason = StageStatus.DEGRADED, Reason.LANGUAGE_NOT_SUPPORTED
    return analysis.ended(
        StageOutcome(STAGE, status, reason, findings=len(uncovered)),
        CompletenessResult((len(wanted) - len(uncovered)) / len(wanted), tuple(uncovered), len(wanted), relevance),
    )


def _covered(analysis: Analysis, part: str, said: Sequence[str], near: Sequence[float]) -> bool:
    """Say whether some sentence answers a part (SPEC-005 §10.2): near enough in meaning, and of the expected kind.

    A bare value covers its part although it is near to nothing; an echo of the question covers none (ADR 0096).
    """
    question = read_question(part, analysis.input.leans_on)
    asks = any(asked_kind(each) is not None for each in (part, *analysis.input.leans_on))
    following = [*said[1:], ""]
    for text, after, similarity in zip(said, following, near, strict=True):
        # A heading or lead-in is near, and the value stands behind it.
        if similarity > COVERED_SIMILARITY and (not asks or answers_kind(question, text, after)):
            return True
        if asks and is_bare_answer(question, text):
            return True
    return False


def _quotes_the_answer(analysis: Analysis, asked: str, relevance: Relevance) -> bool:
    """Say whether a relevant answer to one question has a sentence of the expected kind that stands in a fact.

    A short question ("What is the fee?") is far from the sentence that answers it, which names more (ADR 0096).
    """
    if relevance.status is not RelevanceStatus.RELEVANT or len(relevance.questions) != 1:
        return False
    question = read_question(asked, analysis.input.leans_on)
    asks = asked_kind(asked) is not None
    sentences = analysis.outputs.text.sentences
    quoted = [analysis.text_of(sentences[number]) for number in analysis.outputs.attribution.quotations]
    said = frozenset(_said(analysis))
    return any(text in said and (not asks or answers_kind(question, text, "")) for text in quoted)


def _said(analysis: Analysis) -> list[str]:
    """Return the sentences of the session that can answer something, each once, this window's first."""
    outputs = analysis.outputs
    said = answering(analysis.input.answer, _read(outputs.text.sentences), outputs.text.claims)
    for prior in outputs.text.prior_texts:
        said += answering(prior.window.text, _read(prior.sentences), prior.claims)
    return list(dict.fromkeys(said))


def _read(sentences: Sequence[Sentence]) -> list[Sentence]:
    return [sentence for sentence in sentences if not is_unread(sentence)]


def _score(analysis: Analysis) -> float | None:
    return analysis.outputs.completeness.score


STAGE: Final = Stage(
    key=StageKey(8),
    name="Completeness Verification",
    section="CRP-SPEC-005 §10",
    needs=(s01_claims.STAGE, s02_attribution.STAGE),
    counts_in_quality=True,
    has_remedies=True,
    score=_score,
    reads_earlier_windows=True,
    apply=apply,
    shares={Batch.VECTORS: ask_vectors},
)
