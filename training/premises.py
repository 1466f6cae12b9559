"""Premises as the grounding encoder meets them: passages among others, cut to what it reads at once."""

import random
import re
from collections.abc import Sequence
from typing import Final

from services.common.grounding.windows import WindowSettings, premises
from training.words import content_words, coverage, sentences, word_count

_MARKS: Final = (
    (re.compile(r" ([,.;:!?%)\]])(?!\w)"), r"\1"),
    (re.compile(r"([(\[$£€]) (?=\S)"), r"\1"),
    (re.compile(r" (n't|'s|'re|'ve|'ll|'d|'m)\b"), r"\1"),
    (re.compile(r"(?<=\w) ' (?=\w|$)"), "' "),
    (re.compile(r"(?<=\d) -- (?=\d|\))"), "-"),
    (re.compile(r" -- "), " - "),
    (re.compile(r"\" ([^\"]*?) \""), r'"\1"'),
)
MAX_GIVEN_AWAY: Final = 0.5
"""A distractor holds at most this share of the claim's content words: it must not support the claim as well."""


def joined(text: str) -> str:
    """Undo the spacing of a text that was cut into tokens: ``( 1986 ) , it 's`` reads ``(1986), it's``."""
    for pattern, new in _MARKS:
        text = pattern.sub(new, text)
    return text


def window(context: Sequence[str], claim: str, query: str | None, words: int) -> str:
    """Return the sentences of the passages that are nearest to the claim, in their order, of so many words at most.

    The product's own windows do the cutting, with words for tokens; the empty text where the passages hold no word.
    """
    found = premises(context, claim, query, _count, WindowSettings(premise_tokens=words, max_windows=1))
    return found[0].text if found else ""


def among_distractors(gold: str, claim: str, others: Sequence[str], words: int, choice: random.Random) -> str:
    """Return the gold passage among sentences of other passages, of so many words at most.

    Its sentences stay in their order. Either they stay together with other text before and after, or other sentences
    come between them.

    Args:
        gold: what decides about the claim; returned as it is when there is no room for more.
        claim: what is judged; sentences that hold too many of its words are left out.
        others: passages to take sentences from.
        words: length to reach, in words.
        choice: decides on order and place.
    """
    known = content_words(claim)
    extra: list[str] = []
    room = words - word_count(gold)
    for other in others:
        for sentence in sentences(other):
            size = word_count(sentence)
            if 3 < size <= room and coverage(known, content_words(sentence)) <= MAX_GIVEN_AWAY:  # noqa: PLR2004
                extra.append(sentence)
                room -= size
    own = sentences(gold) if choice.random() < 0.5 else [gold]  # noqa: PLR2004 - half together, half interleaved
    if len(own) > 1 and _refers_back(own[1:]):
        own = [gold]
    places = sorted(choice.sample(range(len(own) + len(extra)), len(own)))
    rest = iter(extra)
    gold_sentences = iter(own)
    return " ".join(next(gold_sentences) if place in places else next(rest) for place in range(len(own) + len(extra)))


def _refers_back(following: Sequence[str]) -> bool:
    """Whether a sentence begins with a word that needs the one before it."""
    return any(
        re.match(r"(?:he|she|it|they|this|these|that|those|his|her|its|their)\b", text, re.IGNORECASE)
        for text in following
    )


def _count(texts: Sequence[str]) -> list[int]:
    return [word_count(text) for text in texts]
