"""Where an answer's "yes" and what it goes on to say do not go together (ADR 0210).

"May lorries get a permit?" "Yes. Lorries may not get a permit." Whoever reads the first word is told the opposite of
what the documents say, though the sentence behind it is true. Told only where the sentence repeats all that was asked,
its verb is denied, and neither speaks of amounts, of all, or of another case. A "no" is left: "No. Premium members get
a pass" answers "Do all members get a pass?".
"""

import re
from dataclasses import dataclass
from typing import Final

from services.common.questions.kinds import Kind
from services.common.questions.reading import Question, read_question
from services.common.questions.terms import terms
from services.common.questions.told import question_sentences
from services.common.reading.answer_words import AnswerWord, answer_word, only_answers
from services.common.reading.polarity import compared, is_negated
from services.common.reading.values import scan_values
from services.common.reading.words import words
from services.dpe.domain.analysis import Analysis

_OPENING: Final = frozenset(
    """
    if unless except only but until otherwise when whether or either though although while without instead rather than
    all every each everyone everybody any anyone anybody always both some most no none nobody never than free
    """.split()  # noqa: SIM905 - a list would be six times as long
)
"""With one of these, question or sentence speaks of cases, and "yes" may be right in one of them."""
_DENIED: Final = re.compile(
    r"\b(?:is|are|was|were|do|does|did|could|might|must|should|would|has|have|had)(?:n['\u2019]t|\snot)\b"
    r"|\b(?:can|may|shall|will)\snot\b|\b(?:cannot|can['\u2019]t|won['\u2019]t)\b",
    re.IGNORECASE,
)
_MOST_TERMS: Final = 4
"""What the sentence says beyond the question, in stems."""


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A word that answers, and the sentence that says otherwise.

    Attributes:
        start: where the sentence begins in the answer.
        end: where it ends.
        why: both in words: ``"Yes" to "Is it free?", yet "It is not free."``.
    """

    start: int
    end: int
    why: str


def mismatch(analysis: Analysis) -> Mismatch | None:
    """Return how an answer's "yes" and its first statement contradict each other, or ``None``."""
    asked, sentences = question_sentences(analysis.input.query), analysis.outputs.text.sentences
    if len(asked) != 1 or not sentences:
        return None
    question, first = read_question(asked[0]), sentences[0]
    said = analysis.text_of(first)
    word, start, end = answer_word(said), first.start, first.end
    if word is not None:
        start += word.end
    else:
        word = only_answers(said)
        if word is None or len(sentences) == 1:
            return None
        start, end = sentences[1].start, sentences[1].end
    statement = analysis.input.answer[start:end]
    if not _disagree(question, word, statement):
        return None
    return Mismatch(start, end, f'"Yes" to "{question.text}", yet "{statement}"')


def _disagree(question: Question, word: AnswerWord, statement: str) -> bool:
    if not word.affirms or question.kind is not Kind.YES_NO or is_negated(question.text):
        return False
    if len(_DENIED.findall(statement)) != 1 or scan_values(question.text) or scan_values(statement):
        return False
    if any(_OPENING & {each.text for each in words(text)} for text in (question.text, statement)):
        return False
    asked, told = frozenset(terms(question.text)), frozenset(terms(statement))
    if not asked or not asked <= told or len(told - asked) > _MOST_TERMS:
        return False
    return compared(statement, question.text).turned
