"""How far a text answers a question: the share of the thing asked that it names, and whether it holds the kind."""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from services.common.questions.kinds import holds
from services.common.questions.reading import Question
from services.common.questions.terms import listed, plain_words, stem, terms

NEARBY: Final = 0.7
"""What a word counts that stands in the heading above a sentence, or in the sentence before it."""


@dataclass(frozen=True, slots=True)
class Fit:
    """How a text fits a question.

    Attributes:
        thing: share of the question's weighted words that the text or what stands over it names, 0.0-1.0.
        own: the same of the question's own words alone; 1.0 where it has none of its own.
        holds_kind: the text holds an answer of the expected kind.
        names_focus: the text, or what stands over it, names the noun that is asked for; true where there is none.
        names_done: the same of what is done.
        names_bounds: the same of every number that limits what is asked about.
    """

    thing: float
    own: float
    holds_kind: bool
    names_focus: bool
    names_done: bool = True
    names_bounds: bool = True


def rarity(documents: Iterable[Iterable[str]], wanted: Iterable[str]) -> dict[str, float]:
    """Return how much each wanted word tells (BM25's idf); one that no document holds tells as much as the rarest.

    Args:
        documents: stems of each text.
        wanted: stems of the question.
    """
    total, frequency = 0, Counter[str]()
    for document in documents:
        total += 1
        frequency.update(set(document))
    listed = tuple(wanted)
    found = {
        word: math.log(1 + (total - frequency[word] + 0.5) / (frequency[word] + 0.5))
        for word in listed
        if frequency[word]
    }
    unseen = max(found.values(), default=1.0)
    return {word: found.get(word, unseen) for word in listed}


def fit(question: Question, text: str, around: Sequence[str] = (), tells: Mapping[str, float] | None = None) -> Fit:
    """Hold a text against a question.

    Args:
        question: as read.
        text: a sentence, a row or a whole answer.
        around: headings above it and the sentence before it.
        tells: how much each word of the question tells (``rarity``); all the same when not given.
    """
    inside = frozenset(terms(text))
    over = frozenset(word for each in around for word in terms(each))
    return fit_terms(question, (inside, over), text, tells)


def fit_terms(
    question: Question,
    found: tuple[frozenset[str], frozenset[str]],
    text: str,
    tells: Mapping[str, float] | None = None,
) -> Fit:
    """As ``fit``, with the stems of the text and of what stands around it."""
    inside, over = found
    whole = named = own_whole = own_named = 0.0
    for word, weight in question.weights.items():
        worth = weight * (1.0 if tells is None else tells.get(word, 1.0))
        share = 1.0 if word in inside else NEARBY if word in over else 0.0
        whole += worth
        named += worth * share
        if word in question.own:
            own_whole += worth
            own_named += worth * share
    kind_held = (not question.share or bool(_PART.search(text))) and holds(
        question.kind, text, asked=question.weights.keys(), conditions_count=question.conditions_count
    )
    named_here = inside | over
    return Fit(
        thing=named / whole if whole else 1.0,
        own=own_named / own_whole if own_whole else 1.0,
        holds_kind=kind_held,
        names_focus=not question.focus or not question.focus.isdisjoint(named_here),
        names_done=not question.done or question.done in named_here,
        names_bounds=question.bounds <= named_here,
    )


_PART: Final = re.compile(
    r"%|\b(?:per ?cent|percentage|half|third|quarter|all|none|no|nothing|everything)\b", re.IGNORECASE
)
_NUMBERS: Final = listed(
    """
    no one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty hundred thousand
    """
)
_COUNT_REACH: Final = 2


def counts(text: str, noun: Collection[str]) -> bool:
    """Say whether a number stands before the noun, one word between at most: "five members", "200 random accesses"."""
    words = plain_words(text)
    for at, word in enumerate(words):
        if stem(word) in noun:
            before = words[max(0, at - _COUNT_REACH) : at]
            if any(each[0].isdigit() or each in _NUMBERS for each in before):
                return True
    return False
