"""What of the texts was not read because it is in another language than English (ADR 0047).

A stage whose question is whether something *was said* (a part of the query, a fact, the thread of the window before)
cannot answer "no" for a text that nobody read. What was read still answers "yes". With most of a text unread the stage
gives no score and says LANGUAGE_NOT_SUPPORTED; with a smaller part it gives what it read, DEGRADED, so that one foreign
sentence excuses nothing.
"""

from collections.abc import Sequence
from typing import Final

from services.common.reading.languages import is_other_language
from services.common.reading.text_types import Sentence, SentenceKind
from services.dpe.domain.analysis import Analysis

UNREAD_SHARE: Final = 0.5
"""Of the characters of a text's sentences, code aside; more than this in another language is most of it."""
_READ_CHARS: Final = 20_000
"""So much of a prompt shows which language it is in."""


def is_unread(sentence: Sentence) -> bool:
    """Say whether a sentence is in another language."""
    return sentence.kind is SentenceKind.OTHER_LANGUAGE


def mostly_unread(*texts: Sequence[Sentence]) -> bool:
    """Say whether more than half of the characters of all these sentences together are in another language."""
    sizes = [0, 0]
    for sentences in texts:
        for one in sentences:
            if one.kind is not SentenceKind.CODE:
                sizes[is_unread(one)] += one.end - one.start
    return sizes[1] > UNREAD_SHARE * sum(sizes)


def session_texts(analysis: Analysis) -> list[Sequence[Sentence]]:
    """Return the sentences of the answer and of each earlier window."""
    return [analysis.outputs.text.sentences, *(prior.sentences for prior in analysis.outputs.text.prior_texts)]


def any_unread(*texts: Sequence[Sentence]) -> bool:
    """Say whether some sentence is in another language."""
    return any(is_unread(one) for sentences in texts for one in sentences)


def is_unread_text(text: str) -> bool:
    """Say whether a text that is not divided into sentences is in another language."""
    return is_other_language(text[:_READ_CHARS])
