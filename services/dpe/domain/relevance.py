"""Does the answer answer the question? A number and a status of their own (ADR 0093, 0096).

Each question of the query expects a kind of answer about a thing. An answer that holds neither is beside the question,
and its risk is at least MEDIUM (``beside_the_question``, which the floors of the level ask). One that only says that
there is no answer is a refusal (``refused``): it asserts nothing, so it is LOW, and it is marked.
"""

import re
from typing import Final

import numpy as np
from numpy.typing import NDArray

from services.common.questions.answering import ANSWERED, BESIDE, UNREADABLE_FRAGMENT, Said, answered
from services.common.questions.following import joined
from services.common.questions.matching import rarity
from services.common.questions.reading import Question, needs, read_needs
from services.common.questions.refusals import refuses
from services.common.questions.terms import terms
from services.common.reading.text_types import ClaimType, SentenceKind
from services.common.taxonomy import StageStatus
from services.dpe.domain.analysis import Analysis
from services.dpe.domain.models import VectorTable
from services.dpe.domain.outcome import Reason
from services.dpe.domain.relevant import Relevance, RelevanceStatus
from services.dpe.domain.stage_row import StageKey
from services.dpe.domain.unsupported_language import is_unread, is_unread_text, mostly_unread

MOST_SENTENCES: Final = 400
"""So many sentences of an answer are held against each question; an answer to it stands nowhere further down."""
_REST_WORDS: Final = 3
_TURNS: Final = re.compile(
    r"(?:[;:]| [-\u2013\u2014]) |,? (?=(?:but|however|although|yet|though|nevertheless|only that)\b)"
    r"|, (?=(?:and|so|as|since)\b)",
    re.IGNORECASE,
)
_READ_CHARS: Final = 2_000
_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)*")


def question_texts(analysis: Analysis) -> list[str]:
    """Return the questions as vectors are wanted of them: each with what it leans on; none where nothing is asked."""
    if not analysis.input.questions:
        return []
    return [_text_of(analysis, question) for question in needs(analysis.input.query)]


def assess(analysis: Analysis) -> Relevance:
    """Hold the answer against the query; needs the vectors that stage 2 asked for."""
    given, outputs, table = analysis.input, analysis.outputs, analysis.models.vectors
    if not outputs.text.sentences:
        return Relevance(RelevanceStatus.NOT_ASSESSED, reason=Reason.EMPTY_RESPONSE)
    if is_unread_text(given.query) or mostly_unread(outputs.text.sentences):
        return Relevance(RelevanceStatus.NOT_ASSESSED, reason=Reason.LANGUAGE_NOT_SUPPORTED)
    read = read_needs(given.query, given.leans_on)
    expected, questions = tuple(each.kind for each in read), tuple(each.text for each in read)
    if is_refusal(analysis):
        return Relevance(RelevanceStatus.REFUSAL, expected=expected, questions=questions, unanswered=questions)
    if table is None:
        return Relevance(RelevanceStatus.NOT_ASSESSED, reason=Reason.EMBEDDING_MODEL_FAILED)
    scores = need_scores(analysis, read, question_texts(analysis))
    if len(scores) == 1 and any(one.is_own and one.is_asked for one in outputs.attribution.answer_places.values()):
        scores = [max(UNREADABLE_FRAGMENT, *scores)]  # it gives what stands in the cell that is asked about (ADR 0216)
    open_ones = tuple(text for text, score in zip(questions, scores, strict=True) if score < ANSWERED)
    status = RelevanceStatus.RELEVANT if not open_ones else RelevanceStatus.PARTIAL
    if max(scores) < BESIDE:
        status = RelevanceStatus.BESIDE_THE_QUESTION
    score = round(sum(scores) / len(scores), 6)
    return Relevance(status, score, expected, questions, open_ones)


def need_scores(analysis: Analysis, read: tuple[Question, ...], texts: list[str]) -> list[float]:
    """Return how far each question is answered, 0.0-1.0.

    Args:
        analysis: with vectors of ``texts`` and of ``said_sentences``.
        read: the questions.
        texts: what each is compared by in meaning.
    """
    table = analysis.models.vectors
    said = said_sentences(analysis)
    if table is None or not said:
        return [0.0] * len(read)
    near = _nearness(analysis, table, texts, [text for text, _ in said])
    stems = [terms(fact.content) for fact in analysis.input.facts]
    scores = []
    for question, row in zip(read, near, strict=True):
        tells = rarity(stems, question.weights) if stems else None
        sentences = [Said(text, before, float(value)) for (text, before), value in zip(said, row, strict=True)]
        scores.append(round(answered(question, sentences, tells), 6))
    return scores


def _nearness(analysis: Analysis, table: VectorTable, texts: list[str], said: list[str]) -> NDArray[np.float32]:
    """Return how near each sentence is to each question, calibrated, shape ``(len(texts), len(said))``.

    A sentence in words of its own may be far from the question and near to the fact that answers it: a fact that is
    near to both leads from one to the other, as far as the farther of the two (ADR 0192).
    """
    asked, answers = table.of(texts), table.of(said)
    near = table.calibration.apply(asked @ answers.T)
    facts = [
        fact.embedding if fact.embedding is not None else table.rows[table.index[fact.content]]
        for fact in analysis.input.facts
        if fact.embedding is not None or fact.content in table
    ]
    if not facts:
        return near
    known = np.stack(facts)
    to_question, to_answer = table.calibration.apply(asked @ known.T), table.calibration.apply(answers @ known.T)
    best = [np.minimum(row, to_answer).max(axis=1) for row in to_question]
    found: NDArray[np.float32] = np.maximum(near, np.stack(best))
    return found


def said_sentences(analysis: Analysis) -> list[tuple[str, tuple[str, ...]]]:
    """Return the sentences of the answer that can answer something, each with what stands before it."""
    found: list[tuple[str, tuple[str, ...]]] = []
    heading = before = ""
    for sentence in analysis.outputs.text.sentences[:MOST_SENTENCES]:
        text = analysis.text_of(sentence)
        if sentence.kind is SentenceKind.HEADING:
            heading, before = text, ""
        elif not is_unread(sentence) and not text.rstrip(_MARKS).endswith("?") and not _only_refuses(text):
            found.append((text, tuple(part for part in (heading, before) if part)))
        before = text
    return found


_MARKS: Final = "*_`\"'”’ "  # noqa: RUF001 - typographic quotes


def is_refusal(analysis: Analysis) -> bool:
    """Say whether the answer says that there is no answer, and asserts nothing beside it (ADR 0096)."""
    sentences, read = analysis.outputs.text.sentences, analysis.outcome(StageKey(1))
    if read is None or read.status not in _READ:  # what was not taken apart may assert anything
        return False
    asked = frozenset(_NUMBER.findall(analysis.input.query))
    refusing = frozenset(
        sentence.index
        for sentence in sentences
        if _only_refuses(text := analysis.text_of(sentence)) and asked.issuperset(_NUMBER.findall(text))
    )
    if not refusing:
        return False
    return not any(
        claim.claim_type in {ClaimType.FACTUAL, ClaimType.OPINION} and claim.sentence_index not in refusing
        for claim in analysis.outputs.text.claims
    ) and not any(is_unread(sentence) or sentence.kind is SentenceKind.CODE for sentence in sentences)


_READ: Final = frozenset({StageStatus.COMPLETED, StageStatus.NOT_APPLICABLE})


def _only_refuses(text: str) -> bool:
    """Say whether a sentence refuses and does not turn to an assertion after a "but"."""
    if len(text) > _READ_CHARS:
        return False
    first, *rest = _TURNS.split(" ".join(text.split()))
    return refuses(first) and all(refuses(_bare(part)) or len(part.split()) < _REST_WORDS for part in rest)


def _bare(part: str) -> str:
    return _BUT.sub("", part)


_BUT: Final = re.compile(r"^(?:but|however|although|yet|still|though|nevertheless),?\s+", re.IGNORECASE)


def beside_the_question(analysis: Analysis) -> bool:
    """Say whether the answer has nothing to do with the question: its risk is at least MEDIUM (ADR 0093)."""
    found = analysis.outputs.completeness.relevance
    return found is not None and found.status is RelevanceStatus.BESIDE_THE_QUESTION


def refused(analysis: Analysis) -> bool:
    """Say whether the answer is a refusal: LOW by its own rule (ADR 0096)."""
    found = analysis.outputs.completeness.relevance
    return found is not None and found.status is RelevanceStatus.REFUSAL


def _text_of(analysis: Analysis, question: str) -> str:
    return joined(question, analysis.input.leans_on)


def sentence_texts(analysis: Analysis) -> list[str]:
    """Return the sentences that vectors are wanted of."""
    return [text for text, _ in said_sentences(analysis)]
