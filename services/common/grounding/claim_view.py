"""A claim laid beside the passages: its words, its sentences, and which sentences of the context match it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from services.common.grounding.passage_index import PassageIndex, SentenceSet
from services.common.grounding.words import STOP_WORDS, Word, sentences, words

_FEW_WORDS: Final = 6
"""In a claim of so few words a capital letter at the start means a name as well."""


@dataclass(frozen=True, slots=True)
class ClaimSentence:
    """A sentence of the claim and its counterpart.

    Attributes:
        words: all its words.
        content: distinct stems that are no stop words, in order.
        best: number of the context's sentence that holds most of ``content``, by weight; ``None`` without any.
        near: that sentence, its two neighbours, and the sentence that holds most of what it lacks.
        sentence_recall: weight of ``content`` that ``best`` holds, of all; in [0, 1].
        window_recall: weight of ``content`` that ``best`` and its neighbours hold, of all; in [0, 1].
    """

    words: Sequence[Word]
    content: Sequence[str]
    best: int | None
    near: SentenceSet
    sentence_recall: float
    window_recall: float


class ClaimView:
    """What the signals are computed from.

    Args:
        index: the context.
        claim: the text to check.
    """

    def __init__(self, index: PassageIndex, claim: str) -> None:
        self.index = index
        self.text = claim
        self.words = words(claim)
        self.stems = [word.stem for word in self.words]
        self.content = list(dict.fromkeys(stem for stem in self.stems if stem not in STOP_WORDS))
        self.weights = {stem: index.weight(stem) for stem in self.content}
        self.novel = [stem for stem in self.content if stem not in index.postings]

    @cached_property
    def sentences(self) -> list[ClaimSentence]:
        """The claim's sentences that say something; at least one unless the claim holds no word."""
        groups = [[word for word in self.words if start <= word.start < end] for start, end in sentences(self.text)]
        telling = [group for group in groups if any(word.stem not in STOP_WORDS for word in group)]
        return [self._matched(group) for group in telling or ([self.words] if self.words else [])]

    @cached_property
    def near(self) -> SentenceSet:
        """The context's sentences that are near to any sentence of the claim."""
        near = 0
        for sentence in self.sentences:
            near |= sentence.near
        return near

    @cached_property
    def names(self) -> list[str]:
        """Distinct stems of words with a capital letter that does not come from standing first."""
        starts = {sentence.words[0].start for sentence in self.sentences}
        return list(
            dict.fromkeys(
                word.stem
                for word in self.words
                if self.text[word.start].isupper()
                and word.stem not in STOP_WORDS
                and (word.start not in starts or len(self.words) <= _FEW_WORDS)
            )
        )

    def _matched(self, group: Sequence[Word]) -> ClaimSentence:
        content = list(dict.fromkeys(word.stem for word in group if word.stem not in STOP_WORDS))
        total = sum(self.weights[stem] for stem in content)
        scores = self.index.scores((stem, self.weights[stem]) for stem in content)
        if not scores.size or total <= 0.0 or scores.max() <= 0.0:
            return ClaimSentence(group, content, None, 0, 0.0, 0.0)
        best = int(np.argmax(scores))
        window = _around(1 << best)
        lacking = [stem for stem in content if not self.index.holders(stem) >> best & 1]
        second = int(np.argmax(self.index.scores((stem, self.weights[stem]) for stem in lacking))) if lacking else best
        held = sum(self.weights[stem] for stem in content if self.index.holders(stem) & window)
        return ClaimSentence(
            group, content, best, window | 1 << second, min(1.0, float(scores[best]) / total), min(1.0, held / total)
        )


def _around(members: SentenceSet) -> SentenceSet:
    return members | members << 1 | members >> 1
