"""Where an answer's "yes" or "no" and what it goes on to say do not go together (ADR 0210).

"May lorries get a permit?" "Yes. Lorries may not get a permit." Whoever reads the first word is told the opposite of
what the documents say, though the sentence behind it is true. Told only where the sentence repeats all that was asked.
"""

from dataclasses import dataclass
from typing import Final

from services.common.questions.kinds import Kind
from services.common.questions.reading import Question, read_question
from services.common.questions.terms import terms
from services.common.questions.told import question_sentences
from services.common.reading.answer_words import AnswerWord, answer_word, only_answers
from services.common.reading.polarity import compared, is_negated
from services.common.reading.words import words
from services.dpe.domain.analysis import Analysis

_OPENING: Final = frozenset("if unless except only but until otherwise when whether or either".split())  # noqa: SIM905
"""With one of these, question or sentence speaks of cases, and "yes" may be right in one of them."""
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
    """Return how an answer's first word and first statement contradict each other, or ``None``."""
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
    return Mismatch(start, end, f'"{"Yes" if word.affirms else "No"}" to "{question.text}", yet "{statement}"')


def _disagree(question: Question, word: AnswerWord, statement: str) -> bool:
    if question.kind is not Kind.YES_NO or is_negated(question.text):
        return False
    if any(_OPENING & {each.text for each in words(text)} for text in (question.text, statement)):
        return False
    asked, told = frozenset(terms(question.text)), frozenset(terms(statement))
    if not asked or not asked <= told or len(told - asked) > _MOST_TERMS:
        return False
    return word.affirms == compared(statement, question.text).turned
